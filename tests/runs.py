"""Small runs in virtual time, with their rows kept in memory."""

from __future__ import annotations

from typing import Any, NamedTuple

from testbed.algorithms import find
from testbed.core.distribution import Distribution, Exponential
from testbed.core.network import Fifo, LinkSpec, NetworkSpec
from testbed.engine.plan import Plan
from testbed.engine.virtual import Totals, VirtualEngine
from testbed.trace.oracle import Audit
from tests.scene import Rows
from workloads.destinations import All, Destinations, Uniform
from workloads.traffic import Stop, Traffic

MS = 1_000_000


class Outcome(NamedTuple):
    rows: Rows
    totals: Totals
    engine: VirtualEngine

    @property
    def audit(self) -> Audit:
        return self.rows.audit()


def network(latency: Distribution | None = None, **link: Any) -> NetworkSpec:
    """One kind of link everywhere: exponential with a mean of 50 ms unless told otherwise."""
    return NetworkSpec(LinkSpec(latency=latency or Exponential(50 * MS), **link))


def plan(
    name: str,
    *,
    n: int = 5,
    seed: int = 1,
    messages: int = 120,
    multicast: float = 0.5,
    itself: bool = False,
    fifo: Fifo = Fifo.OFF,
    retry_after: int | None = None,
    destinations: Destinations | None = None,
    **link: Any,
) -> Plan:
    """Everybody sends every 20 ms on average; broadcasts only, where the algorithm asks for it."""
    if find(name).broadcast_only:
        destinations, multicast = All(itself=itself), 1.0
    return Plan(
        algorithm=name,
        n=n,
        seed=seed,
        network=network(fifo=fifo, **link),
        traffic=Traffic(
            interval=Exponential(20 * MS),
            destinations=destinations or Uniform(itself=itself),
            multicast=multicast,
            payload_low=0,
            payload_high=40,
        ),
        stop=Stop(messages=messages),
        retry_after=retry_after,
    )


def run(made: Plan) -> Outcome:
    rows = Rows()
    engine = VirtualEngine(made, rows)
    return Outcome(rows, engine.run(), engine)


def first_difference(one: Rows, other: Rows) -> str | None:
    """The first row in which two traces differ, or None."""
    left = [(row, one.dests.get(i)) for i, row in enumerate(one.rows)]
    right = [(row, other.dests.get(i)) for i, row in enumerate(other.rows)]
    for at, (mine, theirs) in enumerate(zip(left, right, strict=False)):
        if mine != theirs:
            return f"row {at}: {mine} against {theirs}"
    if len(left) != len(right):
        return f"row {min(len(left), len(right))}: only one trace has it"
    return None
