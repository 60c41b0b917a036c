"""Virtual time: one heap, one thread, same seed same trace.

Whatever happens next is the smallest (time, ticket) of the heap; tickets count scheduling, so ties
in time are broken by who was scheduled first, and a send of the application comes before anything
else at its time. Nothing here iterates over a set or reads a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Protocol

import msgspec

from testbed.core.errors import EngineError
from testbed.core.model import Nanos, NodeId, Submission
from testbed.core.network import Arrivals, Network
from testbed.core.node import Timer
from testbed.engine.nodes import make_shells
from testbed.engine.plan import Plan
from testbed.engine.shell import Shell
from testbed.trace.recorder import Sink, Witness

STEPS_PER_COPY_MAX = 10_000
"""A run that takes more steps than this per planned copy is not going to end."""


class Wire(Protocol):
    """One link as its sender sees it: when does the next copy arrive?"""

    def send(self, now: Nanos, size: int) -> Arrivals: ...


class Wires(Protocol):
    """What decides the fate of copies: the network model, or a script of it."""

    def link(self, source: NodeId, target: NodeId) -> Wire: ...


class Totals(msgspec.Struct):
    """What a run amounted to, counted by the engine."""

    messages: int = 0
    copies: int = 0
    delivered: int = 0
    held: int = 0
    malformed: int = 0
    end: Nanos = 0


class VirtualEngine:
    """Runs one plan to its end; it is the port of all its shells."""

    def __init__(
        self, plan: Plan, sink: Sink | Witness | None, *, wires: Wires | None = None
    ) -> None:
        self._plan = plan
        self._wires: Wires = wires or Network(plan.network, plan.seed)
        self._links: dict[tuple[NodeId, NodeId], Wire] = {}
        self._heap: list[tuple[Nanos, int, Shell, bytes | Timer]] = []
        self._ticket = 0
        self._copies = 0
        self._timers: dict[tuple[NodeId, Timer], int] = {}
        self.shells = make_shells(plan, tuple(range(plan.n)), self, sink)

    # --- port ---------------------------------------------------------------------------------

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        link = self._links.get((source, to))
        if link is None:
            link = self._links[source, to] = self._wires.link(source, to)
        self._copies += 1
        arrivals = link.send(now, len(frame))
        for arrival in arrivals:
            self._ticket += 1
            heappush(self._heap, (arrival, self._ticket, self.shells[to], frame))
        return arrivals

    def arm(self, node: NodeId, timer: Timer, at: Nanos) -> None:
        self._ticket += 1
        self._timers[node, timer] = self._ticket
        heappush(self._heap, (at, self._ticket, self.shells[node], timer))

    def disarm(self, node: NodeId, timer: Timer) -> None:
        self._timers.pop((node, timer), None)

    def clock(self, node: NodeId, now: Nanos) -> Nanos:
        return now

    def cpu_ns(self) -> int:
        return 0

    # --- running ------------------------------------------------------------------------------

    def run(self, progress: Callable[[int], None] | None = None) -> Totals:
        """Until nothing is left to happen; `progress` hears of each hundredth send."""
        return self.play(self._plan.submissions(), progress)

    def play(
        self, submissions: Iterator[Submission], progress: Callable[[int], None] | None = None
    ) -> Totals:
        """Run these sends instead of the plan's own."""
        totals = Totals()
        for shell in self.shells.values():
            shell.start(0)
        for submission in submissions:
            self._advance(submission.time)
            shell = self.shells[submission.node]
            shell.submit(submission.time, submission.dests, bytes(submission.payload_bytes))
            totals.messages += 1
            totals.end = submission.time
            if progress is not None and totals.messages % 100 == 0:
                progress(totals.messages)
        totals.end = max(totals.end, self._advance(None))
        totals.copies = self._copies
        for shell in self.shells.values():
            totals.delivered += shell.delivered
            totals.held += shell.held()
            totals.malformed += shell.malformed
        return totals

    def _advance(self, until: Nanos | None) -> Nanos:
        """Everything due before `until` (None: everything); the time of the last of it."""
        heap = self._heap
        now = 0
        steps = 0
        while heap and (until is None or heap[0][0] < until):
            now, ticket, shell, what = heappop(heap)
            if isinstance(what, bytes):
                shell.arrive(now, what)
            elif self._timers.get((shell.me, what)) == ticket:
                del self._timers[shell.me, what]
                shell.fire(now, what)
            steps += 1
            if until is None and steps > STEPS_PER_COPY_MAX * (self._copies + 1):
                raise EngineError(
                    f"the run does not end: {steps} steps after the last send; "
                    "a lossy network under a reliable link can do this if nothing gets through"
                )
        return now
