"""No stations: hosts send to each other over the air, and order what comes themselves.

"Causal multicasting will be implemented as many causal unicasts over wireless channels" (PRS 9.3).
Where the others are is known "through some location management scheme": here the network knows. A
host that is away misses frames; the reliable link below sends them again until it is back. This
file knows no ordering.
"""

from __future__ import annotations

from typing import ClassVar

from testbed.algorithms.mobile.guest import Guest, Process
from testbed.core.model import Message, NodeId
from testbed.core.node import Arrival, Node, Packet, Turn, View


class Host(Node[Packet, None]):
    """A mobile host with a process of a static algorithm aboard."""

    process: ClassVar[Process]

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.guest = Guest(type(self).process, view)

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        turn.multicast(dests, self.guest.submit(message, dests, turn), message=message)

    def on_received(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        assert arrival.message is not None
        for message in self.guest.receive(arrival.message, arrival.packet, turn):
            turn.deliver(message)

    def on_entered(self, station: NodeId, turn: Turn) -> None:
        """The link below finds out by itself who is within reach."""

    def on_left(self, turn: Turn) -> None:
        """As above."""

    def on_disconnecting(self, turn: Turn) -> None:
        """There is nobody to tell: the others find out."""

    def held(self) -> int:
        return self.guest.process.held()

    def state_ints(self) -> int:
        return self.guest.process.state_ints()
