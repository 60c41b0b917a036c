"""From an experiment to plans, one per algorithm; what cannot work is refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from testbed.algorithms import find
from testbed.config.experiment import Experiment
from testbed.config.network import network_spec
from testbed.config.workload import multicast_share, traffic
from testbed.core.algorithm import Algorithm
from testbed.core.errors import BadInput
from testbed.core.model import Nanos
from testbed.core.network import Fifo, NetworkSpec
from testbed.engine.plan import Plan
from workloads.traffic import Stop

RETRY_FLOOR: Nanos = 1_000_000


class Planned(NamedTuple):
    """A plan, and what its user should know before believing its results."""

    plan: Plan
    warnings: list[str]


def plans(experiment: Experiment, source: Path) -> list[Planned]:
    """One plan per algorithm, in the order of the file."""
    network = network_spec(experiment.network, source)
    sends = traffic(experiment.workload, source)
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
            traffic=sends,
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
    multicast = multicast_share(workload)
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
