"""Alagar, Venkatesan, algorithm 1: a matrix per host, kept at its station.

Idea: RST among the hosts, executed by the stations on their behalf, so that nothing but the
message crosses the air. At a hand-off the host's matrices and messages move with it.
Paper: AV section 4.
Assumptions: wires reliable, FIFO not needed; the air FIFO and reliable while the host is there.
A packet carries between stations the matrix of n_h*n_h integers (`control_ints` counts them, the
destinations and the sender); over the air a number and, upwards, the destinations.
Cost: n_h*n_h integers per message and per host; a hand-off is two packets, whatever moves.
Departures: as in rst.py the matrix travels with the current message counted. The numbers of the
last frames up and down move with the host, without which a repeated frame is taken twice. A
message that reaches a station after it has given its host away is passed on to where the host
went (MH_PENDING moves with the host, what is in transit cannot), and the station that sent it
is told where the host is now (`located`). What is transferred and handoff_over are one packet.
"""

from __future__ import annotations

import msgspec

from testbed.algorithms.mobile import air
from testbed.algorithms.mobile.custody import Claim, Given
from testbed.algorithms.mobile.station import Charge, HandoffBegin, Station
from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.matrix import newest_rows
from testbed.core.model import Count, Message, NodeId, Role
from testbed.core.node import Packet, Turn, View

Matrix = list[Count]
"""MH_SENT row by row: [k * n_h + l] is how many messages k has sent to l."""


class Data(Packet, frozen=True, tag=11):
    """(m, MH_SENT), to the station of the hosts `dests`."""

    sender: Count
    dests: list[Count]
    sent: Matrix


