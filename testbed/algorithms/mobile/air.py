"""The host's end of the air, the same for all algorithms that run on stations.

A host numbers what it sends up, keeps it until its station has accepted it, and sends it again
wherever it registers next (AV 4.2). It takes what comes down in order of its number, once, and
says how far it has got when it registers: that, and nothing else, tells a new station which of the
frames that were in the air when the host left have reached it.
"""

from __future__ import annotations

from testbed.core.algorithm import ControlSize
from testbed.core.model import Count, Message, NodeId
from testbed.core.node import Arrival, Node, Packet, Turn, View


class Register(Packet, frozen=True, tag=0):
    """register(h, previous): I am in your cell."""

    stay: Count
    """How-manieth cell this is for the host: tells registrations apart, whatever their order."""
    previous: Count
    """The last station that is known to have looked after the host."""
    received: Count
    """Number of the last frame from a station that has reached the host."""


class Up(Packet, frozen=True, tag=1):
    """An application message on its way from the host that sends it."""

    number: Count
    dests: list[Count]


class UpAck(Packet, frozen=True, tag=2):
    """The station has accepted everything up to this number; it will not be sent again."""

    number: Count


class Down(Packet, frozen=True, tag=3):
    """An application message on its way to a host."""

    number: Count


class DownAck(Packet, frozen=True, tag=4):
    """The host has delivered everything up to this number."""

    number: Count


class Disconnect(Packet, frozen=True, tag=5):
    """disconnect: the host will be off the air until it registers again."""

    stay: Count


AIR = (Register, Up, UpAck, Down, DownAck, Disconnect)
"""Tags 0 to 9 belong to the air; those of the wires begin at 10."""
BARE = (Register, UpAck, DownAck, Disconnect)
SIZES = {Register: 3, UpAck: 1, Down: 1, DownAck: 1, Disconnect: 1}


class Host(Node[Packet, None]):
    """A mobile host: it sends, delivers and moves; all ordering is its station's."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.station: NodeId | None = view.cells[view.me]
        self.previous: NodeId = view.cells[view.me]
        self.stay = 0
        self.sent = 0
        self.received = 0
        self.unacknowledged: dict[int, tuple[Packet, Message]] = {}

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        self.sent += 1
        packet = self._packet(message, dests)
        self.unacknowledged[self.sent] = (packet, message)
        if self.station is not None:
            turn.send(self.station, packet, message=message)

    def _packet(self, message: Message, dests: tuple[NodeId, ...]) -> Packet:
        return Up(self.sent, list(dests))

    def on_entered(self, station: NodeId, turn: Turn) -> None:
        self.station = station
        self.stay += 1
        turn.send(station, Register(self.stay, self.previous, self.received))
        for packet, message in self.unacknowledged.values():  # AV 4.2: h retransmits
            turn.send(station, packet, message=message, again=True)

    def on_left(self, turn: Turn) -> None:
        self.station = None

    def on_disconnecting(self, turn: Turn) -> None:
        if self.station is not None:
            turn.send(self.station, Disconnect(self.stay))

    def on_received(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        if arrival.source != self.station:
            return
        self.previous = arrival.source  # only a station that looks after the host answers it
        match arrival.packet:
            case UpAck(number):
                for sent in [sent for sent in self.unacknowledged if sent <= number]:
                    del self.unacknowledged[sent]
            case Down(number):
                self._take(number, arrival, turn)

    def _take(self, number: int, arrival: Arrival[Packet, None], turn: Turn) -> None:
        """The next one is delivered; one beyond it will come again, when the station knows more."""
        assert arrival.message is not None
        if number == self.received + 1:
            self.received = number
            self._deliver(arrival, turn)
        elif number <= self.received:
            turn.discard(arrival.message, "duplicate")
        else:
            return
        turn.send(arrival.source, DownAck(self.received))

    def _deliver(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        assert arrival.message is not None
        turn.deliver(arrival.message)

    def state_ints(self) -> int:
        return 4


def size(packet: Packet, own: None) -> ControlSize:
    """Integers of a packet of the air."""
    if isinstance(packet, Up):
        return ControlSize(2 + len(packet.dests))
    return ControlSize(SIZES[type(packet)])


def is_possible(packet: Packet, n: int, stations: int) -> bool:
    """Whether the nodes that a packet of the air names exist."""
    if isinstance(packet, Up):
        return bool(packet.dests) and stations <= min(packet.dests) and max(packet.dests) < n
    return packet.previous < stations if isinstance(packet, Register) else True
