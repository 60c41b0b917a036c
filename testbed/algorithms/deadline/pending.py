"""What the deadline algorithms share: messages that wait for their causal past or their deadline.

A message carries clock values, in microseconds: for each process the sending time of its newest
message in the causal past (MVector), its own sending time in its sender's place, and the sending
time of its sender's message before (`previous`). Times of one sender strictly increase and exceed
all times in its causal past, so that the order of sending times extends causal order.

A message is delivered once its past is settled, else at its own deadline, together with what waits
of its past; what is missing of its past is then overtaken. This file asks nobody for anything.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import compress
from operator import gt

from testbed.core.holdback import HoldBackQueue, Need
from testbed.core.model import Message, Nanos, NodeId
from testbed.core.node import Timer, Turn

Micros = int
"""A clock value as it travels."""

MICROSECOND: Nanos = 1_000
FOREVER: Nanos = (1 << 63) - 1
"""The deadline of a message that has none."""

MARGIN: Nanos = 1_000_000
"""A deadline acts this much before it, by the local clock: a timer may fire late."""

_PRUNE_AT = 1_000


class Entry:
    """One message on its way to the application: e of Ahn's figure 8."""

    __slots__ = (
        "deadline", "ends", "is_done", "is_expired", "message", "previous", "sender", "time",
        "vector",
    )  # fmt: skip

    def __init__(
        self,
        message: Message,
        vector: list[Micros],
        previous: Micros,
        ends: Sequence[Micros] = (),
    ) -> None:
        self.message = message
        self.ends = ends
        """Where the algorithm carries them: the latest deadline of each sender's past messages."""
        self.sender = message.origin
        self.vector = vector
        self.time = vector[message.origin]
        self.previous = previous
        self.deadline = FOREVER if message.deadline is None else message.deadline
        self.is_expired = False
        """Given up as worthless, but its successors still wait for its place in the order."""
        self.is_done = False


