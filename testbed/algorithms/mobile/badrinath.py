"""Acharya and Badrinath: multicast to hosts that move, exactly once, in no order.

Idea: a host may be anywhere by the time its message comes, so every station gets a copy and keeps
it until all destinations have the message; what a host has had is a number per station.
Paper: PRS section 9, which takes it from Acharya and Badrinath 1993 and adds the causal barriers.
Assumptions: wires reliable, FIFO not needed; the air FIFO and reliable while the host is there.
A packet carries M_id = (M_init, M_seq) and the destinations; over the air a number and the stay.
Cost: n_s - 1 copies of each message, an Acknowledge for each destination (or for all at one
station, `acks=combined`), n_s - 1 Deletes; n_s integers per host, which move with it.
Departures: h_RECD also passes what is not for the host, and what is deleted. The old station does
not wait for a host's last notification, which may be lost: the host says at its registration what
it has got. What was on its way to it then is forgotten, and the new station sends its own copy
under the same number, so a host takes only what was sent to it since it registered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from testbed.algorithms.mobile import air
from testbed.algorithms.mobile.custody import Claim
from testbed.algorithms.mobile.station import Charge, HandoffBegin, Station
from testbed.algorithms.mobile.storage import Storage
from testbed.core.algorithm import Algorithm, ControlSize, Guarantee
from testbed.core.model import Count, Message, NodeId, Role
from testbed.core.node import Arrival, Packet, Turn, View


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may be set."""

    acks: Literal["single", "combined"] = "single"
    """An Acknowledge for each host, or one for all hosts of a cell (9.3)."""


class Down(Packet, frozen=True, tag=3):
    """An application message on its way to a host, in this stay of the host."""

    number: Count
    stay: Count


class Data(Packet, frozen=True, tag=11):
    """(M, M_id, destinations) to every station; M_init is the station that sends it."""

    seq: Count
    dests: list[Count]


class Acknowledge(Packet, frozen=True, tag=12):
    """Acknowledge(h), to M_init: these hosts have M."""

    seq: Count
    hosts: list[Count]


class Delete(Packet, frozen=True, tag=13):
    """Delete(M), from M_init: all its destinations have it."""

    seq: Count


class HandoffOver(Packet, frozen=True, tag=14):
    """What moves with a host, and handoff_over(h)."""

    host: Count
    up: Count
    down: Count
    h_recd: list[Count]


class Kept(NamedTuple):
    """A message as stations keep it."""

    init: NodeId
    message: Message
    packet: Any
    """Its Data: `seq`, `dests`, and whatever else the algorithm lets travel."""


class HostCharge(Charge):
    """What a station keeps for one of its hosts."""

    def __init__(self, stations: int) -> None:
        super().__init__()
        self.h_recd = [0] * stations  # every M of station j below h_recd[j] is done with
        self.intents: dict[NodeId, Kept] = {}  # by M_init: what to send as soon as it may
        self.in_air: dict[int, Kept] = {}  # by number of the frame: sent, not yet notified


