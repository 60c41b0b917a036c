"""The loop of one actor: it holds the shells of its nodes, their mailbox, and the run's clock.

It is the live port. The sender draws a copy's fate and fixes its due time; the receiver keeps the
frame until then, by due time, then source, then number, so that no transport's order ever shows.
Copies within one actor take the same bytes through the same mailbox. Knows neither Ray nor sockets.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from heapq import heappop, heappush, merge
from itertools import islice
from typing import Any

import msgspec

from actors.carrier import Carrier
from actors.clock import RunClock
from actors.envelope import HELLO, pack_header, unpack
from actors.lateness import Lateness
from testbed.core.errors import EngineError, MalformedFrame
from testbed.core.model import Nanos, NodeId, Submission
from testbed.core.network import Arrivals
from testbed.core.node import Timer
from testbed.core.world import FOREVER
from testbed.engine.blows import Blow, blows, strike
from testbed.engine.moves import Move, MoveKind, make_move, moves
from testbed.engine.nodes import make_shells
from testbed.engine.plan import Plan
from testbed.engine.virtual import Wire
from testbed.trace.recorder import Recorder

STEPS_PER_PASS = 256
"""So many events at most before outgoing copies leave and incoming ones are looked at."""
WAIT_SECONDS_MAX = 0.05
"""The loop looks up this often, to see a request to stop and to flush the trace."""
_TIMER, _MOVE, _BLOW = -1, -2, -3
"""In place of a source: blows, moves, then timers come before frames due at the same time."""


_GOING = (MoveKind.LEAVE, MoveKind.DISCONNECT)


class Status(msgspec.Struct, frozen=True):
    """What the driver asks again and again; the sums over all actors say whether all is quiet."""

    submitted: int
    expected: int
    """Arrivals that this actor's copies were promised by the network model."""
    handled: int
    """Copies handed to a node of this actor."""
    waiting: int
    """Frames in the mailbox that are not due yet."""
    timers: int
    unacknowledged: int
    held: int
    busy: bool
    rows: int
    next_due: Nanos | None
    failure: tuple[str, str] | None = None
    """Class and text of what stopped the loop."""