class Waiting(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A message in MH_PENDING."""

    sender: Count
    message: Message
    sent: Matrix


class HandoffOver(Packet, frozen=True, tag=12):
    """Everything that belongs to a host, and handoff_over(h)."""

    host: Count
    up: Count
    down: Count
    pend_ack: list[tuple[Count, Message]]
    pending: list[Waiting]
    deliv: list[Count]
    sent: Matrix


class Located(Packet, frozen=True, tag=13):
    """Your message for this host has been passed on; the host is there now."""

    host: Count
    station: Count
    stay: Count


class HostCharge(Charge):
    """The arrays of one host."""

    def __init__(self, n_h: int) -> None:
        super().__init__()
        self.deliv = [0] * n_h  # MH_DELIV
        self.sent = [0] * (n_h * n_h)  # MH_SENT
        self.pending: list[Waiting] = []  # MH_PENDING


class SupportStation(Station[HostCharge]):
    def __init__(self, view: View) -> None:
        self.n_h = len(view.hosts)
        super().__init__(view)
        self.first = len(view.stations)  # node of the host with index 0
        self.location = {host: (station, 0) for host, station in view.cells.items()}
        self.early: dict[NodeId, list[Waiting]] = {}  # for hosts that are awaited here

    def _new_charge(self) -> HostCharge:
        return HostCharge(self.n_h)

    # --- static module (4.1) ------------------------------------------------------------------

    def _accept(self, origin: NodeId, dests: list[NodeId], message: Message, turn: Turn) -> None:
        charge = self.custody.owned[origin]
        row = (origin - self.first) * self.n_h - self.first
        for d in dests:
            charge.sent[row + d] += 1
        waiting = Waiting(origin, message, charge.sent.copy())
        by_station: dict[NodeId, list[NodeId]] = {}
        for d in dests:
            by_station.setdefault(self._station_of(d), []).append(d)
        for station, hosts in by_station.items():
            if station == self.me:
                self._route(self.me, hosts, waiting, turn)
            else:
                turn.send(station, Data(origin, hosts, waiting.sent), message=message)

    def _station_of(self, host: NodeId) -> NodeId:
        """This station if it has the host, else where the host was last heard of."""
        return self.me if host in self.custody.owned else self.location[host][0]

    def _arrived(self, host: NodeId, waiting: Waiting, turn: Turn) -> None:
        self.custody.owned[host].pending.append(waiting)
        self._settle(host, turn)

    def _settle(self, host: NodeId, turn: Turn) -> None:
        """Transmit whatever has become deliverable, until nothing moves."""
        charge = self.custody.owned[host]
        while ready := next((w for w in charge.pending if self._is_deliverable(host, w)), None):
            charge.pending.remove(ready)
            self._send_down(host, ready.message, turn)
            charge.deliv[ready.sender - self.first] += 1
            charge.sent = newest_rows(charge.sent, ready.sent, self.n_h)

    def _is_deliverable(self, host: NodeId, waiting: Waiting) -> bool:
        """MH_DELIV[k] >= ST[k, host] for all k, the message itself not counted."""
        column = waiting.sent[host - self.first :: self.n_h]
        column[waiting.sender - self.first] -= 1
        return all(map(int.__ge__, self.custody.owned[host].deliv, column))

    # --- wires and hand-off module (4.2) ------------------------------------------------------

    def _on_wired(
        self, source: NodeId, packet: Packet, message: Message | None, turn: Turn
    ) -> None:
        match packet:
            case Data(sender, dests, sent) if message is not None:
                self._route(source, dests, Waiting(sender, message, sent), turn)
            case HandoffBegin(host, stay, received, station):
                self._on_handoff_begin(Claim(host, stay, received, station), turn)
            case HandoffOver() as over:
                self._welcome(over.host, _unpacked(over, self.n_h), turn)
            case Located(host, station, stay):
                if self.location[host][1] < stay:
                    self.location[host] = (station, stay)

    def _route(self, source: NodeId, dests: list[NodeId], waiting: Waiting, turn: Turn) -> None:
        """To hosts that are here; after those that have gone; for those on their way here later."""
        for host in dests:
            if host in self.custody.owned:
                self._arrived(host, waiting, turn)
            elif (given := self.custody.given.get(host)) is not None:
                self._follow(host, given, waiting, turn)
                if source != self.me:
                    turn.send(source, Located(host, given.station, given.stay))
            else:  # whoever sent it here knew that the host was given to this station
                self.early.setdefault(host, []).append(waiting)

    def _follow(self, host: NodeId, given: Given, waiting: Waiting, turn: Turn) -> None:
        """A message in transit reaches a station that has given the host away."""
        packet = Data(waiting.sender, [host], waiting.sent)
        turn.send(given.station, packet, message=waiting.message)

    def _give(self, claim: Claim, charge: HostCharge, turn: Turn) -> None:
        self.location[claim.host] = (claim.station, claim.stay)
        turn.send(
            claim.station,
            HandoffOver(
                claim.host, charge.up, charge.down, list(charge.pend_ack.items()),
                charge.pending, charge.deliv, charge.sent,
            ),
        )  # fmt: skip

    def _taken(self, host: NodeId, charge: HostCharge, turn: Turn) -> None:
        charge.pending += self.early.pop(host, [])
        self._settle(host, turn)

    def held(self) -> int:
        waiting = sum(len(charge.pending) for charge in self.custody.owned.values())
        return waiting + sum(map(len, self.early.values()))

    def state_ints(self) -> int:
        per_host = self.n_h * (self.n_h + 1)
        return per_host * len(self.custody.owned) + self.n_h * self.n_h * self.held()


def _unpacked(over: HandoffOver, n_h: int) -> HostCharge:
    charge = HostCharge(0)
    charge.up, charge.down = over.up, over.down
    charge.pend_ack = dict(over.pend_ack)
    charge.pending, charge.deliv, charge.sent = over.pending, over.deliv, over.sent
    return charge


def size(packet: Packet, own: None) -> ControlSize:
    match packet:
        case Data(_, dests, sent):
            return ControlSize(1 + len(dests) + len(sent), units=len(sent))
        case HandoffOver(pend_ack=pend_ack, pending=pending, deliv=deliv, sent=sent):
            units = len(deliv) + len(sent) + sum(len(waiting.sent) for waiting in pending)
            return ControlSize(3 + len(pend_ack) + len(pending) + units, units=units)
        case HandoffBegin():
            return ControlSize(4)
        case Located():
            return ControlSize(3)
    return air.size(packet, own)


def is_possible(packet: Packet, n: int, stations: int) -> bool:
    """Hosts are hosts, stations are stations, and arrays have their size."""
    n_h = n - stations
    match packet:
        case Data(sender, dests, sent):
            return _are_hosts([sender, *dests], n, stations) and len(sent) == n_h * n_h
        case HandoffOver(host=host, pending=pending, deliv=deliv, sent=sent):
            return (
                _are_hosts([host, *(waiting.sender for waiting in pending)], n, stations)
                and len(deliv) == n_h
                and all(len(s) == n_h * n_h for s in (sent, *(w.sent for w in pending)))
            )
        case HandoffBegin(host=host, station=station) | Located(host=host, station=station):
            return station < stations <= host < n
    return air.is_possible(packet, n, stations)


def _are_hosts(nodes: list[NodeId], n: int, stations: int) -> bool:
    return min(nodes) >= stations and max(nodes) < n


ALGORITHM = Algorithm(
    name="av1",
    title="Alagar-Venkatesan algorithm 1: a matrix per host at its station",
    paper="AV section 4",
    roles={Role.STATION: SupportStation, Role.HOST: air.Host},
    packets=(*air.AIR, HandoffBegin, Data, HandoffOver, Located),
    bare=(*air.BARE, HandoffBegin, HandoffOver, Located),
    handoff=(HandoffBegin, HandoffOver),
    size=size,
    is_possible=is_possible,
)
