"""Delta-causal order: all messages live equally long, so a receiver knows when to stop waiting.

Idea: the sending time of a message that has not come says when it is worthless: one lifetime later.
A message waits until each message of its causal past is delivered or worthless; since its past is
sent before it, all of it is settled before the message itself is worthless.
Paper: Baldoni, Mostefaoui, Raynal, "Causal delivery of messages with real-time data in unreliable
networks" (1996), the form for broadcasts; Baldoni, Prakash, Raynal, Singhal (1998). Reconstructed
from their abstracts and from Ahn's description; the papers themselves were not at hand.
Assumptions: one lifetime for all messages, close clocks; channels may lose, duplicate and reorder.
A packet carries a vector of n sending times, its own included, and the sending time of its sender's
message before: n + 1 integers.
Cost: O(n) per arrival.
Departures: the lifetime is read off each message (its deadline less its sending time) instead of
being agreed beforehand. Where lifetimes differ, which the papers exclude, a message takes its own
for that of its past: order and deadlines hold, but some messages are given up too early.
"""

from __future__ import annotations

from testbed.algorithms.deadline.pending import (
    FOREVER,
    MICROSECOND,
    Entry,
    Pending,
    Worthless,
    earlier,
    rearm,
)
from testbed.core.algorithm import Algorithm, ControlSize, Guarantee
from testbed.core.model import Count, Message, Nanos, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Timer, Turn, View


class Data(Packet, frozen=True, tag=0):
    """Sending times of the newest message of each process in the past."""

    vector: list[Count]
    previous: Count


class Process(Node[Data, None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.pending = Pending(self.me, self.n, view.buffer_bytes)
        self.worthless = Worthless(self.pending)
        self.armed: Nanos | None = None

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        vector, previous = self.pending.stamp(turn.now)
        others = tuple(d for d in dests if d != self.me)
        turn.multicast(others, Data(vector, previous), message=message)
        if len(others) < len(dests):
            turn.deliver(message)

    def on_received(self, arrival: Arrival[Data, None], turn: Turn) -> None:
        assert arrival.message is not None
        entry = Entry(arrival.message, arrival.packet.vector, arrival.packet.previous)
        if self.pending.admits(entry, turn):
            lifetime = entry.deadline - entry.time * MICROSECOND
            for k, time in self.pending.add(entry, turn):
                if entry.deadline < FOREVER:
                    self.worthless.note(time * MICROSECOND + lifetime, k, time)
        self._settle(turn)

    def on_timer(self, timer: Timer, turn: Turn) -> None:
        self.armed = None
        self._settle(turn)

    def _settle(self, turn: Turn) -> None:
        """Give up what cannot come in time; a message's own deadline acts where clocks disagree."""
        self.worthless.give_up(turn)
        self.pending.expire(turn)
        due = earlier(self.worthless.next_end(), self.pending.next_due())
        self.armed = rearm("deadline", self.armed, due, turn)

    def held(self) -> int:
        return self.pending.held

    def buffered_bytes(self) -> int:
        return self.pending.bytes

    def state_ints(self) -> int:
        return 2 * self.n


def size(packet: Data, own: None) -> ControlSize:
    n = len(packet.vector)
    return ControlSize(ints=n + 1, units=n)


ALGORITHM = Algorithm(
    name="delta-causal",
    title="Delta-causal broadcast: one lifetime for all messages",
    paper="Baldoni et al. 1996",
    roles={Role.PROCESS: Process},
    packets=(Data,),
    size=size,
    well_formed=lambda packet, own, n: len(packet.vector) == n,
    guarantee=Guarantee.DEADLINE,
    uses_deadlines=True,
    needs_reliable=False,
    broadcast_only=True,
)
