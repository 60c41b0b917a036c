"""Ahn's figure 8 as printed: it hardly ever repairs, and breaks its own promises.

Idea: every process keeps what it has delivered; who receives a message before its past asks its
sender, which answers by a condition that no message meets.
Paper: Ahn, figure 8 as printed, line by line; the parts of the corrected reading are in `odca`.
Assumptions: as odca, and clocks that agree and tick between two sends, as the print needs them to.
A packet carries MVector, n clock values; a solicitation two vectors; a reply a list of messages.
Cost: each check looks at the whole queue.
Departures: none where the print is clear. Both procedures that run "every time interval" have one,
of `interval_ms`, as long as the queue holds something whose deadline is not over or something is
kept; a reply's messages carry their vectors; clock values are nanoseconds.
"""

from __future__ import annotations

from operator import gt, le, lt

import msgspec

from testbed.algorithms.deadline.pending import FOREVER
from testbed.core.algorithm import Algorithm, ControlSize, Guarantee
from testbed.core.model import Count, Message, Nanos, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Timer, Turn, View

MILLISECOND: Nanos = 1_000_000


class Params(msgspec.Struct, frozen=True):
    """What may be set in `odca-printed[key=value]`."""

    interval_ms: float = 1.0
    """How often CHECK-MSGS and GARBAGE-COLLECT run."""


class Data(Packet, frozen=True, tag=0):
    vector: list[Count]


class Solicit(Packet, frozen=True, tag=1):
    mine: list[Count]
    upper: list[Count]


class Element(msgspec.Struct, frozen=True, array_like=True):
    """e: a message with its vector, on its way to its sending time's place in a queue."""

    vector: list[Count]
    message: Message

    @property
    def sender(self) -> NodeId:
        return self.message.origin

    @property
    def time(self) -> Nanos:
        return self.vector[self.message.origin]

    @property
    def deadline(self) -> Nanos:
        return FOREVER if self.message.deadline is None else self.message.deadline


class Reply(Packet, frozen=True, tag=2):
    queue: list[Element]


class Process(Node[Data | Solicit | Reply, None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        params = view.params or Params()
        self.interval = max(1, int(params.interval_ms * MILLISECOND))
        self.vector: list[Nanos] = [0] * self.n  # MVector
        self.queue: list[Element] = []  # RMSG_Q
        self.kept: list[Element] = []  # DLVD_Q
        self.is_ticking = False

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        self.vector[self.me] = turn.now
        others = tuple(d for d in dests if d != self.me)
        turn.multicast(others, Data(self.vector.copy()), message=message)
        if len(others) < len(dests):
            turn.deliver(message)

    def on_received(self, arrival: Arrival[Data | Solicit | Reply, None], turn: Turn) -> None:
        packet = arrival.packet
        if isinstance(packet, Data):
            assert arrival.message is not None
            self._receive(Element(packet.vector, arrival.message), turn)
        elif isinstance(packet, Solicit):
            found = [  # as printed: all components smaller, and all greater
                e
                for e in self.kept
                if all(map(lt, e.vector, packet.upper)) and all(map(gt, e.vector, packet.mine))
            ]
            turn.send(arrival.source, Reply(found))
        else:
            for e in packet.queue:
                self._insert(e)
            self._check(turn)
        self._tick(turn)

    def _receive(self, e: Element, turn: Turn) -> None:
        if e.deadline < turn.now:
            turn.discard(e.message, "expired")
        elif e.time <= self.vector[e.sender]:
            turn.discard(e.message, "overtaken")
        elif self._is_next(e):
            self._deliver(e, turn)
            self._check(turn)
        else:
            self._insert(e)
            turn.send(e.sender, Solicit(self.vector.copy(), e.vector))

    def _is_next(self, e: Element) -> bool:
        others = [k for k in range(self.n) if k != e.sender]
        return e.time > self.vector[e.sender] and all(e.vector[k] <= self.vector[k] for k in others)

    def _deliver(self, e: Element, turn: Turn) -> None:
        self.vector = list(map(max, self.vector, e.vector))
        turn.deliver(e.message)
        self.kept.append(e)
        self.kept.sort(key=_sending_time)

    def _insert(self, e: Element) -> None:
        self.queue.append(e)
        self.queue.sort(key=_sending_time)

    def _check(self, turn: Turn) -> None:
        """CHECK-MSGS: once through the queue."""
        for e in tuple(self.queue):
            if e not in self.queue:
                continue
            if self._is_next(e):
                self.queue.remove(e)
                self._deliver(e, turn)
            elif e.deadline == turn.now:  # as printed: only at this very instant
                for c in [c for c in self.queue if all(map(le, c.vector, e.vector))]:
                    self.queue.remove(c)
                    self._deliver(c, turn)

    def on_timer(self, timer: Timer, turn: Turn) -> None:
        self.is_ticking = False
        self._check(turn)
        self.kept = [e for e in self.kept if e.deadline > turn.now]  # GARBAGE-COLLECT
        self._tick(turn)

    def _tick(self, turn: Turn) -> None:
        """The next interval, at a whole number of them, if anything can still change by time."""
        has_work = any(e.deadline >= turn.now for e in self.queue) or bool(self.kept)
        if has_work and not self.is_ticking:
            self.is_ticking = True
            turn.set_timer("interval", (turn.now // self.interval + 1) * self.interval)

    def held(self) -> int:
        return len(self.queue)

    def buffered_bytes(self) -> int:
        return sum(len(e.message.payload) for e in (*self.queue, *self.kept))

    def state_ints(self) -> int:
        return self.n


def _sending_time(e: Element) -> Nanos:
    return e.time


def size(packet: Data | Solicit | Reply, own: None) -> ControlSize:
    match packet:
        case Data(vector):
            return ControlSize(ints=len(vector), units=len(vector))
        case Solicit(mine, upper):
            return ControlSize(ints=len(mine) + len(upper))
        case Reply(queue):
            return ControlSize(ints=sum(len(e.vector) for e in queue), entries=len(queue))


def well_formed(packet: Data | Solicit | Reply, own: None, n: int) -> bool:
    """Every vector has a place for each process, every message one of them as its sender."""
    match packet:
        case Data(vector):
            return len(vector) == n
        case Solicit(mine, upper):
            return len(mine) == len(upper) == n
        case Reply(queue):
            return all(len(e.vector) == n and e.message.origin < n for e in queue)


ALGORITHM = Algorithm(
    name="odca-printed",
    title="Ahn's figure 8 as printed",
    paper="Ahn figure 8, as printed",
    roles={Role.PROCESS: Process},
    packets=(Data, Solicit, Reply),
    bare=(Solicit, Reply),
    repair=(Solicit, Reply),
    params=Params,
    size=size,
    well_formed=well_formed,
    guarantee=Guarantee.DEADLINE,
    uses_deadlines=True,
    needs_reliable=False,
    broadcast_only=True,
)
