"""The audit in plain Python: deliveries per second and core.

The events of one run are made beforehand and are in memory: one send per message, one receive and
one deliver per copy. What is timed is `audit_events`, which works out an order between the nodes
and asks the oracle. Sizes take turns, the median repetition counts, and seconds are processor time.
"""

from __future__ import annotations

import json
import statistics
import time
from typing import Any

from testbed.core.distribution import Exponential
from testbed.core.model import NodeId
from testbed.core.network import LinkSpec, NetworkSpec
from testbed.engine.plan import Plan
from testbed.engine.virtual import VirtualEngine
from testbed.trace.events import TraceEvent, audit_events
from testbed.trace.oracle import Verdict
from testbed.trace.schema import Event
from workloads.destinations import Uniform
from workloads.traffic import Stop, Traffic

NODES = (4, 16, 64)
MESSAGES = 2_000
ROUNDS = 9
GOALS = {16: 100_000.0}

Events = dict[NodeId, list[TraceEvent]]


class EventList:
    """A sink that keeps what an audit reads."""

    def __init__(self) -> None:
        self.events: Events = {}
        self._dests: tuple[NodeId, ...] = ()

    def destinations(self, dests: tuple[NodeId, ...]) -> None:
        self._dests = dests

    def row(self, *fields: int) -> None:
        node, _, _, at, event, origin, number = fields[:7]
        if event in (Event.SEND, Event.RECEIVE, Event.DELIVER):
            dests = self._dests if event == Event.SEND else ()
            mine = self.events.setdefault(node, [])
            mine.append(TraceEvent(Event(event), (origin, number), dests, at))


def events_of_a_run(n: int) -> Events:
    """Multicasts of all sizes by `rst`, under latencies that put them out of order."""
    plan = Plan(
        algorithm="rst",
        n=n,
        seed=1,
        network=NetworkSpec(LinkSpec(latency=Exponential(500_000_000))),
        traffic=Traffic(
            interval=Exponential(100_000_000), destinations=Uniform(), multicast=0.3,
            payload_low=0, payload_high=0,
        ),
        stop=Stop(messages=MESSAGES),
    )  # fmt: skip
    sink = EventList()
    VirtualEngine(plan, sink).run()
    return sink.events


def measure() -> dict[str, Any]:
    runs = {n: events_of_a_run(n) for n in NODES}
    seconds: dict[int, list[float]] = {n: [] for n in NODES}
    deliveries = {}
    for _ in range(ROUNDS):
        for n, events in runs.items():
            used = time.process_time()
            audit = audit_events(events)
            seconds[n].append(time.process_time() - used)
            assert audit.verdict is Verdict.VALID, audit.why
            deliveries[n] = audit.delivered
    rates = {n: deliveries[n] / statistics.median(seconds[n]) for n in NODES}
    return {
        "deliveries": deliveries,
        "deliveries_per_second": rates,
        "goals": GOALS,
        "times_goal": {n: rates[n] / goal for n, goal in GOALS.items()},
    }


def table(result: dict[str, Any]) -> str:
    lines = [f"{'nodes':>6}{'deliveries':>12}{'deliveries/s/core':>19}{'goal':>10}"]
    for n, rate in result["deliveries_per_second"].items():
        goal = f"{GOALS[n]:>10,.0f}" if n in GOALS else ""
        lines.append(f"{n:>6}{result['deliveries'][n]:>12,}{rate:>19,.0f}{goal}")
    return "\n".join(lines)


if __name__ == "__main__":
    outcome = measure()
    print(table(outcome))
    print(json.dumps(outcome, indent=2))
