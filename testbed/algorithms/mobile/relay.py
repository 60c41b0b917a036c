"""Stations that only relay: hosts order their messages themselves, with a static algorithm aboard.

What a host's process wants to send goes up with the message, once for all destinations; the
host's station passes it on to the stations of the destinations, and those pass it down, each copy
with all its control information. Frames up and down are numbered, kept and repeated as for every
host (air.py), the host's frames move with it at a hand-off (custody.py), and what reaches a station
that has given a host away is passed on to where the host went. A station never looks into what a
message carries: this file knows no ordering.

What is dropped for a disconnected host is the payload: the control information reaches it all the
same, or every message that depends on the dropped one would wait for ever.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from testbed.algorithms.mobile import air
from testbed.algorithms.mobile.custody import Awaited, Claim
from testbed.algorithms.mobile.guest import Guest, Process, is_well_formed
from testbed.algorithms.mobile.station import Charge, HandoffBegin, Station
from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.model import Count, Message, MessageId, NodeId
from testbed.core.node import Arrival, Packet, Turn, View


class Up(air.Up, frozen=True, tag=1):
    """A message on its way from its host, and what its ordering needs."""

    control: Any


class Down(air.Down, frozen=True, tag=3):
    """A message on its way to a host, and what its ordering needs."""

    is_dropped: bool
    """The payload was dropped while the host was disconnected; its place in the order was not."""
    control: Any


class Data(Packet, frozen=True, tag=11):
    """A message on its way to the station of the hosts `dests`."""

    dests: list[Count]
    control: Any


class HandoffOver(Packet, frozen=True, tag=12):
    """Everything that belongs to a host, and handoff_over(h)."""

    host: Count
    up: Count
    down: Count
    pend_ack: list[Any]


class Located(Packet, frozen=True, tag=13):
    """Your message for this host has been passed on; the host is there now."""

    host: Count
    station: Count
    stay: Count


BARE = (*air.BARE, HandoffBegin, HandoffOver, Located)


class Packets(NamedTuple):
    """The four that carry control information, as an algorithm has given it a type."""

    up: type[Up]
    down: type[Down]
    data: type[Data]
    handoff_over: type[HandoffOver]


class Carried(NamedTuple):
    """A message and its control information."""

    message: Message
    control: Packet


class Host(air.Host):
    """A mobile host that talks to its station alone, with a process aboard that orders."""

    process: ClassVar[Process]
    packets: ClassVar[Packets]

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.guest = Guest(type(self).process, view)
        self.dropped: set[MessageId] = set()

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        self.sent += 1
        packet = self.packets.up(self.sent, list(dests), self.guest.submit(message, dests, turn))
        self.unacknowledged[self.sent] = (packet, message)
        if self.station is not None:
            turn.send(self.station, packet, message=message)

    def _deliver(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        packet, message = arrival.packet, arrival.message
        assert isinstance(packet, Down)
        assert message is not None
        if packet.is_dropped:
            self.dropped.add(message.id)
        for ready in self.guest.receive(message, packet.control, turn):
            if ready.id in self.dropped:
                self.dropped.remove(ready.id)
            else:
                turn.deliver(ready)

    def held(self) -> int:
        return self.guest.process.held()

    def state_ints(self) -> int:
        return super().state_ints() + self.guest.process.state_ints()


class HostCharge(Charge):
    """What a station keeps for a host: frames, not an order."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: dict[int, Down] = {}  # beside PEND_ACK: the same numbers


