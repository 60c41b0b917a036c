"""What makes a plan mobile: its world, its air, its hosts' ways, and what does not go together."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from testbed.algorithms import algorithms
from testbed.config.experiment import Experiment
from testbed.config.mobility import MobilityModel, groups_of
from testbed.config.moves import StillMoves
from testbed.config.topology import wireless_spec, world_of
from testbed.core.algorithm import Algorithm
from testbed.core.errors import BadInput
from testbed.core.model import Nanos, Role
from testbed.engine.plan import Plan, Roam

RETRY_FRAME_BITS = 1500 * 8
"""A frame of the usual size: whoever waits for its acknowledgement waits for its bits, too."""


def roam_of(experiment: Experiment, source: Path) -> Roam | None:
    """The mobile part of the plans; None without a topology."""
    topology = experiment.topology
    if topology is None:
        if experiment.mobility is not None:
            raise BadInput(f"{source}: mobility: there is nobody to move; it takes a topology")
        if experiment.workload.stations is not None:
            raise BadInput(f"{source}: workload.stations: there are none; it takes a topology")
        return None
    world = world_of(topology)
    if experiment.nodes != world.n:
        raise BadInput(
            f"{source}: nodes: got {experiment.nodes}, takes {world.n}, which is the "
            f"{world.stations} stations and {world.hosts} hosts of topology; it may be left out"
        )
    mobility = experiment.mobility or MobilityModel(groups=[StillMoves(kind="still")])
    return Roam(
        world=world,
        mobility=groups_of(mobility, world, experiment.seed, source),
        wireless=wireless_spec(topology.wireless, source),
        keeps=mobility.disconnected == "keep",
    )


def check_roles(algorithm: Algorithm, experiment: Experiment, source: Path) -> None:
    """A mobile algorithm needs a topology, any other needs that there is none."""
    is_mobile = experiment.topology is not None
    if algorithm.is_mobile != is_mobile:
        fitting = ", ".join(a.name for a in algorithms().values() if a.is_mobile == is_mobile)
        reason = (
            "runs on processes that stay where they are, but there is a topology: remove it"
            if is_mobile
            else "runs on stations and hosts: add a topology"
        )
        raise BadInput(
            f"{source}: algorithm: {algorithm.name} {reason}, or choose one of {fitting}"
        )
    if experiment.workload.stations is not None and not algorithm.stations_send:
        raise BadInput(
            f"{source}: workload.stations: got a sending interval, but {algorithm.name} takes "
            "messages from hosts only: remove the key, or choose another algorithm"
        )


def air_patience(algorithm: Algorithm, roam: Roam | None) -> Nanos | None:
    """How long hosts that have no station to help them wait for an acknowledgement by air.

    A frame that is in the air when its host moves is lost, so the air under them is never reliable.
    """
    if roam is None or Role.STATION in algorithm.roles:
        return None
    rate = roam.wireless.bits_per_second
    frame = 0.0 if rate is None else RETRY_FRAME_BITS * 1e9 / rate
    return int(4 * (roam.wireless.latency.mean_ns + frame))


def crowding(plan: Plan, experiment: Experiment) -> list[str]:
    """What to warn of if hosts crowd in a cell; models move each host without a look at others."""
    topology = experiment.topology
    if topology is None or topology.capacity is None:
        return []
    stays = [stay for stays in plan.itineraries(plan.last_send()).values() for stay in stays]
    changes = [(stay.start, 1, stay.station) for stay in stays]
    changes += [(stay.end, -1, stay.station) for stay in stays]
    hosts, most, where = Counter[int](), 0, (0, 0)
    for time, change, station in sorted(changes):
        hosts[station] += change
        if hosts[station] > most:
            most, where = hosts[station], (station, time)
    if most <= topology.capacity:
        return []
    return [
        f"station {where[0]} has {most} hosts in its cell at {where[1] / 1e9:.3f} s, more than "
        f"topology.capacity ({topology.capacity}): nothing keeps them out"
    ]
