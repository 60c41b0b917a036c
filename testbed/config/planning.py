"""From an experiment to plans, one per algorithm; what cannot work is refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from testbed.algorithms import find, parameters
from testbed.config.deadlines import check_deadlines, clocks_of, lifetimes
from testbed.config.distributions import built
from testbed.config.experiment import Experiment
from testbed.config.faults import detection_of, faults_of
from testbed.config.network import network_spec
from testbed.config.roaming import air_patience, check_roles, crowding, roam_of
from testbed.config.workload import multicast_share, payload_most, traffic
from testbed.core.algorithm import Algorithm
from testbed.core.distribution import Distribution
from testbed.core.errors import BadInput
from testbed.core.fault import Fault
from testbed.core.model import Nanos
from testbed.core.network import Fifo, NetworkSpec
from testbed.engine.plan import Plan, Roam
from workloads.hosts import HostTraffic
from workloads.traffic import Stop, Traffic

RETRY_FLOOR: Nanos = 1_000_000


class Planned(NamedTuple):
    """A plan, and what its user should know before believing its results."""

    plan: Plan
    warnings: list[str]


def plans(experiment: Experiment, source: Path) -> list[Planned]:
    """One plan per algorithm, in the order of the file."""
    network = network_spec(experiment.network, source)
    roam = roam_of(experiment, source)
    lifetime = lifetimes(experiment.deadline, source)
    sends = _sends(experiment, roam, lifetime, source)
    clocks = clocks_of(experiment.clocks, source)
    faults = _faults(experiment, source)
    _check_room(experiment, source)
    stop = Stop(experiment.stop.messages, experiment.stop.duration)
    planned: list[Planned] = []
    crowds: list[str] = []
    for name in experiment.algorithm:
        try:
            algorithm = find(name)
            parameters(name)
        except BadInput as error:
            raise BadInput(f"{source}: algorithm: {error}") from error
        check_roles(algorithm, experiment, source)
        _check(algorithm, experiment, network, source)
        retry_after, warnings = _reliability(algorithm, experiment, network, roam)
        warnings += check_deadlines(algorithm, lifetime, clocks, experiment.stop.duration, source)
        slowest = round(max(spec.latency.mean_ns for spec in network.specs()))
        plan = Plan(
            algorithm=name,
            n=experiment.nodes,
            seed=experiment.seed,
            network=network,
            traffic=sends,
            stop=stop,
            warmup=experiment.stop.warmup,
            retry_after=retry_after,
            roam=roam,
            clocks=clocks,
            faults=faults,
            buffer_bytes=experiment.network.buffer,
            detector=detection_of(
                experiment.detector, wanted=algorithm.uses_detector, slowest=slowest
            ),
        )
        if not planned:
            crowds = crowding(plan, experiment)
        planned.append(Planned(plan, warnings + crowds))
    return planned


def _faults(experiment: Experiment, source: Path) -> tuple[Fault, ...]:
    packed = experiment.placement.nodes_per_actor
    per_actor = 1 if packed == "auto" else packed
    return faults_of(experiment.faults, experiment.nodes, experiment.seed, per_actor, source)


def _check_room(experiment: Experiment, source: Path) -> None:
    """What a node keeps, and what only processes have."""
    room, largest = experiment.network.buffer, payload_most(experiment.workload)
    if room is not None and room < largest:
        raise BadInput(
            f"{source}: network.buffer: got {room}B, but a message may have {largest}B: "
            "it takes a buffer for at least one message"
        )
    if experiment.topology is None:
        return
    for key, given in (("detector", experiment.detector), ("network.lan", experiment.network.lan)):
        if given is not None:
            raise BadInput(f"{source}: {key}: it is for processes; remove it, or the topology")


def _sends(
    experiment: Experiment, roam: Roam | None, lifetime: Distribution | None, source: Path
) -> Traffic | HostTraffic:
    """Without a topology every node sends; with one the hosts, and stations if asked for."""
    everyone = traffic(experiment.workload, source, lifetime)
    if roam is None:
        return everyone
    interval = experiment.workload.stations
    from_stations = None
    if interval is not None:
        from_stations = msgspec.structs.replace(everyone, interval=built(interval, source))
    return HostTraffic(world=roam.world, among_hosts=everyone, from_stations=from_stations)


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
    algorithm: Algorithm, experiment: Experiment, network: NetworkSpec, roam: Roam | None
) -> tuple[Nanos | None, list[str]]:
    """Whether a reliable link goes under the algorithm, its patience, and what to warn of."""
    by_air = air_patience(algorithm, roam)
    faulty = by_air is not None or any(s.loses or s.duplicate for s in network.specs())
    wish = experiment.network.reliable
    if wish is True or (wish == "auto" and faulty and algorithm.needs_reliable):
        return _patience(experiment, network, by_air), []
    if faulty and algorithm.needs_reliable:
        return None, [
            f"{algorithm.name} assumes reliable channels, but the network loses or duplicates and "
            "network.reliable is false: messages will be missing or delivered twice"
        ]
    return None, []


def _patience(experiment: Experiment, network: NetworkSpec, by_air: Nanos | None) -> Nanos:
    """Two round trips of the slowest kind of link, unless the experiment says otherwise."""
    if experiment.network.retry is not None:
        return experiment.network.retry
    if by_air is not None:
        return max(RETRY_FLOOR, by_air)
    slowest = max(spec.latency.mean_ns for spec in network.specs())
    return max(RETRY_FLOOR, int(4 * slowest))
