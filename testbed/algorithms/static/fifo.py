"""Order per channel only: the second control.

Idea: number the messages of each channel and deliver them in that order. Order between channels
is not kept, so a chain over a third process overtakes, and the audit must catch that.
Paper: none (textbook).
Assumptions: reliable channels; they need not be FIFO.
A copy carries its number on its channel, one integer, different for each destination.
"""

from __future__ import annotations

from testbed.core.algorithm import Algorithm, ControlSize, Guarantee
from testbed.core.holdback import HoldBackQueue
from testbed.core.model import Count, Message, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Turn, View


class Data(Packet, frozen=True, tag=0):
    """The number of a copy on its channel is its own part."""


DATA = Data()


class Process(Node[Data, int]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.sent_to = [0] * self.n
        self.delivered_from = [0] * self.n
        self.queue: HoldBackQueue[Arrival[Data, int]] = HoldBackQueue(self.delivered_from)

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        for d in dests:
            self.sent_to[d] += 1
        turn.multicast(dests, DATA, message=message, own={d: self.sent_to[d] for d in dests})

    def on_received(self, arrival: Arrival[Data, int], turn: Turn) -> None:
        self.queue.hold(arrival, [(arrival.source, arrival.own - 1)])
        while (ready := self.queue.pop()) is not None:
            assert ready.message is not None
            turn.deliver(ready.message)
            self.delivered_from[ready.source] = ready.own
            self.queue.advanced(ready.source)

    def held(self) -> int:
        return len(self.queue)

    def state_ints(self) -> int:
        return 2 * self.n


def size(packet: Data, own: int) -> ControlSize:
    return ControlSize(ints=1, units=1)


ALGORITHM = Algorithm(
    name="fifo",
    title="FIFO per channel (control)",
    paper="none",
    roles={Role.PROCESS: Process},
    packets=(Data,),
    own=Count,
    size=size,
    well_formed=lambda packet, own, n: own is not None,
    guarantee=Guarantee.FIFO,
)
