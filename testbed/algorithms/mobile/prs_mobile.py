"""Prakash, Raynal, Singhal for mobile hosts: causal barriers upon exactly-once multicast.

Idea: stations keep each host's causal barrier and execute PRS 5.2 on its behalf; messages travel
as in badrinath.py, to every station, so that a host finds its messages wherever it goes.
Paper: PRS section 9 (the barrier: section 5.2).
Assumptions: wires reliable, FIFO not needed; the air FIFO and reliable while the host is there;
the sender is no destination (5.1), and destinations are hosts, while stations may send.
A packet carries between stations M_id, sender, sent_M, the destinations and the non-empty rows of
the barrier; over the air the number of its frame, upwards that of the last one delivered besides,
downwards the stay. `control_units` counts the tuples of barriers.
Cost: as badrinath, and at most n_h*n tuples per message; with a host move its barrier, its h_RECD
of n_s integers and what it knows to be delivered, Delivered.
Departures: those of badrinath.py. Delivered is kept and moved by its non-zero rows. A message
that is dropped for a disconnected host counts as delivered there (else all that follows it would
wait for ever), but not as a predecessor of what the host sends. A notification may be lost where
a message behind it is not (the host leaves its cell and is back before it knows), so a message says
itself what its host has delivered before.
"""

from __future__ import annotations

from typing import Any

from testbed.algorithms.mobile import air, badrinath
from testbed.algorithms.mobile.badrinath import (
    Acknowledge,
    Delete,
    HostCharge,
    Kept,
    Params,
    are_hosts,
)
from testbed.algorithms.mobile.barrier import Past, Rows, are_rows, from_wire, to_wire
from testbed.algorithms.mobile.custody import Claim
from testbed.algorithms.mobile.station import HandoffBegin
from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.model import Count, Message, NodeId, Role
from testbed.core.node import Arrival, Packet, Turn, View


class Up(air.Up, frozen=True, tag=1):
    """An application message on its way from its host, and what the host had delivered before."""

    received: Count


class Data(Packet, frozen=True, tag=11):
    """(M, M_id, sender, sent_M, destinations, CB_M) to every station."""

    seq: Count
    dests: list[Count]
    sender: Count
    number: Count
    rows: Rows


class HandoffOver(Packet, frozen=True, tag=14):
    """What moves with a host, and handoff_over(h)."""

    host: Count
    up: Count
    down: Count
    h_recd: list[Count]
    sent: Count
    rows: Rows
    delivered: Rows


class Host(badrinath.Host):
    """A host that says with each message which deliveries it follows."""

    def _packet(self, message: Message, dests: tuple[NodeId, ...]) -> Packet:
        return Up(self.sent, list(dests), self.received)


class SupportStation(badrinath.SupportStation):
    data = Data
    over = HandoffOver

    def __init__(self, view: View) -> None:
        super().__init__(view)
        # Of the hosts that this station looks after, and of the application at the station itself.
        self.pasts = {node: Past(node) for node in (self.me, *self.custody.owned)}

    def on_received(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        charge = self.custody.owned.get(arrival.source)
        if charge is not None and isinstance(arrival.packet, Up):
            self._acknowledge(arrival.source, charge, arrival.packet.received, turn)
        super().on_received(arrival, turn)

    def _labelled(self, origin: NodeId, dests: list[NodeId]) -> Data:
        number, rows = self.pasts[origin].send(dests)
        return Data(self.m_seq, dests, origin, number, rows)

    def _is_deliverable(self, host: NodeId, kept: Kept) -> bool:
        """Condition 3: the delivery constraints of M, with respect to h, are satisfied."""
        return self.pasts[host].is_satisfied(kept.packet.rows)

    def _delivered(self, host: NodeId, kept: Kept) -> None:
        """CB_h is updated at the host's notification, not before (9.1)."""
        packet = kept.packet
        self.pasts[host].deliver(packet.sender, packet.number, packet.dests, packet.rows)

    def _dropped(self, host: NodeId, kept: Kept) -> None:
        self.pasts[host].drop(kept.packet.sender, kept.packet.number)

    def _packed(self, claim: Claim, charge: HostCharge) -> HandoffOver:
        past = self.pasts.pop(claim.host)
        return HandoffOver(
            claim.host, charge.up, claim.received, charge.h_recd,
            past.sent, to_wire(past.cb), to_wire(past.delivered),
        )  # fmt: skip

    def _on_handoff_over(self, packet: Any, turn: Turn) -> None:
        if packet.host in self.custody.awaited:
            past = self.pasts[packet.host] = Past(packet.host)
            past.move_in(packet.sent, from_wire(packet.rows), from_wire(packet.delivered))
        super()._on_handoff_over(packet, turn)

    def state_ints(self) -> int:
        """Delivered (a row for each host), h_RECD and two integers per tuple, for each host."""
        arrays = (len(self.hosts) * self.n + len(self.stations)) * len(self.custody.owned)
        return arrays + 2 * sum(past.tuples for past in self.pasts.values())


def size(packet: Packet, own: None) -> ControlSize:
    """As badrinath; a row is its process, its length and two integers per tuple."""
    match packet:
        case Data(_, dests, _, _, rows):
            tuples = _tuples(rows)
            ints = 5 + len(dests) + 2 * len(rows) + 2 * tuples
            return ControlSize(ints, units=tuples, entries=len(rows))
        case HandoffOver(h_recd=h_recd, rows=rows, delivered=delivered):
            tuples = _tuples(rows)
            entries = len(rows) + len(delivered)
            ints = 4 + len(h_recd) + 2 * entries + 2 * (tuples + _tuples(delivered))
            return ControlSize(ints, units=tuples, entries=len(rows))
    if isinstance(packet, Up):
        return ControlSize(3 + len(packet.dests))
    return badrinath.size(packet, own)


def _tuples(rows: Rows) -> int:
    return sum(len(row) - 1 for row in rows) // 2


def is_possible(packet: Packet, n: int, stations: int) -> bool:
    """As badrinath; rows belong to hosts, and their tuples to nodes."""
    match packet:
        case Data(_, dests, sender, _, rows):
            return sender < n and are_hosts(dests, n, stations) and are_rows(rows, n, stations)
        case HandoffOver(host=host, h_recd=h_recd, rows=rows, delivered=delivered):
            return (
                stations <= host < n
                and len(h_recd) == stations
                and are_rows(rows, n, stations)
                and are_rows(delivered, n, stations)
            )
    return badrinath.is_possible(packet, n, stations)


ALGORITHM = Algorithm(
    name="prs-mobile",
    title="Prakash-Raynal-Singhal for mobile hosts: barriers kept at stations",
    paper="PRS section 9",
    roles={Role.STATION: SupportStation, Role.HOST: Host},
    packets=(
        air.Register,
        Up,
        *badrinath.AIR[2:],
        HandoffBegin,
        Data,
        Acknowledge,
        Delete,
        HandoffOver,
    ),
    bare=(*air.BARE, HandoffBegin, Acknowledge, Delete, HandoffOver),
    handoff=(HandoffBegin, HandoffOver),
    params=Params,
    size=size,
    is_possible=is_possible,
    stations_send=True,
    refuses_self="PRS section 5.1 assumes that the sender is no destination",
)
