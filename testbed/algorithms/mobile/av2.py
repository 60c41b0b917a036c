"""Alagar, Venkatesan, algorithm 2: causal order among the stations, and a careful hand-off.

Idea: RST among the stations alone. The air is FIFO, so a host that stays gets its messages in
order from its station. When a host moves, what was sent to its old station (`old`) is passed on
first; what is sent to the new one waits until nothing old can come any more (handoff_over).
Paper: AV section 5.
Assumptions: wires reliable, FIFO not needed; the air FIFO and reliable while the host is there.
A packet carries between stations the matrix of n_s*n_s integers (`control_ints` counts it, and
the hosts, stations and numbers that go with it); over the air as av1. A message to hosts of
several stations is one packet to each of them.
Cost: n_s*n_s integers per packet on the wires; a hand-off is 2*n_s + 1 packets: handoff_begin,
enable, n_s - 1 notify, n_s - 1 last, handoff_over (the one concerned tells itself for nothing).
Departures: handoff_begin goes to s_i, the old station (the print sends it to s_j, itself).
s_j broadcasts notify when it has got enable, not at the registration: then only stations that
really get the host are announced, and one after the other, so no notify is ever stale and no
`last` counts for another move; av2-printed shows what happens else. Who is asked for a host, and
what is done about requests that are overtaken, is in custody.py. The numbers of the last frames up
and down move with PEND_ACK in enable. As in rst.py the matrix travels with the packet counted.
"""

from __future__ import annotations

from testbed.algorithms.mobile import air
from testbed.algorithms.mobile.custody import Awaited, Claim
from testbed.algorithms.mobile.order import Order, Ordered, Received
from testbed.algorithms.mobile.station import Charge, Station
from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.model import Count, Message, NodeId, Role
from testbed.core.node import Arrival, Packet, Turn, View


class Data(Ordered, frozen=True, tag=11):
    """(m, MSS_SENT), for the hosts `dests` of the station it goes to."""

    dests: list[Count]


class Old(Ordered, frozen=True, tag=12):
    """A message for a host that has gone, passed on to where it went: marked old."""

    host: Count


class HandoffBegin(Ordered, frozen=True, tag=13):
    """handoff_begin(h): `station` asks for a host that has registered there."""

    host: Count
    stay: Count
    received: Count
    station: Count


class Enable(Ordered, frozen=True, tag=14):
    """enable(h, PEND_ACK), with the numbers of the last frames up and down."""

    host: Count
    up: Count
    down: Count
    pend_ack: list[tuple[Count, Message]]


class Notify(Ordered, frozen=True, tag=15):
    """notify(h, s_i, s_j): the host has moved from one to the other."""

    host: Count
    previous: Count
    station: Count


class Last(Ordered, frozen=True, tag=16):
    """last(h): the sender will send you nothing more for this host."""

    host: Count


class HandoffOver(Ordered, frozen=True, tag=17):
    """handoff_over(h): you have everything that is old."""

    host: Count


class Mss(Order):
    """One MSS of the paper: a station is one, in algorithm 3 several."""

    def __init__(self, me: int, n_s: int, location: dict[NodeId, int]) -> None:
        super().__init__(me, n_s)
        self.location = location  # of every host, as far as known here
        self.gone: dict[NodeId, int] = {}  # hosts given away, to whom; until handoff_over
        self.last: dict[NodeId, int] = {}  # how many last(h) have come for them


class Resident(Charge):
    """A host of this station."""

    def __init__(self) -> None:
        super().__init__()
        self.lane = 0  # which logical station looks after it
        self.previous = 0  # the MSS it came from
        self.queued: list[Message] = []  # not marked old, while the hand-off is not over
        self.handoff: Awaited | None = None
        """The hand-off that brought it here, while it is not over."""
        self.is_settled = True