class Host:
    """Runs the nodes of one actor until told to stop."""

    def __init__(
        self,
        plan: Plan,
        nodes: tuple[NodeId, ...],
        messages_of: dict[NodeId, int],
        homes: tuple[int, ...],
        carrier: Carrier,
        recorder: Recorder,
        last_send: Nanos = 0,
    ) -> None:
        """`homes[node]` is the actor of each node of the plan; nobody moves after `last_send`."""
        self._carrier = carrier
        self._recorder = recorder
        self._nodes = nodes
        self._n = plan.n
        itineraries = plan.itineraries(last_send)
        self._network = plan.network_of(itineraries)
        self._links: dict[tuple[NodeId, NodeId], Wire] = {}
        here = homes[nodes[0]]
        self._away = tuple(None if home == here else home for home in homes)
        self._outboxes: dict[int, list[bytes]] = {}
        self._agenda: list[tuple[Nanos, int, int, NodeId, Any]] = []  # a frame or a timer
        self._armed: dict[tuple[NodeId, Timer], int] = {}
        self._number = 0
        self._submissions = _timelines(plan, nodes, messages_of)
        self._next = next(self._submissions, None)
        self._clock = RunClock(0, 1.0)
        self._stopping = False
        self._busy = False
        self._submitted = self._expected = self._handled = self._waiting = 0
        self._moves_left = 0
        self._homes = homes
        self._gone: set[int] = set()
        # By actor, for runs in which actors are killed: what the dead promised or were promised
        # is left out of the sums that say whether all is quiet.
        kills = any(fault.kills for fault in plan.faults)
        self._with: dict[int, list[int]] | None = {a: [0, 0] for a in homes} if kills else None
        self.skipped = 0
        self.lateness = Lateness()
        self.copies = 0
        self.refused = 0
        self.end: Nanos = 0
        self.greeted: set[int] = set()
        self.failure: tuple[str, str] | None = None
        cells = {host: stays[0].station for host, stays in itineraries.items()}
        self.shells = make_shells(plan, nodes, self, recorder, cells, last_send=last_send)
        self._here_since: dict[NodeId, Nanos] = {}  # of each host: its stay's start, by the plan
        for host in [node for node in nodes if node in itineraries]:
            self._here_since[host] = 0
            for move in moves(itineraries[host], plan.notice):
                self._number += 1
                heappush(self._agenda, (move.time, _MOVE, self._number, host, move))
                self._moves_left += 1

        self._schedule_blows(plan)

    def _schedule_blows(self, plan: Plan) -> None:
        """What happens to these nodes; whoever is to be killed does not do it itself."""
        killed = {node for fault in plan.faults if fault.kills for node in fault.nodes}
        for blow in blows(plan):
            if blow.node in self.shells and (blow.lost_peer is not None or blow.node not in killed):
                self._number += 1
                heappush(self._agenda, (blow.time, _BLOW, self._number, blow.node, blow))
                self._moves_left += 1

    # --- port ---------------------------------------------------------------------------------

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        link = self._links.get((source, to))
        if link is None:
            link = self._links[source, to] = self._network.link(source, to)
        self.copies += 1
        arrivals = link.send(now, len(frame))
        actor = self._away[to]
        if self._with is not None:
            self._with[self._homes[to]][0] += len(arrivals)
        for due in arrivals:
            self._expected += 1
            self._number += 1
            if actor is None:
                self._waiting += 1
                heappush(self._agenda, (due, source, self._number, to, frame))
                continue
            envelope = pack_header(to, source, due, self._number, len(frame)) + frame
            outbox = self._outboxes.get(actor)
            if outbox is None:
                self._outboxes[actor] = [envelope]
            else:
                outbox.append(envelope)
        return arrivals

    def arm(self, node: NodeId, timer: Timer, at: Nanos) -> None:
        self._number += 1
        self._armed[node, timer] = self._number
        heappush(self._agenda, (at, _TIMER, self._number, node, timer))

    def disarm(self, node: NodeId, timer: Timer) -> None:
        self._armed.pop((node, timer), None)

    def cpu_ns(self) -> int:
        return time.thread_time_ns()

    # --- before and after ---------------------------------------------------------------------

    def greet(self, actors: set[int], seconds: float, greeting: bytes) -> None:
        """Prove both directions of every connection before the clock starts."""
        for actor in sorted(actors):
            self._carrier.send(actor, [greeting])
        give_up = time.monotonic() + seconds
        self._absorb()
        while not actors <= self.greeted:
            if time.monotonic() > give_up:
                missing = ", ".join(str(actor) for actor in sorted(actors - self.greeted))
                raise EngineError(f"no connection from actors {missing} within {seconds:.0f} s")
            self._carrier.wait(WAIT_SECONDS_MAX)
            self._absorb()

    def stop(self) -> None:
        """Ask the loop to end after the pass it is in."""
        self._stopping = True

    def status(self) -> Status:
        """Counters as they stand; the loop may be in the middle of a pass."""
        next_due = self._next_due()
        lost = [self._with[actor] for actor in self._gone] if self._with is not None else []
        return Status(
            submitted=self._submitted,
            expected=self._expected - sum(promised for promised, _ in lost),
            handled=self._handled - sum(handled for _, handled in lost),
            waiting=self._waiting,
            timers=len(self._armed) + self._moves_left,
            unacknowledged=sum(shell.unacknowledged() for shell in self.shells.values()),
            held=sum(shell.held() for shell in self.shells.values()),
            busy=self._busy,
            rows=self._recorder.rows,
            next_due=next_due,
            failure=self.failure,
        )

    # --- the loop -----------------------------------------------------------------------------

    def run(self, clock: RunClock) -> None:
        """Start at the clock's zero, together with all others; return when told to stop."""
        self._clock = clock
        try:
            self._await_start()
            while not self._stopping:
                self._busy = True
                self._absorb()
                self._handle_what_is_due()
                self._flush()
                self._busy = False
                self._recorder.flush_if_due()
                self._rest()
        except Exception as error:  # noqa: BLE001 - the driver raises it again, see Status.failure
            self.failure = (type(error).__name__, str(error))

    def _await_start(self) -> None:
        while (ahead := self._clock.seconds_until(0)) > 0 and not self._stopping:
            self._carrier.wait(min(ahead, WAIT_SECONDS_MAX))
            self._absorb()
        now = max(self._clock.now(), 0)
        for shell in self.shells.values():
            shell.start(now)

    def _absorb(self) -> None:
        """Put what came in into the mailbox; what is not for us is counted and ignored."""
        agenda, n, away = self._agenda, self._n, self._away
        for batch in self._carrier.take():
            try:
                for to, source, due, number, frame in unpack(batch):
                    if to < n and source < n and away[to] is None:
                        heappush(agenda, (due, source, number, to, frame))
                        self._waiting += 1
                    elif to == HELLO:
                        self.greeted.add(source)
                    else:
                        self.refused += 1
            except MalformedFrame:
                self.refused += 1

    def _handle_what_is_due(self) -> None:
        """Everything that is due by now, earliest first; a send before what is due with it."""
        agenda, now_of = self._agenda, self._clock.now
        for _ in range(STEPS_PER_PASS):
            submission = self._next
            if submission is not None and (not agenda or submission.time <= agenda[0][0]):
                now = now_of()
                if submission.time > now:
                    return
                self._submit(submission, now)
            elif agenda:
                now = now_of()
                if agenda[0][0] > now:
                    return
                self._handle(now)
            else:
                return

    def _submit(self, submission: Submission, now: Nanos) -> None:
        self.lateness.add(now - submission.time)
        shell = self.shells[submission.node]
        if shell.is_down:
            self.skipped += 1
        else:
            payload = bytes(submission.payload_bytes)
            shell.submit(now, submission.dests, payload, submission.lifetime)
            self.end = now
        self._next = next(self._submissions, None)
        self._submitted += 1

    def _handle(self, now: Nanos) -> None:
        due, source, number, to, what = heappop(self._agenda)
        if source == _BLOW:
            self._strike(to, what, now)
        elif source == _MOVE:
            self._move(to, what, now)
        elif source != _TIMER:
            self.lateness.add(now - due)
            self._waiting -= 1
            if due < self._here_since.get(to, 0):
                self.shells[to].miss(now, source, what)
            else:
                self.shells[to].arrive(now, what)
            self._handled += 1
            if self._with is not None:
                self._with[self._homes[source]][1] += 1
        elif self._armed.get((to, what)) == number:
            self.lateness.add(now - due)
            del self._armed[to, what]
            self.shells[to].fire(now, what)
        else:
            return  # disarmed, or armed again for later
        self.end = now

    def _move(self, host: NodeId, move: Move, now: Nanos) -> None:
        """What comes through the air later, but was due before, belongs to an earlier stay."""
        self.lateness.add(now - move.time)
        self._moves_left -= 1
        if move.kind is not MoveKind.ANNOUNCE:
            self._here_since[host] = FOREVER if move.kind in _GOING else move.time
        if not self.shells[host].is_down:
            make_move(self.shells[host], move, now)

    def _strike(self, node: NodeId, blow: Blow, now: Nanos) -> None:
        """A crashed node's timers never fire."""
        self._moves_left -= 1
        if blow.lost_peer is None:
            self.lateness.add(now - blow.time)
            for key in [key for key in self._armed if key[0] == node]:
                del self._armed[key]
        strike(self.shells[node], blow, now)

    def bury(self, actor: int) -> None:
        """This actor was killed: nothing is promised to it or by it any more."""
        self._gone = self._gone | {actor}

    def _flush(self) -> None:
        """All copies of this pass that go to one actor leave as one batch."""
        for actor, envelopes in self._outboxes.items():
            if actor not in self._gone:
                self._carrier.send(actor, envelopes)
        self._outboxes = {}

    def _rest(self) -> None:
        due = self._next_due()
        ahead = WAIT_SECONDS_MAX if due is None else self._clock.seconds_until(due)
        if ahead > 0:
            self._carrier.wait(min(ahead, WAIT_SECONDS_MAX))

    def _next_due(self) -> Nanos | None:
        dues = [entry[0] for entry in self._agenda[:1]]
        if (submission := self._next) is not None:
            dues.append(submission.time)
        return min(dues, default=None)


def _timelines(
    plan: Plan, nodes: tuple[NodeId, ...], messages_of: dict[NodeId, int]
) -> Iterator[Submission]:
    """What these nodes send, by time; each node's own number of messages."""
    return merge(
        *(
            islice(plan.traffic.timeline(node, plan.n, plan.seed), messages_of[node])
            for node in nodes
        ),
        key=lambda submission: (submission.time, submission.node),
    )
