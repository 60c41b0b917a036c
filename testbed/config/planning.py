"""From an experiment to plans, one per algorithm; what cannot work is refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from testbed.algorithms import find
from testbed.config import experiment as given
from testbed.config.experiment import Experiment
from testbed.config.quantities import duration
from testbed.core import distribution
from testbed.core.algorithm import Algorithm
from testbed.core.distribution import Distribution
from testbed.core.errors import BadInput
from testbed.core.model import Nanos
from testbed.core.network import BurstLoss, Fifo, LinkSpec, Loss, NetworkSpec, Override
from testbed.engine.plan import Plan
from workloads import destinations
from workloads.traffic import Stop, Traffic

RETRY_FLOOR: Nanos = 1_000_000


class Planned(NamedTuple):
    """A plan, and what its user should know before believing its results."""

    plan: Plan
    warnings: list[str]


def plans(experiment: Experiment, source: Path) -> list[Planned]:
    """One plan per algorithm, in the order of the file."""
    network = _network(experiment, source)
    traffic = _traffic(experiment, source)
    stop = Stop(experiment.stop.messages, experiment.stop.duration)
    planned = []
    for name in experiment.algorithm:
        try:
            algorithm = find(name)
        except BadInput as error:
            raise BadInput(f"{source}: algorithm: {error}") from error
        _check(algorithm, experiment, network, source)
        retry_after, warnings = _reliability(algorithm, experiment, network)
        plan = Plan(
            algorithm=name,
            n=experiment.nodes,
            seed=experiment.seed,
            network=network,
            traffic=traffic,
            stop=stop,
            warmup=experiment.stop.warmup,
            retry_after=retry_after,
        )
        planned.append(Planned(plan, warnings))
    return planned


def _check(
    algorithm: Algorithm, experiment: Experiment, network: NetworkSpec, source: Path
) -> None:
    workload, kind = experiment.workload, experiment.workload.destinations.kind
    multicast = _multicast(experiment)
    if algorithm.broadcast_only and (kind != "all" or multicast < 1):
        raise BadInput(
            f"{source}: workload.destinations: got {kind} with multicast {multicast:g}, but "
            f"{algorithm.name} only broadcasts: set destinations to {{kind: all}} and multicast "
            "to 1, or choose another algorithm"
        )
    itself = getattr(workload.destinations, "itself", False)
    if itself and algorithm.refuses_self:
        raise BadInput(
            f"{source}: workload.destinations.itself: got true, but {algorithm.name} refuses a "
            f"message to its own sender: {algorithm.refuses_self}"
        )
    if algorithm.needs_fifo and any(spec.fifo is Fifo.OFF for spec in network.specs()):
        raise BadInput(
            f"{source}: network.fifo: got false, but {algorithm.name} needs FIFO channels: "
            "set it to true"
        )
    for link in experiment.network.links:
        for node in (*(link.source or ()), *(link.target or ())):
            if node >= experiment.nodes:
                raise BadInput(
                    f"{source}: network.links: got node {node}, takes 0 to {experiment.nodes - 1}"
                )


def _reliability(
    algorithm: Algorithm, experiment: Experiment, network: NetworkSpec
) -> tuple[Nanos | None, list[str]]:
    """Whether a reliable link goes under the algorithm, its patience, and what to warn of."""
    faulty = any(spec.loses or spec.duplicate for spec in network.specs())
    wish = experiment.network.reliable
    if wish is True or (wish == "auto" and faulty and algorithm.needs_reliable):
        return _patience(experiment, network), []
    if faulty and algorithm.needs_reliable:
        return None, [
            f"{algorithm.name} assumes reliable channels, but the network loses or duplicates and "
            "network.reliable is false: messages will be missing or delivered twice"
        ]
    return None, []


def _patience(experiment: Experiment, network: NetworkSpec) -> Nanos:
    """Two round trips of the slowest kind of link, unless the experiment says otherwise."""
    if experiment.network.retry is not None:
        return experiment.network.retry
    slowest = max(spec.latency.mean_ns for spec in network.specs())
    return max(RETRY_FLOOR, int(4 * slowest))


def _multicast(experiment: Experiment) -> float:
    """All messages are multicasts unless the experiment says how many."""
    return 1.0 if experiment.workload.multicast is None else experiment.workload.multicast


def _traffic(experiment: Experiment, source: Path) -> Traffic:
    workload = experiment.workload
    payload = workload.payload
    low, high = (payload, payload) if isinstance(payload, int) else (payload.low, payload.high)
    chosen: destinations.Destinations
    match workload.destinations:
        case given.UniformDestinations(low=least, high=most, itself=itself):
            chosen = destinations.Uniform(least, most, itself)
        case given.AllDestinations(itself=itself):
            chosen = destinations.All(itself)
        case given.SelectiveDestinations(same=same, low=least, high=most):
            chosen = destinations.Selective(same, least, most)
    return Traffic(
        interval=_distribution(workload.interval, source),
        destinations=chosen,
        multicast=_multicast(experiment),
        payload_low=low,
        payload_high=high,
        rates=tuple(workload.rates),
    )


def _network(experiment: Experiment, source: Path) -> NetworkSpec:
    network = experiment.network
    default = LinkSpec(
        latency=_distribution(network.latency, source),
        loss=_loss(network.loss),
        duplicate=network.duplicate,
        bits_per_second=network.bandwidth,
        fifo=_fifo(network.fifo),
    )
    overrides = []
    for link in network.links:
        spec = LinkSpec(
            latency=default.latency
            if link.latency is None
            else _distribution(link.latency, source),
            loss=default.loss if link.loss is None else _loss(link.loss),
            duplicate=default.duplicate if link.duplicate is None else link.duplicate,
            bits_per_second=link.bandwidth or default.bits_per_second,
            fifo=default.fifo if link.fifo is None else _fifo(link.fifo),
        )
        sources = None if link.source is None else tuple(link.source)
        targets = None if link.target is None else tuple(link.target)
        overrides.append(Override(sources, targets, spec))
    return NetworkSpec(default, tuple(overrides))


def _loss(loss: given.IndependentLossModel | given.BurstLossModel) -> Loss | BurstLoss:
    if isinstance(loss, given.IndependentLossModel):
        return Loss(loss.rate)
    return BurstLoss(loss.to_bad, loss.to_good, loss.loss_good, loss.loss_bad)


def _fifo(fifo: bool | str) -> Fifo:
    return Fifo.GK if fifo == "gk" else Fifo.ON if fifo else Fifo.OFF


def _distribution(model: given.DistributionModel, source: Path) -> Distribution:
    match model:
        case given.ConstantModel(value=value):
            return distribution.Constant(value)
        case given.UniformModel(low=low, high=high):
            return distribution.Uniform(low, high)
        case given.ExponentialModel(mean=mean):
            return distribution.Exponential(mean)
        case given.NormalModel(mean=mean, deviation=deviation):
            return distribution.Normal(mean, deviation)
        case given.LogNormalModel(median=median, sigma=sigma):
            return distribution.LogNormal(median, sigma)
        case given.TraceModel(values=list() as values):
            return distribution.Empirical(tuple(values))
    return distribution.Empirical(_delay_file(source.parent / str(model.file), source))


def _delay_file(file: Path, source: Path) -> tuple[Nanos, ...]:
    """One duration with its unit per line; blank lines and # comments are passed over."""
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{source}: delay file {file} cannot be read: {error}") from error
    values = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            values.append(duration(text))
        except ValueError as error:
            raise BadInput(f"{file}, line {number}: got {text!r}, {error}") from error
    if not values:
        raise BadInput(f"{file}: holds no value; it takes one duration per line, such as 12.5ms")
    return tuple(values)
