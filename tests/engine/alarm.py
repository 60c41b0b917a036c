"""A little algorithm with timers, for tests of the shell: it rings back, moves, cancels, gives up.

Idea: what it does is in the payload of the message.
Paper: none.
Assumptions: none. A packet carries nothing.
"""

from __future__ import annotations

from testbed.core.algorithm import Algorithm, ControlSize, Guarantee
from testbed.core.model import Message, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Turn, View


class Note(Packet, frozen=True, tag=0):
    """Travels with a message."""


class Bell(Packet, frozen=True, tag=1):
    """Travels alone."""


class Alarm(Node[Note | Bell, None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.heard: list[str] = []

    def on_started(self, turn: Turn) -> None:
        self.heard.append(f"started at {turn.now}")

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        match len(message.payload):
            case 0:
                turn.multicast(dests, Note(), message=message)
            case 1:  # set it, then move it to later
                turn.set_timer("ring", turn.now + 10)
                turn.set_timer("ring", turn.now + 30)
            case 2:
                turn.set_timer("ring", turn.now + 10)
                turn.cancel_timer("ring")
                turn.cancel_timer("never set")
            case 3:
                turn.send(dests[0], Bell())
            case 4:
                turn.discard(message, "oversized")
            case _:
                turn.discard(message, "bad mood")

    def on_received(self, arrival: Arrival[Note | Bell, None], turn: Turn) -> None:
        if arrival.message is None:
            self.heard.append(f"bell of {arrival.source} at {turn.now}")
        else:
            turn.deliver(arrival.message)

    def on_timer(self, timer: str, turn: Turn) -> None:
        self.heard.append(f"{timer} at {turn.now}")


def size(packet: Note | Bell, own: None) -> ControlSize:
    return ControlSize(0)


ALGORITHM = Algorithm(
    name="alarm",
    title="Timers for tests",
    paper="none",
    roles={Role.PROCESS: Alarm},
    packets=(Note, Bell),
    bare=(Bell,),
    size=size,
    guarantee=Guarantee.NONE,
)
