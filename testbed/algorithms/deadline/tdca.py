"""Deadline-constrained causal order with a deadline of its own for each message, without repair.

Idea: a message is delivered once each message of its causal past is delivered or can no longer come
in time; at its own deadline it is delivered whatever is missing, and what is missing of its past
is dropped when it arrives.
Paper: Rodrigues, Baldoni, Anceaume, Raynal, "Deadline-constrained causal order" (2000), the form
for broadcasts, against which Ahn's section 5 compares. A reconstruction from its abstract and from
what Ahn says of it: the paper itself was not at hand.
Assumptions: channels may lose, duplicate and reorder; clocks are close to each other, and are not
trusted: order holds however wrong they are.
A packet carries a vector of n sending times, the sending time of its sender's message before, and
for each process the latest deadline among its messages in the causal past: 2n + 1 integers.
Cost: O(n) per arrival.
Departures: deadlines of the past travel, so that a receiver knows when a message that it has never
seen is worthless; with deadlines of many lengths a vector of times alone cannot say that.
"""

from __future__ import annotations

from testbed.algorithms.deadline.pending import (
    FOREVER,
    MICROSECOND,
    Entry,
    Micros,
    Pending,
    Worthless,
    earlier,
    rearm,
)
from testbed.core.algorithm import Algorithm, ControlSize, Guarantee
from testbed.core.model import Count, Message, Nanos, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Timer, Turn, View


class Data(Packet, frozen=True, tag=0):
    """Times of the past, and when each sender's share of it is worthless."""

    vector: list[Count]
    previous: Count
    ends: list[Count]
    """For each process the latest deadline of its messages in the past, in microseconds."""


class Process(Node[Data, None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.pending = Pending(self.me, self.n, view.buffer_bytes, self._learn)
        self.worthless = Worthless(self.pending)
        self.ends: list[Micros] = [0] * self.n
        self.armed: Nanos | None = None

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        vector, previous = self.pending.stamp(turn.now)
        others = tuple(d for d in dests if d != self.me)
        turn.multicast(others, Data(vector, previous, self.ends.copy()), message=message)
        end = FOREVER if message.deadline is None else message.deadline
        self.ends[self.me] = max(self.ends[self.me], _micros(end))
        if len(others) < len(dests):
            turn.deliver(message)

    def on_received(self, arrival: Arrival[Data, None], turn: Turn) -> None:
        assert arrival.message is not None
        packet = arrival.packet
        entry = Entry(arrival.message, packet.vector, packet.previous, packet.ends)
        if self.pending.admits(entry, turn):
            for k, time in self.pending.add(entry, turn):
                if packet.ends[k] < _micros(FOREVER):
                    self.worthless.note(packet.ends[k] * MICROSECOND, k, time)
        self._settle(turn)

    def on_timer(self, timer: Timer, turn: Turn) -> None:
        self.armed = None
        self._settle(turn)

    def _settle(self, turn: Turn) -> None:
        """Give up what cannot come in time, deliver what must not wait longer, set the timer."""
        self.worthless.give_up(turn)
        self.pending.expire(turn)
        due = earlier(self.worthless.next_end(), self.pending.next_due())
        self.armed = rearm("deadline", self.armed, due, turn)

    def _learn(self, entry: Entry) -> None:
        """A delivery: its past is part of mine, with the deadlines in it."""
        self.ends = list(map(max, self.ends, entry.ends))
        self.ends[entry.sender] = max(self.ends[entry.sender], _micros(entry.deadline))

    def held(self) -> int:
        return self.pending.held

    def buffered_bytes(self) -> int:
        return self.pending.bytes

    def state_ints(self) -> int:
        return 3 * self.n


def _micros(deadline: Nanos) -> Micros:
    """Rounded up: nobody gives up too early."""
    return -(-deadline // MICROSECOND)


def size(packet: Data, own: None) -> ControlSize:
    n = len(packet.vector)
    return ControlSize(ints=2 * n + 1, units=n)


ALGORITHM = Algorithm(
    name="tdca",
    title="Deadline-constrained causal order without repair",
    paper="Rodrigues et al. 2000",
    roles={Role.PROCESS: Process},
    packets=(Data,),
    size=size,
    well_formed=lambda packet, own, n: len(packet.vector) == len(packet.ends) == n,
    guarantee=Guarantee.DEADLINE,
    uses_deadlines=True,
    needs_reliable=False,
    broadcast_only=True,
)