class Pending:
    """MVector and RMSG_Q of one process."""

    def __init__(
        self,
        me: NodeId,
        n: int,
        room: int | None = None,
        keep: Callable[[Entry], None] | None = None,
    ) -> None:
        """At most `room` payload bytes wait; `keep` hears of each delivery."""
        self.me = me
        self.room = room
        self.passed: list[Micros] = [0] * n
        """Delivered or given up, for each sender up to this sending time."""
        self.past: list[Micros] = [0] * n
        """In the causal past of this process; at most `passed`; it travels."""
        self.waiting: dict[tuple[NodeId, Micros], Entry] = {}
        self.times: list[list[Micros]] = [[] for _ in range(n)]
        """For each sender the sending times of what waits, ascending."""
        self.held = 0
        self.bytes = 0
        """Of all payloads that wait."""
        self._latest: Micros = 0  # the largest time in the causal past
        self._queue: HoldBackQueue[Entry] = HoldBackQueue(self.passed)
        self._dues: list[tuple[Nanos, NodeId, Micros]] = []
        self._lagging: dict[NodeId, None] = {}  # senders whose `past` is below `passed`
        self._delivered: dict[tuple[NodeId, Micros], Nanos] = {}  # and the deadline
        self._prune_at = _PRUNE_AT
        self._keep = keep

    def stamp(self, now: Nanos) -> tuple[list[Micros], Micros]:
        """MVector and `previous` of the next message from here, which becomes part of the past."""
        previous = self.past[self.me]
        time = max(now // MICROSECOND, self._latest + 1)
        self._latest = self.past[self.me] = self.passed[self.me] = time
        return self.past.copy(), previous

    # --- arrivals -----------------------------------------------------------------------------

    def admits(self, entry: Entry, turn: Turn) -> bool:
        """Whether this arrival is of use here; if it is not, it is discarded with its reason."""
        key = (entry.sender, entry.time)
        if entry.sender == self.me or key in self._delivered or key in self.waiting:
            turn.discard(entry.message, "duplicate")
        elif entry.deadline <= turn.now:
            turn.discard(entry.message, "expired")
            if entry.time > self.passed[entry.sender]:  # its successors need not wait for it
                entry.is_expired = True
                self.add(entry, turn)
        elif entry.time <= self.passed[entry.sender]:
            turn.discard(entry.message, "overtaken")
        elif not self._has_room(entry) and self._needs(entry):
            turn.discard(entry.message, "no_room")
        else:
            return True
        return False

    def _has_room(self, entry: Entry) -> bool:
        return self.room is None or self.bytes + len(entry.message.payload) <= self.room

    def _needs(self, entry: Entry) -> list[Need]:
        """The delivery condition: what of its past is not settled here."""
        passed, j = self.passed, entry.sender
        vector = entry.vector
        ahead = compress(range(len(vector)), map(gt, vector, passed))  # at the speed of C
        needs = [(k, vector[k]) for k in ahead if k != j]
        if entry.previous > passed[j]:
            needs.append((j, entry.previous))
        return needs

    def add(self, entry: Entry, turn: Turn) -> list[Need]:
        """Deliver it, and what waited for it, or hold it; the answer is what it waits for."""
        needs, j = self._needs(entry), entry.sender
        if not needs and not entry.is_expired:  # the usual case, without a detour over the queue
            self._deliver(entry, turn)
            self._queue.advanced(j)
            self.settle(turn)
            return needs
        self.waiting[j, entry.time] = entry
        insort(self.times[j], entry.time)
        if not entry.is_expired:
            self.held += 1
            self.bytes += len(entry.message.payload)
            if entry.deadline < FOREVER:
                heappush(self._dues, (entry.deadline - MARGIN, j, entry.time))
        self._queue.hold(entry, needs)
        if not needs:
            self.settle(turn)
        return needs

    def settle(self, turn: Turn) -> None:
        """CHECK-MSGS, first branch, until nothing moves."""
        while (entry := self._queue.pop()) is not None:
            if not entry.is_done:
                self._release(entry, turn)

    # --- deadlines ----------------------------------------------------------------------------

    def next_due(self) -> Nanos | None:
        """When the next message that waits must be delivered."""
        dues = self._dues
        while dues:
            entry = self.waiting.get(dues[0][1:])
            if entry is not None and not entry.is_expired:
                return dues[0][0]
            heappop(dues)
        return None

    def expire(self, turn: Turn) -> None:
        """CHECK-MSGS, second branch: everything whose time has come."""
        while (due := self.next_due()) is not None and due <= turn.now:
            self.force(self.waiting[heappop(self._dues)[1:]], turn)

    def force(self, entry: Entry, turn: Turn) -> None:
        """Deliver it now, behind what waits of its past; the rest of its past is overtaken."""
        if entry.deadline <= turn.now:  # the timer came too late
            turn.discard(entry.message, "expired")
            self._forget(entry)
            entry.is_expired = True
            return
        group = [
            self.waiting[k, time]
            for k, times in enumerate(self.times)
            if times and times[0] <= entry.vector[k]
            for time in times[: bisect_right(times, entry.vector[k])]
        ]
        for each in sorted(group, key=lambda e: (e.time, e.sender)):
            self._release(each, turn)
        for k, x in enumerate(entry.vector):
            self.past[k] = max(self.past[k], x)
            if self.passed[k] < x:
                self.passed[k] = x
                self._queue.advanced(k)
        self.settle(turn)

    def give_up(self, k: NodeId, time: Micros, turn: Turn) -> None:
        """No message of k up to this sending time can come in time any more."""
        if self.passed[k] >= time:
            return
        for known in reversed(self.times[k][: bisect_right(self.times[k], time)]):
            entry = self.waiting.get((k, known))
            if entry is not None and not entry.is_expired:
                self.force(entry, turn)
        if self.passed[k] < time:
            self._pass(k, time)
            self.settle(turn)

    # --- one entry ----------------------------------------------------------------------------

    def _release(self, entry: Entry, turn: Turn) -> None:
        """Its turn in the order has come: deliver it, unless it has become worthless."""
        self._take(entry)
        if entry.time <= self.passed[entry.sender]:  # an honest sender's message is given up here
            if not entry.is_expired:
                turn.discard(entry.message, "overtaken")
        elif entry.is_expired or entry.deadline <= turn.now:
            if not entry.is_expired:
                turn.discard(entry.message, "expired")
            self._pass(entry.sender, entry.time)
        else:
            self._deliver(entry, turn)
            self._queue.advanced(entry.sender)

    def _deliver(self, entry: Entry, turn: Turn) -> None:
        """Hand it over, and take its past into mine."""
        turn.deliver(entry.message)
        j, time = entry.sender, entry.time
        self.passed[j] = self.past[j] = time
        self._latest = max(self._latest, time)
        for k in tuple(self._lagging):
            self.past[k] = max(self.past[k], entry.vector[k])
            if self.past[k] >= self.passed[k]:
                del self._lagging[k]
        self._delivered[j, time] = entry.deadline
        if len(self._delivered) > self._prune_at:
            self._prune(turn.now)
        if self._keep is not None:
            self._keep(entry)

    def _prune(self, now: Nanos) -> None:
        """Forget deliveries whose deadline is over: a copy of them is refused as expired."""
        live = {key: deadline for key, deadline in self._delivered.items() if deadline > now}
        self._delivered = live
        self._prune_at = max(_PRUNE_AT, 2 * len(live))

    def _pass(self, k: NodeId, time: Micros) -> None:
        """Up to here nothing of k is waited for; it is not in my past for that."""
        self.passed[k] = time
        self._lagging[k] = None
        self._queue.advanced(k)

    def _take(self, entry: Entry) -> None:
        del self.waiting[entry.sender, entry.time]
        times = self.times[entry.sender]
        del times[bisect_right(times, entry.time) - 1]
        entry.is_done = True
        if not entry.is_expired:
            self._forget(entry)

    def _forget(self, entry: Entry) -> None:
        """It counts as held no longer."""
        self.held -= 1
        self.bytes -= len(entry.message.payload)


class Worthless:
    """Until when it makes sense to wait for messages that are known to exist and have not come."""

    def __init__(self, pending: Pending) -> None:
        self._pending = pending
        self._ends: list[tuple[Nanos, NodeId, Micros]] = []

    def note(self, end: Nanos, k: NodeId, time: Micros) -> None:
        """All messages of k up to this sending time are worthless from `end` on."""
        heappush(self._ends, (end, k, time))

    def give_up(self, turn: Turn) -> None:
        """Wait no longer for what has become worthless."""
        while (end := self.next_end()) is not None and end <= turn.now:
            _, k, time = heappop(self._ends)
            self._pending.give_up(k, time, turn)

    def next_end(self) -> Nanos | None:
        """When something that is waited for becomes worthless."""
        ends, passed = self._ends, self._pending.passed
        if not self._pending.held:
            ends.clear()
        while ends and passed[ends[0][1]] >= ends[0][2]:
            heappop(ends)
        return ends[0][0] if ends else None


def earlier(one: Nanos | None, other: Nanos | None) -> Nanos | None:
    """The earlier of two times, of which each may be never."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def rearm(timer: Timer, armed: Nanos | None, due: Nanos | None, turn: Turn) -> Nanos | None:
    """See that the timer fires at `due` or before; the answer is when it will."""
    if due is None:
        if armed is not None:
            turn.cancel_timer(timer)
        return None
    if armed is not None and armed <= due:
        return armed
    turn.set_timer(timer, due)
    return due
