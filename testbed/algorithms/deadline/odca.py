"""Ahn: deadline-constrained causal broadcast that asks for what is missing.

Idea: every process keeps each message until its deadline. Who receives a message before its causal
past asks its sender for what is missing, and delivers what comes before the deadline, in order.
Paper: Ahn, figure 8 and section 4.
Assumptions: channels may lose, duplicate and reorder; members may crash; clocks are close to each
other, and are not trusted: order holds however wrong they are.
A packet carries MVector, n sending times, and its sender's previous sending time: n + 1 integers. A
solicitation carries its number and three integers for each gap; a reply carries one message as it
was broadcast and the number of the solicitation, so that no reply is larger than a message and the
loss of one copy does not take others with it.
Cost: O(n) per arrival; a solicitation costs what it asks for.
Departures from the print, each with its schedule in docs/findings.md: the previous sending time
travels; clock values strictly increase and exceed the causal past; the sender keeps its own
messages; a solicitation names what is missing and is answered with that; replies pass the checks of
direct messages; what is in the queue past its deadline is not delivered; the deadline is a timer;
CHECK-MSGS runs until nothing moves. A message that comes too late still tells its successors that
they need not wait for it. Beyond the paper: `solicit=any`, repetition, bounds.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal

import msgspec

from testbed.algorithms.deadline.gaps import Gap, Gaps
from testbed.algorithms.deadline.kept import Kept
from testbed.algorithms.deadline.pending import FOREVER, Entry, Micros, Pending, rearm
from testbed.core.algorithm import Algorithm, ControlSize, Guarantee
from testbed.core.holdback import Need
from testbed.core.model import Count, Message, Nanos, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Timer, Turn, View
from testbed.core.wire import FRAME_BYTES_MAX

MILLISECOND: Nanos = 1_000_000
COLLECT_EVERY: Nanos = 100 * MILLISECOND
REPLIES_MAX = 64
"""Messages that one solicitation gets, the oldest first."""


class Params(msgspec.Struct, frozen=True):
    """What may be set in `odca[key=value]`."""

    solicit: Literal["sender", "any"] = "sender"
    """Whom to ask: the sender of the message that waits, or then any member not suspected."""
    patience_ms: float = 0.0
    """How long to wait for what may be on its way, before asking."""
    retry_ms: float = 250.0
    """How long to wait for the first answer; later twice what an answer takes."""
    tries: int = 4
    """How often to ask for the same gap."""


class Data(Packet, frozen=True, tag=0):
    """MVector of the sender, its own sending time included, and the one before."""

    vector: list[Count]
    previous: Count


class Solicit(Packet, frozen=True, tag=1):
    """Send me these messages."""

    number: Count
    gaps: list[tuple[Count, Count, Count]]
    """For each gap: the sender, and messages behind this sending time, and up to this one."""


class Reply(Packet, frozen=True, tag=2):
    """One message that was asked for, as its sender broadcast it."""

    vector: list[Count]
    previous: Count
    number: Count


class Nothing(Packet, frozen=True, tag=3):
    """I have none of what you ask for."""

    number: Count


class Process(Node[Data | Solicit | Reply | Nothing, None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        params = view.params or Params()
        self.asks_any = params.solicit == "any"
        self.patience = int(params.patience_ms * MILLISECOND)
        self.pending = Pending(self.me, self.n, view.buffer_bytes, self._keep)  # MVector, RMSG_Q
        self.kept = Kept(self.n)  # DLVD_Q
        self.gaps = Gaps(
            self.me,
            self.n,
            retry=max(1, int(params.retry_ms * MILLISECOND)),
            tries=params.tries,
            asks_any=self.asks_any,
        )
        self.room = view.buffer_bytes
        self.frame_room = FRAME_BYTES_MAX - 10 * (self.n + 20)
        self.armed: dict[Timer, Nanos | None] = {"deadline": None, "solicit": None, "collect": None}

    # --- B-SEND, B-RECV -----------------------------------------------------------------------

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        vector, previous = self.pending.stamp(turn.now)
        others = tuple(d for d in dests if d != self.me)
        turn.multicast(others, Data(vector, previous), message=message)
        if len(others) < len(dests):
            turn.deliver(message)
        self._make_room(len(message.payload), turn.now)
        self._keep(Entry(message, vector, previous))
        self._settle(turn)

    def on_received(
        self, arrival: Arrival[Data | Solicit | Reply | Nothing, None], turn: Turn
    ) -> None:
        source, packet = arrival.source, arrival.packet
        if isinstance(packet, Data):
            assert arrival.message is not None
            self._receive(Entry(arrival.message, packet.vector, packet.previous), turn)
        elif isinstance(packet, Reply):
            assert arrival.message is not None
            self._receive_reply(source, arrival.message, packet, turn)
        elif isinstance(packet, Solicit):
            self._answer(source, packet, turn)
        else:
            solicited = self.gaps.answered(packet.number, source, turn.now)
            if solicited is not None:
                self.gaps.refused(solicited, turn.now)
        self._settle(turn)

    def _receive(self, entry: Entry, turn: Turn) -> None:
        closed = self.gaps.close(entry.sender, entry.time)
        needs: list[Need] = []
        self._make_room(len(entry.message.payload), turn.now)
        if self.pending.admits(entry, turn):
            needs = self.pending.add(entry, turn)
        elif closed is not None:  # it came too late itself, what is before it is still missed
            self._seek(entry.sender, entry.previous, closed.revealer, closed, turn.now)
        for k, time in needs:
            self._seek(k, time, entry.sender, closed if k == entry.sender else None, turn.now)

    def _seek(self, k: NodeId, x: Micros, revealer: NodeId, closed: Gap | None, now: Nanos) -> None:
        """Open a gap for each run of messages of k up to x that is known to be missing."""
        pending, gaps = self.pending, self.gaps
        while x > pending.passed[k]:
            known = pending.waiting.get((k, x))
            if known is not None:
                if not known.is_expired:
                    return  # what is missing before it was sought when it came
                x = known.previous
            elif (gap := gaps.around(k, x)) is not None:
                gap.revealer = revealer
                return
            else:
                gap = Gap(k, self._known_before(k, x), x, revealer, now + self.patience)
                if closed is not None:  # it was asked for, together with what has come now
                    gap.due, gap.tries, gap.asked = closed.due, closed.tries, closed.asked
                gaps.open(gap)
                x = gap.after

    def _known_before(self, k: NodeId, time: Micros) -> Micros:
        """The newest message of k before this time that is settled, waits, or is sought."""
        times = self.pending.times[k]
        at = bisect_left(times, time)
        waits = times[at - 1] if at else 0
        return max(waits, self.gaps.newest_before(k, time), self.pending.passed[k])

    # --- CHECK-MSGS, GARBAGE-COLLECT ----------------------------------------------------------

    def on_timer(self, timer: Timer, turn: Turn) -> None:
        self.armed[timer] = None
        if timer == "collect":
            self.kept.collect(turn.now)
        self._settle(turn)

    def _settle(self, turn: Turn) -> None:
        """Deliver what must not wait longer, ask for what is missed, set the timers."""
        self.pending.expire(turn)
        for solicited in self.gaps.solicit(turn.now, self._is_missed):
            turn.send(solicited.target, Solicit(solicited.number, solicited.spans))
        armed = self.armed
        armed["deadline"] = rearm("deadline", armed["deadline"], self.pending.next_due(), turn)
        armed["solicit"] = rearm("solicit", armed["solicit"], self.gaps.next_due(), turn)
        first = self.kept.first_deadline()
        if armed["collect"] is None and first is not None and first < FOREVER:
            armed["collect"] = rearm("collect", None, max(first, turn.now + COLLECT_EVERY), turn)

    def _is_missed(self, gap: Gap) -> bool:
        """Something waits for it still, and it has not come."""
        pending = self.pending
        key = (gap.sender, gap.upto)
        gap.after = max(gap.after, pending.passed[gap.sender])
        return gap.after < gap.upto and key not in pending.waiting and pending.held > 0

    # --- SOLICIT-RECV, RPY-RECV ---------------------------------------------------------------

    def _answer(self, asker: NodeId, packet: Solicit, turn: Turn) -> None:
        """Everything of it that is here and still worth something, in sending time order."""
        found: list[Entry] = []
        for k, after, upto in packet.gaps:
            found += self.kept.between(k, after, upto)
            if self.asks_any:  # beyond the paper: what waits here may help there
                waiting = (t for t in self.pending.times[k] if after < t <= upto)
                found += [self.pending.waiting[k, time] for time in waiting]
        found = [
            entry
            for entry in found
            if entry.deadline > turn.now and len(entry.message.payload) <= self.frame_room
        ]
        found.sort(key=lambda entry: (entry.time, entry.sender))
        for entry in found[:REPLIES_MAX]:
            reply = Reply(entry.vector, entry.previous, packet.number)
            turn.send(asker, reply, message=entry.message, again=True)
        if not found:
            turn.send(asker, Nothing(packet.number))

    def _receive_reply(self, source: NodeId, message: Message, reply: Reply, turn: Turn) -> None:
        """A reply passes the checks of a direct message, once it is one that was asked for."""
        solicited = self.gaps.answered(reply.number, source, turn.now)
        if solicited is None or not solicited.covers(message.origin, reply.vector[message.origin]):
            turn.discard(message, "unasked")
        else:
            self._receive(Entry(message, reply.vector, reply.previous), turn)

    def on_suspected(self, node: NodeId, turn: Turn) -> None:
        self.gaps.turn_from(node, turn.now)
        self._settle(turn)

    def on_trusted(self, node: NodeId, turn: Turn) -> None:
        self.gaps.suspected.pop(node, None)

    # --- the buffer ---------------------------------------------------------------------------

    def _keep(self, entry: Entry) -> None:
        if self.room is None or self.buffered_bytes() + len(entry.message.payload) <= self.room:
            self.kept.add(entry)

    def _make_room(self, needed: int, now: Nanos) -> None:
        """Where a payload has no room, forget what is worthless, then what is kept for others."""
        if self.room is None or self.buffered_bytes() + needed <= self.room:
            return
        self.kept.collect(now)
        while self.kept and self.buffered_bytes() + needed > self.room:
            self.kept.forget_first()

    def buffered_bytes(self) -> int:
        return self.pending.bytes + self.kept.bytes

    def held(self) -> int:
        return self.pending.held

    def state_ints(self) -> int:
        return 2 * self.n + 3 * len(self.gaps)


def size(packet: Data | Solicit | Reply | Nothing, own: None) -> ControlSize:
    match packet:
        case Data(vector):
            return ControlSize(ints=len(vector) + 1, units=len(vector))
        case Reply(vector):
            return ControlSize(ints=len(vector) + 2, units=len(vector))
        case Solicit(_, gaps):
            return ControlSize(ints=1 + 3 * len(gaps), entries=len(gaps))
        case Nothing():
            return ControlSize(ints=1)


def well_formed(packet: Data | Solicit | Reply | Nothing, own: None, n: int) -> bool:
    """Vectors have a place for each process; gaps name processes and are not empty."""
    if isinstance(packet, Data | Reply):
        return len(packet.vector) == n
    if isinstance(packet, Solicit):
        return all(k < n and after < upto for k, after, upto in packet.gaps)
    return True


ALGORITHM = Algorithm(
    name="odca",
    title="Ahn's deadline-constrained causal broadcast with solicitations",
    paper="Ahn figure 8",
    roles={Role.PROCESS: Process},
    packets=(Data, Solicit, Reply, Nothing),
    bare=(Solicit, Nothing),
    repair=(Solicit, Reply, Nothing),
    params=Params,
    size=size,
    well_formed=well_formed,
    guarantee=Guarantee.DEADLINE,
    uses_deadlines=True,
    needs_reliable=False,
    broadcast_only=True,
)
