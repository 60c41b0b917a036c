"""Virtual time: one heap, one thread, same seed same trace.

Whatever happens next is the smallest (time, ticket); tickets count scheduling, so ties in time are
broken by who was scheduled first, and a send of the application comes before anything else at its
time. What one event causes, say the copies of a multicast, is sorted once, and only the next of it
is in the heap: the heap stays small. Nothing here iterates over a set or reads a clock.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from heapq import heappop, heappush, heapreplace
from typing import Any, Protocol

import msgspec

from testbed.core.errors import EngineError
from testbed.core.garbage import rare_collections
from testbed.core.model import Nanos, NodeId, Submission
from testbed.core.network import Arrivals
from testbed.core.node import Timer
from testbed.engine.blows import Blow, blows, strike
from testbed.engine.moves import Move, make_move, moves
from testbed.engine.nodes import make_shells
from testbed.engine.plan import Plan
from testbed.engine.shell import Shell
from testbed.trace.recorder import Sink, Witness

STEPS_PER_COPY_MAX = 10_000
"""A run that takes more steps than this per planned copy is not going to end."""


Due = tuple[Nanos, int, Shell, bytes | Timer | Move | Blow, list[Any]]
"""When, ticket, at whom, a frame, a timer, a move or a blow, and what else the same event caused,
latest first."""


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
        needs_end = plan.roam is not None or plan.detector is not None
        last_send = plan.last_send() if needs_end else 0
        itineraries = plan.itineraries(last_send)
        self._wires: Wires = wires or plan.network_of(itineraries)
        self._links: list[list[Wire | None]] = [[None] * plan.n for _ in range(plan.n)]
        self._heap: list[Due] = []
        self._caused: list[Due] = []
        self._ticket = 0
        self._copies = 0
        self._timers: dict[tuple[NodeId, Timer], int] = {}
        cells = {host: stays[0].station for host, stays in itineraries.items()}
        everybody = tuple(range(plan.n))
        self.shells = make_shells(plan, everybody, self, sink, cells, last_send=last_send)
        self._moves = {host: moves(stays, plan.notice) for host, stays in itineraries.items()}

    # --- port ---------------------------------------------------------------------------------

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        link = self._links[source][to]
        if link is None:
            link = self._links[source][to] = self._wires.link(source, to)
        self._copies += 1
        arrivals = link.send(now, len(frame))
        caused, shell, ticket = self._caused, self.shells[to], self._ticket
        for arrival in arrivals:
            ticket += 1
            caused.append((arrival, ticket, shell, frame, caused))
        self._ticket = ticket
        return arrivals

    def arm(self, node: NodeId, timer: Timer, at: Nanos) -> None:
        self._ticket += 1
        self._timers[node, timer] = self._ticket
        self._caused.append((at, self._ticket, self.shells[node], timer, self._caused))

    def disarm(self, node: NodeId, timer: Timer) -> None:
        self._timers.pop((node, timer), None)

    def cpu_ns(self) -> int:
        return 0

    # --- running ------------------------------------------------------------------------------

    def run(self, progress: Callable[[int], None] | None = None) -> Totals:
        """Until nothing is left to happen; `progress` hears of each hundredth send."""
        with rare_collections():
            return self.play(self._plan.submissions(), progress)

    def play(
        self, submissions: Iterator[Submission], progress: Callable[[int], None] | None = None
    ) -> Totals:
        """Run these sends instead of the plan's own."""
        totals = Totals()
        for shell in self.shells.values():
            shell.start(0)
        for host in self._moves:
            self._schedule_move(self.shells[host])
        self._schedule_faults()
        for submission in submissions:
            self._advance(submission.time)
            shell = self.shells[submission.node]
            if shell.is_down:
                continue
            payload = bytes(submission.payload_bytes)
            shell.submit(submission.time, submission.dests, payload, submission.lifetime)
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
        patience = STEPS_PER_COPY_MAX * (self._copies + 1) if until is None else sys.maxsize
        if self._caused:
            self._sort_caused()
        for _ in range(patience):
            if not heap or (until is not None and heap[0][0] >= until):
                return now
            now, ticket, shell, what, rest = heap[0]
            if rest:
                heapreplace(heap, rest.pop())
            else:
                heappop(heap)
            if isinstance(what, bytes):
                shell.arrive(now, what)
            elif isinstance(what, Move):
                self._move(shell, what, now)
            elif isinstance(what, Blow):
                self._strike(shell, what, now)
            else:
                self._fire(shell, what, ticket, now)
            if self._caused:
                self._sort_caused()
        raise EngineError(
            f"the run does not end: {patience} steps after the last send; "
            "a lossy network under a reliable link can do this if nothing gets through"
        )

    def _fire(self, shell: Shell, timer: Timer, ticket: int, now: Nanos) -> None:
        """Unless the timer was disarmed or moved since."""
        if self._timers.get((shell.me, timer)) == ticket:
            del self._timers[shell.me, timer]
            shell.fire(now, timer)

    def _move(self, shell: Shell, move: Move, now: Nanos) -> None:
        if not shell.is_down:
            make_move(shell, move, now)
            self._schedule_move(shell)

    def _schedule_faults(self) -> None:
        for blow in blows(self._plan):
            if blow.node in self.shells:
                self._ticket += 1
                shell = self.shells[blow.node]
                self._caused.append((blow.time, self._ticket, shell, blow, self._caused))

    def _strike(self, shell: Shell, blow: Blow, now: Nanos) -> None:
        if blow.lost_peer is None:
            for node, timer in [key for key in self._timers if key[0] == shell.me]:
                del self._timers[node, timer]
        strike(shell, blow, now)

    def _schedule_move(self, shell: Shell) -> None:
        """The host's next move, if it has one."""
        move = next(self._moves[shell.me], None)
        if move is not None:
            self._ticket += 1
            self._caused.append((move.time, self._ticket, shell, move, self._caused))

    def _sort_caused(self) -> None:
        """What the last event caused: the first of it to the heap, the rest behind it."""
        caused = self._caused
        caused.sort(reverse=True)
        heappush(self._heap, caused.pop())
        self._caused = []