class SupportStation(Station[Resident]):
    k = 1
    """Logical stations per station."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        n_s = self.k * len(view.stations)
        first = self.me * self.k
        location = self._first_locations(view)
        self.mss = [Mss(me, n_s, location.copy()) for me in range(first, first + self.k)]
        for host, resident in self.custody.owned.items():
            resident.lane = location[host] % self.k

    def _new_charge(self) -> Resident:
        return Resident()

    def _first_locations(self, view: View) -> dict[NodeId, int]:
        """The initial locations, known to all (5.1)."""
        return dict(view.cells)

    def _allot(self, host: NodeId) -> int:
        """The logical station that shall look after a host that enters."""
        return 0

    def on_received(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        super().on_received(arrival, turn)
        self._settle(turn)

    # --- static module (5.1) ------------------------------------------------------------------

    def _accept(self, origin: NodeId, dests: list[NodeId], message: Message, turn: Turn) -> None:
        mss = self.mss[self.custody.owned[origin].lane]
        hosts: dict[int, list[NodeId]] = {}
        for d in dests:
            hosts.setdefault(mss.location[d], []).append(d)
        here = hosts.pop(mss.me, [])
        sent = mss.count(hosts)
        for target, theirs in hosts.items():
            self._send(mss, target, Data(sent, self._lanes(mss, target), theirs), turn, message)
        self._route(mss, here, message, turn)

    def _lanes(self, mss: Mss, target: int) -> list[int]:
        return [mss.me % self.k, target % self.k] if self.k > 1 else []

    def _head(self, mss: Mss, target: int) -> tuple[list[int], list[int]]:
        """What a packet to one target begins with; it must leave now."""
        return mss.count([target]), self._lanes(mss, target)

    def _send(
        self, mss: Mss, target: int, packet: Ordered, turn: Turn, message: Message | None = None
    ) -> None:
        """One copy, its matrix counted: over a wire, unless the target is in this station."""
        station, lane = divmod(target, self.k)
        if station == self.me:
            self.mss[lane].hold(Received(mss.me, packet, message))
        else:
            turn.send(station, packet, message=message)

    def _on_wired(
        self, source: NodeId, packet: Packet, message: Message | None, turn: Turn
    ) -> None:
        if isinstance(packet, Ordered) and source in self.stations:
            start, end = packet.lanes or (0, 0)
            self.mss[end].hold(Received(source * self.k + start, packet, message))

    def _settle(self, turn: Turn) -> None:
        """Take whatever has become deliverable, until nothing moves."""
        moved = True
        while moved:
            moved = False
            for mss in self.mss:
                while (ready := mss.next()) is not None:
                    self._take(mss, ready, turn)
                    moved = True

    def _route(self, mss: Mss, hosts: list[NodeId], message: Message, turn: Turn) -> None:
        """A message that has become deliverable here, for hosts that are here or have gone."""
        for host in hosts:
            if (resident := self.custody.owned.get(host)) is not None:
                if resident.is_settled:
                    self._send_down(host, message, turn)
                else:  # not marked old: queued
                    resident.queued.append(message)
            elif (target := mss.gone.get(host)) is not None:
                self._send(mss, target, Old(*self._head(mss, target), host), turn, message)

    # --- hand-off module (5.2) ----------------------------------------------------------------

    def _take(self, mss: Mss, ready: Received, turn: Turn) -> None:
        """A packet from another MSS, in causal order."""
        source, packet, message = ready
        match packet:
            case Data(dests=dests) if message is not None:
                self._route(mss, dests, message, turn)
            case Old(host=host) if message is not None and host in self.custody.owned:
                self._send_down(host, message, turn)
            case HandoffBegin(host=host, stay=stay, received=received, station=asks):
                station, lane = divmod(asks, self.k)
                self._on_handoff_begin(Claim(host, stay, received, station, lane), turn)
            case Enable():
                self._on_enable(mss, source, packet, turn)
            case Notify(host=host, previous=previous, station=station):
                self._on_notify(mss, host, previous, station, turn)
            case Last(host=host):
                self._on_last(mss, host, turn)
            case HandoffOver(host=host):
                self._on_handoff_over(host, turn)

    def _ask(self, station: NodeId, claim: Claim, turn: Turn) -> None:
        """s_j: handoff_begin to s_i; or passed on to where the host went from here."""
        if claim.station == self.me:
            claim = claim._replace(lane=self._allot(claim.host))
        mss, target = self.mss[0], station * self.k
        asks = claim.station * self.k + claim.lane
        head = self._head(mss, target)
        packet = HandoffBegin(*head, claim.host, claim.stay, claim.received, asks)
        self._send(mss, target, packet, turn)

    def _hand_over(self, claim: Claim, turn: Turn) -> None:
        """s_i: at once, unless the hand-off that brought the host here is not over yet."""
        handoff = self.custody.owned[claim.host].handoff
        if handoff is None:
            super()._hand_over(claim, turn)
        elif handoff.claim is None or handoff.claim.stay < claim.stay:
            handoff.claim = claim

    def _give(self, claim: Claim, charge: Resident, turn: Turn) -> None:
        """s_i: enable; what comes for the host from now on is old."""
        mss, host = self.mss[charge.lane], claim.host
        target = mss.gone[host] = claim.station * self.k + claim.lane
        pend_ack = list(charge.pend_ack.items())
        head = self._head(mss, target)
        self._send(mss, target, Enable(*head, host, charge.up, charge.down, pend_ack), turn)

    def _on_enable(self, mss: Mss, source: int, enable: Enable, turn: Turn) -> None:
        """s_j: PEND_ACK goes down, notify goes out, then what the host has sent meanwhile."""
        resident = self._new_charge()
        resident.up, resident.down = enable.up, enable.down
        resident.pend_ack = dict(enable.pend_ack)
        resident.lane, resident.previous = mss.me % self.k, source
        resident.is_settled = False
        self._welcome(enable.host, resident, turn)

    def _taken(self, host: NodeId, charge: Resident, turn: Turn) -> None:
        self._notify(self.mss[charge.lane], host, charge.previous, turn)

    def _notify(self, mss: Mss, host: NodeId, previous: int, turn: Turn) -> None:
        """s_j: notify(h, s_i, s_j) to all, itself among them."""
        others = [station for station in range(mss.n_s) if station != mss.me]
        sent = mss.count(others)
        for target in others:
            packet = Notify(sent, self._lanes(mss, target), host, previous, mss.me)
            self._send(mss, target, packet, turn)
        self._on_notify(mss, host, previous, mss.me, turn)

    def _on_notify(self, mss: Mss, host: NodeId, previous: int, station: int, turn: Turn) -> None:
        """Everybody: from now on to s_j; last(h) to s_i."""
        mss.location[host] = station
        if previous == mss.me:
            self._on_last(mss, host, turn)
        else:
            self._send(mss, previous, Last(*self._head(mss, previous), host), turn)

    def _on_last(self, mss: Mss, host: NodeId, turn: Turn) -> None:
        mss.last[host] = mss.last.get(host, 0) + 1
        self._end(mss, host, turn)

    def _end(self, mss: Mss, host: NodeId, turn: Turn) -> None:
        """s_i: after last(h) from all, nothing for h is in transit to here: handoff_over."""
        if host in mss.gone and mss.last.get(host) == mss.n_s:
            del mss.last[host]
            target = mss.gone.pop(host)
            self._send(mss, target, HandoffOver(*self._head(mss, target), host), turn)

    def _finish(self, host: NodeId, waiting: Awaited, turn: Turn) -> None:
        """s_j: the host is here, but the hand-off is only over when s_i says so."""
        self.custody.owned[host].handoff = waiting

    def _on_handoff_over(self, host: NodeId, turn: Turn) -> None:
        """s_j: what was queued goes down, and whoever asks for the host now may have it."""
        resident = self.custody.owned.get(host)
        if resident is None or resident.handoff is None:
            return
        handoff, resident.handoff = resident.handoff, None
        resident.is_settled = True
        for message in resident.queued:
            self._send_down(host, message, turn)
        resident.queued.clear()
        super()._finish(host, handoff, turn)

    def held(self) -> int:
        queued = sum(len(resident.queued) for resident in self.custody.owned.values())
        return queued + sum(len(mss.pending) for mss in self.mss)

    def state_ints(self) -> int:
        return sum(mss.state_ints() for mss in self.mss)


FIELDS = {HandoffBegin: 4, Notify: 3, Old: 1, Last: 1, HandoffOver: 1}
"""Integers beside the matrix."""


def size(packet: Packet, own: None) -> ControlSize:
    if not isinstance(packet, Ordered):
        return air.size(packet, own)
    match packet:
        case Data(dests=dests):
            beside = len(dests)
        case Enable(pend_ack=pend_ack):
            beside = 3 + len(pend_ack)
        case _:
            beside = FIELDS[type(packet)]
    units = len(packet.sent)
    return ControlSize(units + len(packet.lanes) + beside, units=units)


def is_possible(packet: Packet, n: int, stations: int) -> bool:
    return is_possible_with(1, packet, n, stations)


def is_possible_with(k: int, packet: Packet, n: int, stations: int) -> bool:
    """Hosts are hosts, stations (k for each) are stations, and arrays have their size."""
    if not isinstance(packet, Ordered):
        return air.is_possible(packet, n, stations)
    n_s = k * stations
    if len(packet.sent) != n_s * n_s or not _are_lanes(packet.lanes, k):
        return False
    match packet:
        case Data(dests=dests):
            return bool(dests) and stations <= min(dests) and max(dests) < n
        case HandoffBegin(host=host, station=station):
            return stations <= host < n and station < n_s
        case Notify(host=host, previous=previous, station=station):
            return stations <= host < n and max(previous, station) < n_s
        case Enable(host=host, pend_ack=pend_ack):
            return stations <= host < n and all(message.origin < n for _, message in pend_ack)
        case Old(host=host) | Last(host=host) | HandoffOver(host=host):
            return stations <= host < n
    return False


def _are_lanes(lanes: list[int], k: int) -> bool:
    return len(lanes) == 2 and max(lanes) < k if k > 1 else not lanes


ALGORITHM = Algorithm(
    name="av2",
    title="Alagar-Venkatesan algorithm 2: a matrix of the stations",
    paper="AV section 5",
    roles={Role.STATION: SupportStation, Role.HOST: air.Host},
    packets=(*air.AIR, Data, Old, HandoffBegin, Enable, Notify, Last, HandoffOver),
    bare=(*air.BARE, HandoffBegin, Enable, Notify, Last, HandoffOver),
    handoff=(HandoffBegin, Enable, Notify, Last, HandoffOver),
    size=size,
    is_possible=is_possible,
)
