"""Deliver on arrival: the control.

Idea: no ordering at all. The audit must catch it, or the audit is broken.
Paper: none.
Assumptions: none; what the network loses or doubles is lost or doubled.
A packet carries nothing but the message.
"""

from __future__ import annotations

from testbed.core.algorithm import Algorithm, ControlSize, Guarantee
from testbed.core.model import Message, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Turn


class Data(Packet, frozen=True, tag=0):
    """No control information."""


DATA = Data()


class Process(Node[Data, None]):
    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        turn.multicast(dests, DATA, message=message)

    def on_received(self, arrival: Arrival[Data, None], turn: Turn) -> None:
        assert arrival.message is not None
        turn.deliver(arrival.message)


def size(packet: Data, own: None) -> ControlSize:
    return ControlSize(0)


ALGORITHM = Algorithm(
    name="immediate",
    title="Deliver on arrival (control)",
    paper="none",
    roles={Role.PROCESS: Process},
    packets=(Data,),
    size=size,
    guarantee=Guarantee.NONE,
    needs_reliable=False,
)
