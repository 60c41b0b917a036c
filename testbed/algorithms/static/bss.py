"""Birman, Schiper, Stephenson: vector clocks for causal broadcast.

Idea: a broadcast carries how many broadcasts of each process its sender has delivered; it waits
until its receiver has delivered as many.
Paper: Birman, Schiper, Stephenson, "Lightweight causal and atomic group multicast" (1991), the
CBCAST protocol without groups.
Assumptions: reliable channels, every message goes to all others; FIFO is not needed.
A packet carries a vector of n integers (`control_ints` is n; the sender is the channel's).
Departure: none. A broadcast that names its sender is delivered to it at the send, as in ISIS.
"""

from __future__ import annotations

from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.holdback import HoldBackQueue
from testbed.core.model import Count, Message, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Turn, View


class Data(Packet, frozen=True, tag=0):
    """VT(m): broadcasts of each process delivered at the sender, its own send counted."""

    vector: list[Count]


class Process(Node[Data, None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.vector = [0] * self.n  # VT(p): broadcasts of each process delivered here
        self.queue: HoldBackQueue[Arrival[Data, None]] = HoldBackQueue(self.vector)

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        self.vector[self.me] += 1
        others = tuple(d for d in dests if d != self.me)
        turn.multicast(others, Data(self.vector.copy()), message=message)
        if len(others) < len(dests):
            turn.deliver(message)

    def on_received(self, arrival: Arrival[Data, None], turn: Turn) -> None:
        # Deliver when VT(m)[i] = VT(p)[i] + 1 for the sender i, and VT(m)[k] <= VT(p)[k] else.
        needs = list(enumerate(arrival.packet.vector))
        needs[arrival.source] = (arrival.source, arrival.packet.vector[arrival.source] - 1)
        self.queue.hold(arrival, needs)
        while (ready := self.queue.pop()) is not None:
            assert ready.message is not None
            turn.deliver(ready.message)
            self.vector[ready.source] = ready.packet.vector[ready.source]
            self.queue.advanced(ready.source)

    def held(self) -> int:
        return len(self.queue)

    def state_ints(self) -> int:
        return self.n


def size(packet: Data, own: None) -> ControlSize:
    n = len(packet.vector)
    return ControlSize(ints=n, units=n)


ALGORITHM = Algorithm(
    name="bss",
    title="Birman-Schiper-Stephenson causal broadcast",
    paper="BSS 1991",
    roles={Role.PROCESS: Process},
    packets=(Data,),
    size=size,
    well_formed=lambda packet, own, n: len(packet.vector) == n,
    broadcast_only=True,
)
