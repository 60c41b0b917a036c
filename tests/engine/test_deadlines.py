"""Lifetimes, own clocks and crashes in virtual time: what the shell does for every algorithm."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from testbed.algorithms import find
from testbed.core.algorithm import Guarantee
from testbed.core.clocks import Clocks
from testbed.core.distribution import Constant, Exponential, Uniform
from testbed.core.fault import Crash
from testbed.core.model import NodeId, Role
from testbed.core.network import Loss
from testbed.core.node import Timer, Turn, View
from testbed.engine.plan import Plan
from testbed.engine.virtual import VirtualEngine
from testbed.trace.oracle import Verdict
from testbed.trace.schema import REASONS, Event
from tests.runs import MS, first_difference, plan, run

CRASHED = REASONS.index("crashed")


def with_lifetime(made: Plan, lifetime: Any, **changes: Any) -> Plan:
    traffic = msgspec.structs.replace(made.traffic, lifetime=lifetime)
    return msgspec.structs.replace(made, traffic=traffic, **changes)


def test_a_deadline_is_the_senders_own_clock_and_the_lifetime() -> None:
    clocks = Clocks(ahead=Uniform(0, 10 * MS), drift_ppb=50_000)
    rows = run(with_lifetime(plan("immediate"), Constant(500 * MS), clocks=clocks)).rows
    sends = rows.named(Event.SEND)
    assert all(row["deadline"] == row["clock"] + 500 * MS for row in sends)
    assert all(row["clock"] == clocks.of(row["node"], 1).show(row["time"]) for row in rows.named())
    assert any(row["clock"] != row["time"] for row in sends)


def test_lifetimes_do_not_change_what_is_sent_or_how_it_travels() -> None:
    plain = run(plan("immediate")).rows.named(Event.RECEIVE)
    mortal = run(with_lifetime(plan("immediate"), Exponential(500 * MS))).rows.named(Event.RECEIVE)
    fields = ("time", "node", "origin", "number", "payload_bytes")
    assert [[row[f] for f in fields] for row in plain] == [
        [row[f] for f in fields] for row in mortal
    ]
    assert len({row["deadline"] for row in mortal}) == 120


def test_clocks_that_agree_show_the_time_of_the_run() -> None:
    rows = run(plan("bss")).rows.named()
    assert all(row["clock"] == row["time"] for row in rows)


def test_a_crashed_node_does_nothing_more_and_forgets() -> None:
    made = msgspec.structs.replace(plan("bss"), faults=(Crash(200 * MS, (1, 3)),))
    outcome = run(made)
    rows = outcome.rows.named()
    crashes = [(row["node"], row["time"]) for row in rows if row["event"] == Event.CRASH]
    assert crashes == [(1, 200 * MS), (3, 200 * MS)]
    after = [row for row in rows if row["node"] in (1, 3) and row["time"] > 200 * MS]
    assert after
    assert all(row["event"] == Event.DROP and row["reason"] == CRASHED for row in after)
    assert all(row["pending"] == 0 == row["state_ints"] for row in after)
    assert outcome.totals.messages < 120


def test_nothing_is_owed_to_or_by_the_crashed_but_order_is_judged() -> None:
    faults = (Crash(200 * MS, (1, 3)),)
    audit = run(msgspec.structs.replace(plan("bss"), faults=faults)).audit
    assert audit.verdict is Verdict.VALID
    assert audit.crashed == 2
    assert audit.unowed > 0 == audit.undelivered
    disorder = run(msgspec.structs.replace(plan("immediate"), faults=faults)).audit
    assert disorder.inversions > 0


def test_what_a_crash_took_with_it_blocks_those_who_wait_for_it() -> None:
    made = plan("bss", loss=Loss(0.2), retry_after=100 * MS)
    audit = run(msgspec.structs.replace(made, faults=(Crash(300 * MS, (1, 4)),))).audit
    assert audit.verdict is Verdict.INVALID
    assert audit.undelivered > 0
    assert "arrived, but was never delivered" in audit.why


def test_a_reliable_link_ends_although_its_peer_is_gone() -> None:
    made = plan("fifo", loss=Loss(0.2), retry_after=100 * MS)
    outcome = run(msgspec.structs.replace(made, faults=(Crash(300 * MS, (0,)),)))
    again = [row["time"] for row in outcome.rows.named(Event.RETRANSMIT) if row["peer"] == 0]
    assert max(again) <= 400 * MS
    assert all(shell.unacknowledged() == 0 for shell in outcome.engine.shells.values())


def test_a_run_with_crashes_and_clocks_is_the_same_twice() -> None:
    made = with_lifetime(
        plan("bss"), Exponential(300 * MS), faults=(Crash(250 * MS, (2,)),),
        clocks=Clocks(ahead=Uniform(0, 10 * MS)),
    )  # fmt: skip
    assert first_difference(run(made).rows, run(made).rows) is None


def test_plain_bss_with_deadlines_delivers_late_and_the_audit_says_when() -> None:
    rows = run(with_lifetime(plan("bss"), Constant(60 * MS))).rows
    late = [row for row in rows.named(Event.DELIVER) if row["clock"] > row["deadline"]]
    assert rows.audit().verdict is Verdict.VALID
    judged = rows.audit(guarantee=Guarantee.DEADLINE)
    assert judged.verdict is Verdict.INVALID
    assert judged.expired == len(late) > 0
    assert "after its deadline" in judged.why


def test_a_copy_that_the_buffer_cannot_take_is_dropped_and_the_buffer_holds() -> None:
    made = with_lifetime(plan("tdca", loss=Loss(0.2)), Constant(400 * MS), buffer_bytes=100)
    rows = run(made).rows
    refused = [r for r in rows.named(Event.DROP) if r["reason"] == REASONS.index("no_room")]
    assert refused
    assert all(row["peer"] == row["origin"] for row in refused)
    kept = [row["buffer_bytes"] for row in rows.named()]
    assert 60 < max(kept) <= 100
    assert rows.audit(guarantee=Guarantee.DEADLINE).verdict is Verdict.VALID
    roomy = run(msgspec.structs.replace(made, buffer_bytes=None)).rows
    assert max(row["buffer_bytes"] for row in roomy.named()) > 100


@pytest.mark.parametrize("drift", [-200_000_000, 200_000_000])
def test_a_timer_fires_when_the_nodes_own_clock_shows_it(drift: int) -> None:
    fired: list[tuple[NodeId, int]] = []
    base: Any = find("immediate").roles[Role.PROCESS]

    class Alarmed(base):  # type: ignore[misc]
        def on_started(self, turn: Turn) -> None:
            turn.set_timer("alarm", turn.now + 70 * MS)

        def on_timer(self, timer: Timer, turn: Turn) -> None:
            fired.append((self.me, turn.now))

    clocks = Clocks(ahead=Uniform(0, 10 * MS), drift_ppb=drift)
    engine = VirtualEngine(msgspec.structs.replace(plan("immediate"), clocks=clocks), None)
    for me, shell in engine.shells.items():
        shell.node = Alarmed(View(me, tuple(range(5))))
    engine.run()
    assert sorted(node for node, _ in fired) == [0, 1, 2, 3, 4]
    for node, shown in fired:
        assert clocks.of(node, 1).show(0) + 70 * MS <= shown
        assert shown <= clocks.of(node, 1).show(0) + 70 * MS + 1
