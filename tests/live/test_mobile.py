"""Live runs of mobile systems: hosts move, by the wall's clock, while messages are in flight."""

from __future__ import annotations

import pytest

from testbed.core.distribution import Constant, Exponential
from testbed.core.network import Fifo, LinkSpec, NetworkSpec
from testbed.core.world import World
from testbed.engine.plan import Plan, Roam
from testbed.trace.audit import audit_run
from testbed.trace.oracle import Verdict
from tests.live.conftest import MS, deliveries
from workloads import destinations
from workloads.hosts import HostTraffic
from workloads.mobility.cells import CellChanges
from workloads.mobility.disconnections import Disconnections
from workloads.mobility.groups import Group, Groups
from workloads.mobility.walk import Beacons, Walking
from workloads.mobility.waypoint import RandomWaypoint
from workloads.traffic import Stop, Traffic

pytestmark = pytest.mark.ray

SEED = 7


def plan_of(
    algorithm: str,
    *,
    stations: int = 4,
    hosts: int = 12,
    messages: int = 300,
    interval: int = 200 * MS,
    stay: int = 600 * MS,
    keeps: bool = True,
    jumpers: int | None = None,
) -> Plan:
    """Some hosts jump and disconnect, the others walk; the wires are slow enough for disorder."""
    world = World(stations, hosts, columns=2, cell_metres=50.0)
    jumpers = hosts // 2 if jumpers is None else jumpers
    jumps = CellChanges(
        seed=SEED,
        world=world,
        stay=Exponential(stay),
        gap=Exponential(20 * MS),
        disconnections=Disconnections(0.2, Exponential(300 * MS)),
    )
    walks = Walking(
        seed=SEED,
        world=world,
        walk=RandomWaypoint(
            seed=SEED, width=world.width, height=world.height, slow=30, fast=60, pause=Constant(0)
        ),
        beacons=Beacons(SEED, 100 * MS),
    )
    groups = (
        Group(stations, jumpers, jumps),
        Group(stations + jumpers, hosts - jumpers, walks),
    )
    return Plan(
        algorithm=algorithm,
        n=world.n,
        seed=SEED,
        network=NetworkSpec(LinkSpec(latency=Exponential(60 * MS), bits_per_second=1e8)),
        traffic=HostTraffic(
            world=world,
            among_hosts=Traffic(
                interval=Exponential(interval),
                destinations=destinations.Uniform(high=4),
                multicast=0.5,
                payload_low=32,
                payload_high=64,
            ),
        ),
        stop=Stop(messages=messages),
        roam=Roam(
            world=world,
            mobility=Groups(20 * MS, groups),
            wireless=LinkSpec(latency=Constant(MS // 2), bits_per_second=1e6, fifo=Fifo.ON),
            keeps=keeps,
        ),
    )


def counts(run) -> dict[str, int]:
    events = run.table(("event",)).column("event").to_pylist()
    return {event: events.count(event) for event in set(events)}


@pytest.mark.parametrize("algorithm", ["av1", "prs-mobile"])
def test_four_stations_and_twelve_hosts_each_in_an_actor_of_its_own_are_valid(live, sim, algorithm):
    plan = plan_of(algorithm)

    report, run = live(plan)

    assert report.actors == 16
    assert audit_run(run).verdict is Verdict.VALID
    assert deliveries(run) == deliveries(sim(plan))
    assert report.totals.held == 0


def test_every_planned_move_happens_live_and_late_frames_of_a_stay_are_dropped(live):
    plan = plan_of("av1", messages=400, stay=150 * MS, jumpers=12)
    stays = plan.itineraries(plan.last_send()).values()
    departures = [stay.disconnects for host in stays for stay in host[:-1]]

    _, run = live(plan, nodes_per_actor=4)

    found = counts(run)
    assert found["leave"] == departures.count(False)
    assert found["disconnect"] == found["connect"] == departures.count(True)
    assert found["enter"] == found["leave"]
    assert found["handoff_begin"] >= found["handoff_end"] > 100  # some move on before it is over
    assert found["drop"] > 0  # in the air when its host left
    assert audit_run(run).verdict is Verdict.VALID


def test_what_is_dropped_for_disconnected_hosts_is_waived_and_nothing_else_missing(live):
    plan = plan_of("av1", keeps=False, stay=200 * MS, jumpers=12)

    _, run = live(plan, nodes_per_actor=4)

    audit = audit_run(run)
    assert audit.verdict is Verdict.VALID
    assert audit.waived > 0
    assert audit.undelivered == 0


def test_badrinath_live_delivers_exactly_once_and_out_of_order(live, sim):
    plan = plan_of("badrinath", messages=500, interval=60 * MS)

    _, run = live(plan, nodes_per_actor=4)

    audit = audit_run(run)
    assert audit.inversions > 0
    assert audit.duplicates == audit.undelivered == 0
    assert deliveries(run) == deliveries(sim(plan))


def test_twenty_stations_and_two_hundred_hosts_packed_are_valid(live, sim):
    plan = plan_of("av1", stations=20, hosts=200, messages=600, interval=1000 * MS, stay=2000 * MS)

    report, run = live(plan, nodes_per_actor=55)

    assert report.actors == 4
    assert audit_run(run).verdict is Verdict.VALID
    assert deliveries(run) == deliveries(sim(plan))