class Host(air.Host):
    """A host that tells what is sent to it in this stay from what was sent before."""

    def on_received(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        if not isinstance(arrival.packet, Down):
            super().on_received(arrival, turn)
        elif arrival.source == self.station and arrival.packet.stay == self.stay:
            self.previous = arrival.source
            self._take(arrival.packet.number, arrival, turn)


class SupportStation(Station[HostCharge]):
    data: type[Packet] = Data
    over: type[Packet] = HandoffOver

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.is_combining = (view.params or Params()).acks == "combined"
        self.others = tuple(station for station in self.stations if station != self.me)
        self.m_seq = 0
        self.storage: Storage[Kept] = Storage(self.stations)
        self.unacknowledged: dict[int, set[NodeId]] = {}  # of this station's messages
        self.notified: dict[tuple[NodeId, int], tuple[Kept, list[NodeId]]] = {}  # to be combined
        self.restless: dict[NodeId, None] = {}  # hosts for which something has changed

    def _new_charge(self) -> HostCharge:
        return HostCharge(len(self.stations))

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        super().on_submitted(message, dests, turn)
        self._settle(turn)

    def on_received(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        super().on_received(arrival, turn)
        self._settle(turn)

    # --- multicast (9.1) ----------------------------------------------------------------------

    def _accept(self, origin: NodeId, dests: list[NodeId], message: Message, turn: Turn) -> None:
        packet = self._labelled(origin, dests)
        self.unacknowledged[self.m_seq] = set(dests)
        self.m_seq += 1
        if self.others:
            turn.multicast(self.others, packet, message=message)
        self._keep(Kept(self.me, message, packet))

    def _labelled(self, origin: NodeId, dests: list[NodeId]) -> Any:
        """The packet of a message that this station sends for `origin`, perhaps itself."""
        return Data(self.m_seq, dests)

    def _keep(self, kept: Kept) -> None:
        if self.storage.keep(kept.init, kept.packet.seq, kept):
            self._stir(kept.init, kept.packet.seq)

    def _stir(self, init: NodeId, seq: int) -> None:
        """Hosts that are waiting for news of this message."""
        for host, charge in self.custody.owned.items():
            if charge.h_recd[init] == seq:
                self.restless[host] = None

    def _settle(self, turn: Turn) -> None:
        """Send down, or drop, whatever may go, until nothing moves."""
        while self.restless:
            host, _ = self.restless.popitem()
            charge = self.custody.owned.get(host)
            if charge is not None:
                for init in self.stations:
                    self._look(host, charge, init)
                for init, kept in list(charge.intents.items()):
                    if self._is_deliverable(host, kept):
                        self._send(host, charge, init, turn)

    def _look(self, host: NodeId, charge: HostCharge, init: NodeId) -> None:
        """Conditions 1 and 2: the next message of this station for the host, if it is here."""
        seq = charge.h_recd[init]
        while (
            self.storage.is_deleted(init, seq)
            if (kept := self.storage.get(init, seq)) is None
            else host not in kept.packet.dests
        ):
            seq += 1
        charge.h_recd[init] = seq
        if kept is not None and kept not in charge.in_air.values():
            charge.intents[init] = kept

    def _is_deliverable(self, host: NodeId, kept: Kept) -> bool:
        """Condition 3: there is none here."""
        return True

    def _send(self, host: NodeId, charge: HostCharge, init: NodeId, turn: Turn) -> None:
        """To the host; for one that is off the air it is kept, or dropped for good."""
        if charge.is_disconnected and self.keeps:
            return
        kept = charge.intents.pop(init)
        if charge.is_disconnected:
            turn.discard(kept.message, "disconnected", host=host)
            self._dropped(host, kept)
            self._done(host, charge, kept, turn)
            return
        charge.down += 1
        charge.in_air[charge.down] = kept
        turn.send(host, self._frame(host, charge.down), message=kept.message)

    def _frame(self, host: NodeId, number: int) -> Down:
        return Down(number, self.custody.stay[host])

    # --- notification, Acknowledge, Delete (9.1) ----------------------------------------------

    def _acknowledge(self, host: NodeId, charge: HostCharge, number: int, turn: Turn) -> None:
        """The host notifies its station on the delivery of all up to this number."""
        for sent in [sent for sent in charge.in_air if sent <= number]:
            kept = charge.in_air.pop(sent)
            self._delivered(host, kept)
            self._done(host, charge, kept, turn)

    def _delivered(self, host: NodeId, kept: Kept) -> None:
        """The host has delivered this message: nothing to note here."""

    def _dropped(self, host: NodeId, kept: Kept) -> None:
        """The host will never see this message: nothing to note here."""

    def _done(self, host: NodeId, charge: HostCharge, kept: Kept, turn: Turn) -> None:
        """h_RECD_h[M_init] is incremented, and the host acknowledged, alone or with others."""
        init, seq = kept.init, kept.packet.seq
        charge.h_recd[init] = max(charge.h_recd[init], seq + 1)
        self.restless[host] = None
        if not self.is_combining:
            self._confirm(init, seq, [host], turn)
            return
        self.notified.setdefault((init, seq), (kept, []))[1].append(host)
        self._combine(kept, turn)

    def _combine(self, kept: Kept, turn: Turn) -> None:
        """One Acknowledge, when no destination in this cell lacks the message (9.3)."""
        init, seq = kept.init, kept.packet.seq
        owned = self.custody.owned
        if all(h not in owned or owned[h].h_recd[init] > seq for h in kept.packet.dests):
            _, hosts = self.notified.pop((init, seq))
            self._confirm(init, seq, hosts, turn)

    def _confirm(self, init: NodeId, seq: int, hosts: list[NodeId], turn: Turn) -> None:
        if init == self.me:
            self._acknowledged(seq, hosts, turn)
        else:
            turn.send(init, Acknowledge(seq, hosts))

    def _acknowledged(self, seq: int, hosts: list[NodeId], turn: Turn) -> None:
        """At M_init: after the last acknowledgement everybody may forget the message."""
        waiting = self.unacknowledged.get(seq, set())
        waiting.difference_update(hosts)
        if not waiting and self.unacknowledged.pop(seq, None) is not None:
            if self.others:
                turn.multicast(self.others, Delete(seq))
            self._delete(self.me, seq)

    def _delete(self, init: NodeId, seq: int) -> None:
        self.storage.delete(init, seq)
        self._stir(init, seq)

    # --- wires and hand-off (9.2) -------------------------------------------------------------

    def _on_wired(
        self, source: NodeId, packet: Packet, message: Message | None, turn: Turn
    ) -> None:
        if source not in self.storage.kept:
            return  # only stations are on the wires
        match packet:
            case Acknowledge(seq, hosts):
                self._acknowledged(seq, hosts, turn)
            case Delete(seq):
                self._delete(source, seq)
            case HandoffBegin(host, stay, received, station):
                self._on_handoff_begin(Claim(host, stay, received, station), turn)
            case _ if isinstance(packet, self.data) and message is not None:
                self._keep(Kept(source, message, packet))
            case _ if isinstance(packet, self.over):
                self._on_handoff_over(packet, turn)

    def _on_handoff_over(self, packet: Any, turn: Turn) -> None:
        charge = HostCharge(0)
        charge.up, charge.down, charge.h_recd = packet.up, packet.down, packet.h_recd
        self._welcome(packet.host, charge, turn)

    def _give(self, claim: Claim, charge: HostCharge, turn: Turn) -> None:
        """Intents, and what has not reached the host, stay behind (9.2)."""
        turn.send(claim.station, self._packed(claim, charge))
        for kept, _ in list(self.notified.values()):
            if claim.host in kept.packet.dests:
                self._combine(kept, turn)

    def _packed(self, claim: Claim, charge: HostCharge) -> Packet:
        return HandoffOver(claim.host, charge.up, claim.received, charge.h_recd)

    def _resume(self, host: NodeId, received: int, turn: Turn) -> None:
        charge = self.custody.owned[host]
        super()._resume(host, received, turn)
        for number, kept in charge.in_air.items():
            turn.send(host, self._frame(host, number), message=kept.message, again=True)
        self.restless[host] = None

    def held(self) -> int:
        return sum(len(charge.intents) for charge in self.custody.owned.values())

    def state_ints(self) -> int:
        return len(self.stations) * len(self.custody.owned)


SIZES: Mapping[type[Packet], int] = {Down: 2, Delete: 2, HandoffBegin: 4}


def size(packet: Packet, own: None) -> ControlSize:
    """M_id is two integers, wherever it travels; a set is its members and their number."""
    match packet:
        case Data(_, dests):
            return ControlSize(3 + len(dests))
        case Acknowledge(_, hosts):
            return ControlSize(2 + len(hosts))
        case HandoffOver(h_recd=h_recd):
            return ControlSize(3 + len(h_recd))
    return ControlSize(SIZES[type(packet)]) if type(packet) in SIZES else air.size(packet, own)


def is_possible(packet: Packet, n: int, stations: int) -> bool:
    """Hosts are hosts, stations are stations, and arrays have their size."""
    match packet:
        case Data(_, hosts) | Acknowledge(_, hosts):
            return are_hosts(hosts, n, stations)
        case HandoffOver(host=host, h_recd=h_recd):
            return stations <= host < n and len(h_recd) == stations
        case HandoffBegin(host=host, station=station):
            return station < stations <= host < n
        case Down() | Delete():
            return True
    return air.is_possible(packet, n, stations)


def are_hosts(nodes: list[NodeId], n: int, stations: int) -> bool:
    """A set of hosts that is not empty."""
    return bool(nodes) and min(nodes) >= stations and max(nodes) < n


AIR = (air.Register, air.Up, air.UpAck, Down, air.DownAck, air.Disconnect)

ALGORITHM = Algorithm(
    name="badrinath",
    title="Acharya-Badrinath multicast: exactly once, in no order",
    paper="PRS section 9, after Acharya and Badrinath 1993",
    roles={Role.STATION: SupportStation, Role.HOST: Host},
    packets=(*AIR, HandoffBegin, Data, Acknowledge, Delete, HandoffOver),
    bare=(*air.BARE, HandoffBegin, Acknowledge, Delete, HandoffOver),
    handoff=(HandoffBegin, HandoffOver),
    params=Params,
    size=size,
    is_possible=is_possible,
    stations_send=True,
    guarantee=Guarantee.NONE,
)