class SupportStation(Station[HostCharge]):
    """Knows where hosts are; knows no order."""

    packets: ClassVar[Packets]

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.location = {host: (station, 0) for host, station in view.cells.items()}
        self.early: dict[NodeId, list[Carried]] = {}  # for hosts that are awaited here
        self.coming: dict[MessageId, Packet] = {}  # control of what its host has just sent up

    def _new_charge(self) -> HostCharge:
        return HostCharge()

    # --- the air ------------------------------------------------------------------------------

    def on_received(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        if isinstance(arrival.packet, Up) and arrival.message is not None:
            self.coming[arrival.message.id] = arrival.packet.control
        super().on_received(arrival, turn)
        if arrival.source not in self.custody.awaited:
            self._forget_coming(arrival.source)

    def _forget_coming(self, host: NodeId) -> None:
        """What a host has sent up is accepted by now, or comes again."""
        for message in [message for message in self.coming if message[0] == host]:
            del self.coming[message]

    def _accept(self, origin: NodeId, dests: list[NodeId], message: Message, turn: Turn) -> None:
        carried = Carried(message, self.coming.pop(message.id))
        by_station: dict[NodeId, list[NodeId]] = {}
        for d in dests:
            station = self.me if d in self.custody.owned else self.location[d][0]
            by_station.setdefault(station, []).append(d)
        for station, hosts in by_station.items():
            if station == self.me:
                self._route(self.me, hosts, carried, turn)
            else:
                turn.send(station, self.packets.data(hosts, carried.control), message=message)

    def _arrived(self, host: NodeId, carried: Carried, turn: Turn) -> None:
        """To a host of this station, or to be kept for it."""
        message, control = carried
        charge = self.custody.owned[host]
        is_dropped = charge.is_disconnected and not self.keeps
        charge.frames[charge.down + 1] = self.packets.down(charge.down + 1, is_dropped, control)
        if not self._send_down(host, message, turn):
            charge.down += 1
            charge.pend_ack[charge.down] = Message(message.origin, message.number, b"")

    def _down(self, charge: HostCharge, number: int) -> Packet:
        return charge.frames[number]

    def _acknowledge(self, host: NodeId, charge: HostCharge, number: int, turn: Turn) -> None:
        super()._acknowledge(host, charge, number, turn)
        charge.frames = {sent: charge.frames[sent] for sent in charge.pend_ack}

    # --- wires --------------------------------------------------------------------------------

    def _on_wired(
        self, source: NodeId, packet: Packet, message: Message | None, turn: Turn
    ) -> None:
        match packet:
            case Data(dests, control) if message is not None:
                self._route(source, dests, Carried(message, control), turn)
            case HandoffBegin(host, stay, received, station):
                self._on_handoff_begin(Claim(host, stay, received, station), turn)
            case HandoffOver() as over:
                self._welcome(over.host, _unpacked(over), turn)
            case Located(host, station, stay):
                if self.location[host][1] < stay:
                    self.location[host] = (station, stay)

    def _route(self, source: NodeId, dests: list[NodeId], carried: Carried, turn: Turn) -> None:
        """To hosts that are here; after those that have gone; for those on their way here later."""
        for host in dests:
            if host in self.custody.owned:
                self._arrived(host, carried, turn)
            elif (given := self.custody.given.get(host)) is not None:
                packet = self.packets.data([host], carried.control)
                turn.send(given.station, packet, message=carried.message)
                if source != self.me:
                    turn.send(source, Located(host, given.station, given.stay))
            else:  # whoever sent it here knew that the host was given to this station
                self.early.setdefault(host, []).append(carried)

    def _give(self, claim: Claim, charge: HostCharge, turn: Turn) -> None:
        self.location[claim.host] = (claim.station, claim.stay)
        kept = [(message, charge.frames[sent]) for sent, message in charge.pend_ack.items()]
        over = self.packets.handoff_over(claim.host, charge.up, charge.down, kept)
        turn.send(claim.station, over)

    def _taken(self, host: NodeId, charge: HostCharge, turn: Turn) -> None:
        for carried in self.early.pop(host, []):
            self._arrived(host, carried, turn)

    def _finish(self, host: NodeId, waiting: Awaited, turn: Turn) -> None:
        self._forget_coming(host)
        super()._finish(host, waiting, turn)

    def held(self) -> int:
        return sum(map(len, self.early.values()))


def _unpacked(over: HandoffOver) -> HostCharge:
    charge = HostCharge()
    charge.up, charge.down = over.up, over.down
    charge.pend_ack = {frame.number: message for message, frame in over.pend_ack}
    charge.frames = {frame.number: frame for _, frame in over.pend_ack}
    return charge


def size(guest: Algorithm, packet: Packet) -> ControlSize:
    """The relay's own integers, and those of the control information that it carries."""
    match packet:
        case Up(dests=dests, control=control):
            return _plus(2 + len(dests), guest.size(control, None))
        case Down(control=control):
            return _plus(2, guest.size(control, None))
        case Data(dests, control):
            return _plus(len(dests), guest.size(control, None))
        case HandoffOver(pend_ack=pend_ack):
            sizes = [guest.size(frame.control, None) for _, frame in pend_ack]
            total = ControlSize(*map(sum, zip(*sizes, strict=True))) if sizes else ControlSize(0)
            return _plus(3 + 2 * len(sizes), total)
        case HandoffBegin():
            return ControlSize(4)
        case Located():
            return ControlSize(3)
    return air.size(packet, None)


def _plus(ints: int, carried: ControlSize) -> ControlSize:
    return carried._replace(ints=ints + carried.ints)


def is_possible(guest: Algorithm, packet: Packet, n: int, stations: int) -> bool:
    """Hosts are hosts, stations are stations, and control information is the guest's."""
    match packet:
        case Up(control=control) | Down(control=control):
            is_whole = is_well_formed(guest, control, n - stations)
            return is_whole and air.is_possible(packet, n, stations)
        case Data(dests, control):
            is_whole = is_well_formed(guest, control, n - stations)
            return is_whole and bool(dests) and stations <= min(dests) and max(dests) < n
        case HandoffOver(host=host, pend_ack=pend_ack):
            return stations <= host < n and all(
                stations <= message.origin < n
                and is_well_formed(guest, frame.control, n - stations)
                for message, frame in pend_ack
            )
        case HandoffBegin(host=host, station=station) | Located(host=host, station=station):
            return station < stations <= host < n
    return air.is_possible(packet, n, stations)
