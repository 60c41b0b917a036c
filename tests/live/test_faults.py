"""Crashes on Ray: nodes that stop, actors that are killed, and what is left of a run."""

from __future__ import annotations

import msgspec
import pytest

from testbed.core.algorithm import Guarantee
from testbed.core.clocks import Clocks
from testbed.core.detection import TimeoutDetection
from testbed.core.distribution import Constant, Uniform
from testbed.core.fault import Crash
from testbed.core.network import Loss
from testbed.engine.plan import Plan
from testbed.trace.audit import audit_run, events_by_node, read_trace
from testbed.trace.events import audit_events
from testbed.trace.oracle import Audit, Verdict
from testbed.trace.rundir import RunDir
from tests.live.conftest import MS, is_alive, plan_of
from workloads.destinations import All

pytestmark = pytest.mark.ray

THIRD = (1, 4, 7)


def events_named(run: RunDir, event: str) -> list[dict[str, object]]:
    columns = ("node", "seq", "time", "event", "origin", "number", "dests", "peer", "reason")
    table = run.table(columns)
    return [row for row in table.to_pylist() if row["event"] == event]


def by_deadline(run: RunDir) -> Audit:
    return audit_events(events_by_node(read_trace(run)), guarantee=Guarantee.DEADLINE)


def mortal(plan: Plan, lifetime: int, **changes: object) -> Plan:
    traffic = msgspec.structs.replace(plan.traffic, lifetime=Constant(lifetime))
    return msgspec.structs.replace(plan, traffic=traffic, **changes)


def test_a_third_of_a_packed_group_crashes_and_the_others_deliver_on(live) -> None:
    crash = Crash(700 * MS, THIRD)
    plan = msgspec.structs.replace(plan_of("bss", n=9, messages=400), faults=(crash,))
    report, run = live(plan, nodes_per_actor=5)
    assert not report.deaths
    crashes = events_named(run, "crash")
    assert sorted(row["node"] for row in crashes) == list(THIRD)
    assert all(700 * MS <= row["time"] < 1_200 * MS for row in crashes)
    last = max(row["time"] for row in crashes)
    delivered_after = {r["node"] for r in events_named(run, "deliver") if r["time"] > last}
    assert delivered_after == set(range(9)) - set(THIRD)
    assert {row["reason"] for row in events_named(run, "drop")} == {"crashed"}
    audit = audit_run(run)
    assert audit.verdict is Verdict.VALID
    assert audit.crashed == 3
    assert audit.unowed > 0 == audit.undelivered


def test_an_actor_killed_without_warning_leaves_a_run_that_ends_and_can_be_judged(live) -> None:
    kill = Crash(900 * MS, (3,), kills=True)
    plan = plan_of("odca", n=6, messages=300, destinations=All(), multicast=1.0, loss=Loss(0.05))
    plan = mortal(
        plan, 300 * MS, faults=(kill,), clocks=Clocks(ahead=Uniform(0, 10 * MS)),
        detector=TimeoutDetection(interval=50 * MS, timeout=300 * MS, linger=800 * MS),
    )  # fmt: skip
    report, run = live(plan, nodes_per_actor=2)
    (killed,) = report.kills
    assert killed.nodes == (2, 3)
    assert killed.time >= 900 * MS
    assert not is_alive(killed.process)
    crashes = events_named(run, "crash")
    assert [(row["node"], row["reason"]) for row in crashes] == [(2, "killed"), (3, "killed")]
    suspects = {(row["node"], row["peer"]) for row in events_named(run, "suspect")}
    assert suspects >= {(node, peer) for node in (0, 1, 4, 5) for peer in (2, 3)}
    late = {r["node"] for r in events_named(run, "deliver") if r["time"] > killed.time}
    assert late == {0, 1, 4, 5}
    audit = by_deadline(run)
    assert (audit.inversions, audit.duplicates, audit.strangers) == (0, 0, 0)
    assert audit.crashed == 2


def test_a_session_goes_on_after_an_actor_was_killed(live) -> None:
    kill = Crash(300 * MS, (0,), kills=True)
    plan = msgspec.structs.replace(plan_of("immediate", messages=100), faults=(kill,))
    report, _ = live(plan, transport="ray")
    assert [one.nodes for one in report.kills] == [(0,)]
    again, _ = live(plan_of("ks", messages=100))
    assert not again.kills
    assert again.totals.messages == 100


def test_clocks_and_deadlines_are_the_same_live_and_in_virtual_time(live, sim) -> None:
    plan = mortal(plan_of("ks"), 400 * MS, clocks=Clocks(ahead=Uniform(0, 10 * MS)))
    _, run = live(plan)
    columns = ("node", "event", "time", "clock", "deadline")
    for one in (run, sim(plan)):
        rows = one.table(columns).to_pylist()
        ahead = [plan.clocks.of(node, plan.seed) for node in range(plan.n)]
        assert all(row["clock"] == ahead[row["node"]].show(row["time"]) for row in rows)
        sends = [row for row in rows if row["event"] == "send"]
        assert sends
        assert all(row["deadline"] == row["clock"] + 400 * MS for row in sends)
