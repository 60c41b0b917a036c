"""Hosts that order by themselves over stations that relay: moves, drops, what the air carries."""

from __future__ import annotations

import pytest

from testbed.core.model import Submission
from testbed.core.world import FOREVER, Stay, World
from testbed.trace.oracle import Verdict
from testbed.trace.schema import Event
from tests.roaming import judged, scripted, stays, wandering
from tests.runs import MS, Outcome, run

RELAYED = ("host-rst", "host-prs-relayed")
WORLD = World(stations=3, hosts=3)
A, B, C = WORLD.host_ids
HOME = {B: stays(then=1), C: stays(then=2)}
"""Each host in a cell of its own; A is at station 0."""


def sends(*given: tuple[int, int, tuple[int, ...]]) -> list[Submission]:
    """(milliseconds, host, destinations)."""
    return [Submission(at * MS, host, dests, 10) for at, host, dests in given]


def deliveries(outcome: Outcome, host: int) -> list[tuple[int, int]]:
    rows = outcome.rows.named(Event.DELIVER)
    return [(row["origin"], row["number"]) for row in rows if row["node"] == host]


@pytest.mark.parametrize("name", RELAYED)
def test_random_schedules_deliver_once_and_in_causal_order(name: str) -> None:
    verdicts = []
    for seed in range(80):
        audit = judged(wandering(name, seed))
        assert [finding.prose for finding in audit.findings] == [], f"seed {seed}"
        verdicts.append(audit.verdict)
    assert verdicts.count(Verdict.VALID) > 74, "nearly all put the algorithm to the test"


@pytest.mark.parametrize("name", RELAYED)
def test_the_host_and_not_its_station_holds_a_message_back(name: str) -> None:
    outcome = scripted(
        name, WORLD, HOME,
        sends((0, A, (C,)), (1, A, (B,)), (20, B, (C,))),
        slow={(0, 2): 60 * MS},
    )  # fmt: skip
    assert deliveries(outcome, C) == [(A, 1), (B, 1)]
    arrived = [
        (row["origin"], row["number"])
        for row in outcome.rows.named(Event.RECEIVE)
        if row["node"] == C and row["origin"] >= 0
    ]
    assert arrived == [(B, 1), (A, 1)], "both crossed the air at once, in the wrong order"
    assert outcome.audit.verdict is Verdict.VALID


@pytest.mark.parametrize("name", RELAYED)
def test_what_reaches_the_old_station_follows_the_host_with_its_control_information(
    name: str,
) -> None:
    """C moves from station 2 to 1 while A's message to it is on the slow wire to 2."""
    outcome = scripted(
        name, World(3, 3), HOME | {C: stays((2, 10 * MS), then=1)},
        sends((0, A, (C,)), (1, A, (B,)), (40, B, (C,))),
        slow={(0, 2): 60 * MS},
    )  # fmt: skip
    assert deliveries(outcome, C) == [(A, 1), (B, 1)]
    forwards = [
        (row["node"], row["peer"])
        for row in outcome.rows.named(Event.FORWARD)
        if (row["origin"], row["number"]) == (A, 1)
    ]
    assert forwards == [(0, 2), (2, 1), (1, C)]
    assert outcome.audit.verdict is Verdict.VALID


@pytest.mark.parametrize("name", RELAYED)
def test_frames_that_the_host_has_not_acknowledged_move_with_it(name: str) -> None:
    """B leaves the moment before the frame to it lands; station 2 sends it again."""
    outcome = scripted(
        name, WORLD, HOME | {B: stays((1, 8_100_000), then=2)}, sends((0, A, (B,)))
    )  # fmt: skip
    lost = [row for row in outcome.rows.named(Event.DROP) if row["peer"] == B]
    assert [(row["node"], row["origin"]) for row in lost] == [(1, A)]
    again = [row["node"] for row in outcome.rows.named(Event.RETRANSMIT)]
    assert again == [2]
    assert deliveries(outcome, B) == [(A, 1)]


def dropped(name: str) -> Outcome:
    """B is off the air while A writes to it; C hears of that, and writes to B when it is back."""
    absent = (Stay(1, 0, 10 * MS, disconnects=True), Stay(1, 100 * MS, FOREVER))
    return scripted(
        name, WORLD, HOME | {B: absent},
        sends((30, A, (B,)), (31, A, (C,)), (120, C, (B,))), keeps=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", RELAYED)
def test_a_dropped_payload_still_takes_its_place_in_the_order(name: str) -> None:
    outcome = dropped(name)
    assert deliveries(outcome, B) == [(C, 1)]
    assert outcome.audit.waived == 1
    assert [finding.prose for finding in outcome.audit.findings] == []
    down = [
        row for row in outcome.rows.named(Event.RECEIVE)
        if row["node"] == B and (row["origin"], row["number"]) == (A, 1)
    ]  # fmt: skip
    assert [row["payload_bytes"] for row in down] == [0]
    assert down[0]["control_ints"] >= 2


def air_ints(outcome: Outcome, world: World) -> int:
    """Integers of control information in all frames that hosts sent or received."""
    rows = outcome.rows.named()
    hosts = world.host_ids
    return sum(
        row["control_ints"]
        for row in rows
        if row["node"] in hosts and row["event"] in (Event.SEND, Event.RECEIVE)
    )


def test_the_matrix_crosses_the_air_both_ways_and_with_av1_neither() -> None:
    moves, given = HOME, sends((0, A, (B, C)))
    carried, spared = (scripted(name, WORLD, moves, given) for name in ("host-rst", "av1"))
    square = WORLD.hosts**2
    up, down = 2 + 2 + square, 2 + square
    acknowledgement = 1
    assert air_ints(carried, WORLD) == up + 2 * down + acknowledgement
    assert air_ints(spared, WORLD) == (2 + 2) + 2 * 1 + acknowledgement


def test_a_host_keeps_the_matrix_that_av1_keeps_for_it() -> None:
    carried, spared = (
        scripted(name, WORLD, HOME, sends((0, A, (B,)))) for name in ("host-rst", "av1")
    )
    square = WORLD.hosts**2
    assert carried.engine.shells[A].node.state_ints() == 4 + square
    assert carried.engine.shells[0].node.state_ints() == 0
    assert spared.engine.shells[A].node.state_ints() == 4
    assert spared.engine.shells[0].node.state_ints() > square


@pytest.mark.parametrize("name", RELAYED)
def test_nothing_is_left_at_hosts_or_stations_when_all_is_quiet(name: str) -> None:
    for seed in range(10):
        outcome = run(wandering(name, seed, messages=40))
        for shell in outcome.engine.shells.values():
            assert shell.held() == 0
            node = shell.node
            if shell.me in range(outcome.engine._plan.stations):
                assert {host for host, _ in node.coming} <= set(node.custody.awaited)
                assert all(
                    c.frames.keys() == c.pend_ack.keys() for c in node.custody.owned.values()
                )
            else:
                assert node.unacknowledged == {}
                assert node.dropped == set()
