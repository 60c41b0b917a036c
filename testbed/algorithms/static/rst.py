"""Raynal, Schiper, Toueg: a matrix of what everybody has sent to everybody.

Idea: a message carries SENT[k, l], how many messages its sender knows of from k to l; it waits
until its receiver j has got all that column j speaks of.
Paper: GK section 2.1, AV section 3 (after Raynal, Schiper, Toueg 1991).
Assumptions: reliable channels; FIFO is not needed.
A packet carries n*n integers (`control_ints` = n*n, GK section 2.1).
Departures: the matrix travels with the current message already counted, for all its destinations,
so a receiver needs no destination set; it waits for one message less from the sender itself.
The prints count the current message after the send (GK) or at the receiver (AV), for one
destination. A message to oneself is a copy like any other and is demanded only after its arrival.
"""

from __future__ import annotations

from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.holdback import HoldBackQueue
from testbed.core.matrix import newest_rows
from testbed.core.model import Count, Message, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Turn, View


class Data(Packet, frozen=True, tag=0):
    """SENT of the sender row by row, the current message counted."""

    sent: list[Count]


class Process(Node[Data, None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.sent = [0] * (self.n * self.n)  # SENT[k, l] at index k * n + l
        self.deliv = [0] * self.n  # DELIV[k]: messages from k delivered here
        self.queue: HoldBackQueue[Arrival[Data, None]] = HoldBackQueue(self.deliv)

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        row = self.me * self.n
        for d in dests:
            self.sent[row + d] += 1
        turn.multicast(dests, Data(self.sent.copy()), message=message)

    def on_received(self, arrival: Arrival[Data, None], turn: Turn) -> None:
        # Deliver when for all k: DELIV[k] >= ST[k, me], the current message not counted.
        column = arrival.packet.sent[self.me :: self.n]
        column[arrival.source] -= 1
        self.queue.hold(arrival, enumerate(column))
        while (ready := self.queue.pop()) is not None:
            self._deliver(ready, turn)

    def _deliver(self, ready: Arrival[Data, None], turn: Turn) -> None:
        assert ready.message is not None
        turn.deliver(ready.message)
        self.deliv[ready.source] += 1
        self.sent = newest_rows(self.sent, ready.packet.sent, self.n)
        self.queue.advanced(ready.source)

    def held(self) -> int:
        return len(self.queue)

    def state_ints(self) -> int:
        return self.n * self.n


def size(packet: Data, own: None) -> ControlSize:
    return ControlSize(ints=len(packet.sent), units=len(packet.sent))


ALGORITHM = Algorithm(
    name="rst",
    title="Raynal-Schiper-Toueg matrix algorithm",
    paper="GK section 2.1, AV section 3",
    roles={Role.PROCESS: Process},
    packets=(Data,),
    size=size,
    well_formed=lambda packet, own, n: len(packet.sent) == n * n,
)
