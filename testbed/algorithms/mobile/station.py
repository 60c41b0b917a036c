"""What every station does, whatever orders its messages: registrations, frames up, frames down.

A station keeps a charge for each host that it looks after; an algorithm puts its own state into a
subclass of Charge and its own steps into the hooks at the end. Frames to a host are numbered and
kept until the host acknowledges them (PEND_ACK, AV 4.1); frames from a host are accepted once, in
order of their number. Both numbers move with the host. This file knows no ordering.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from testbed.algorithms.mobile.air import Disconnect, Down, DownAck, Register, Up, UpAck
from testbed.algorithms.mobile.custody import Answer, Awaited, Claim, Custody
from testbed.core.model import Count, Message, NodeId
from testbed.core.node import Arrival, Node, Packet, Turn, View


class HandoffBegin(Packet, frozen=True, tag=10):
    """handoff_begin(h): `station` asks for a host that has registered there."""

    host: Count
    stay: Count
    received: Count
    station: Count


class Charge:
    """What a station keeps for one of its hosts."""

    def __init__(self) -> None:
        self.up = 0  # the last frame accepted from the host
        self.down = 0  # the last frame sent to the host
        self.pend_ack: dict[int, Message] = {}  # PEND_ACK: not yet acknowledged, by number
        self.is_disconnected = False


C = TypeVar("C", bound=Charge)


class Station(Node[Packet, None], Generic[C]):
    """The common part of a mobile support station."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.stations = view.stations
        self.hosts = view.hosts
        self.keeps = view.keeps
        mine = [host for host in view.hosts if view.cells[host] == view.me]
        self.custody: Custody[C] = Custody(self.me, {host: self._new_charge() for host in mine})

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        """The application at the station itself sends."""
        self._accept(self.me, list(dests), message, turn)

    def on_received(self, arrival: Arrival[Packet, None], turn: Turn) -> None:
        source, message = arrival.source, arrival.message
        match arrival.packet:
            case Register() as register:
                self._on_register(source, register, turn)
            case Up(number, dests) if message is not None:
                self._on_up(source, number, dests, message, turn)
            case DownAck(number):
                self._on_down_ack(source, number, turn)
            case Disconnect(stay):
                self._on_disconnect(source, stay)
            case packet:
                self._on_wired(source, packet, message, turn)

    # --- the air ------------------------------------------------------------------------------

    def _on_register(self, host: NodeId, packet: Register, turn: Turn) -> None:
        if packet.stay <= self.custody.stay.get(host, -1):
            return
        claim = self.custody.register(host, packet.stay, packet.received)
        if claim is None:  # it left and came back before anybody asked for it
            self._resume(host, packet.received, turn)
            return
        turn.begin_handoff(host)
        self._ask(self.custody.ask_at(host, packet.previous), claim, turn)

    def _on_up(
        self, host: NodeId, number: int, dests: list[NodeId], message: Message, turn: Turn
    ) -> None:
        charge = self.custody.owned.get(host)
        if charge is None:
            if host in self.custody.awaited:
                self.custody.awaited[host].frames.append((number, dests, message))
            return  # what reaches a station that has given the host away is sent again elsewhere
        charge.is_disconnected = False  # who sends is back, registered or not
        if number == charge.up + 1:
            charge.up = number
            turn.send(host, UpAck(number))
            self._accept(host, dests, message, turn)
        elif number <= charge.up:
            turn.discard(message, "duplicate")
            turn.send(host, UpAck(charge.up))

    def _on_down_ack(self, host: NodeId, number: int, turn: Turn) -> None:
        charge = self.custody.owned.get(host)
        if charge is not None:
            self._acknowledge(host, charge, number, turn)

    def _acknowledge(self, host: NodeId, charge: C, number: int, turn: Turn) -> None:
        """The host has everything up to this number."""
        for sent in [sent for sent in charge.pend_ack if sent <= number]:
            del charge.pend_ack[sent]

    def _on_disconnect(self, host: NodeId, stay: int) -> None:
        if self.custody.stay.get(host) != stay:
            return
        if host in self.custody.owned:
            self.custody.owned[host].is_disconnected = True
        elif host in self.custody.awaited:
            self.custody.awaited[host].is_disconnected = True

    def _send_down(self, host: NodeId, message: Message, turn: Turn) -> bool:
        """To a host of this station; whether it is on its way, or kept for later."""
        charge = self.custody.owned[host]
        if charge.is_disconnected and not self.keeps:
            turn.discard(message, "disconnected", host=host)
            return False
        charge.down += 1
        charge.pend_ack[charge.down] = message
        if not charge.is_disconnected:
            turn.send(host, self._down(charge, charge.down), message=message)
        return True

    def _down(self, charge: C, number: int) -> Packet:
        """The frame of this number; an algorithm may put more into it."""
        return Down(number)

    def _resume(self, host: NodeId, received: int, turn: Turn) -> None:
        """The host is here, and owned: say so, and send what it has not got."""
        charge = self.custody.owned[host]
        charge.is_disconnected = False
        self._acknowledge(host, charge, received, turn)
        turn.send(host, UpAck(charge.up))
        for number, message in charge.pend_ack.items():
            turn.send(host, self._down(charge, number), message=message, again=True)

    # --- hand-off -----------------------------------------------------------------------------

    def _on_handoff_begin(self, claim: Claim, turn: Turn) -> None:
        match self.custody.claimed(claim):
            case Answer.GIVE:
                self._hand_over(claim, turn)
            case Answer.PASS_ON:
                self._ask(self.custody.given[claim.host].station, claim, turn)
            case Answer.WAIT | Answer.FORGET:
                pass

    def _hand_over(self, claim: Claim, turn: Turn) -> None:
        """The host is at another station: prepare what it needs there, and let it go."""
        charge = self.custody.owned[claim.host]
        self._acknowledge(claim.host, charge, claim.received, turn)
        self._give(claim, self.custody.give(claim), turn)

    def _welcome(self, host: NodeId, charge: C, turn: Turn) -> None:
        """The host's charge has come: go on where the last station ended."""
        waiting = self.custody.take(host, charge)
        if waiting is None:
            return
        self._resume(host, waiting.received, turn)
        charge.is_disconnected = waiting.is_disconnected
        self._taken(host, charge, turn)
        for number, dests, message in waiting.frames:
            self._on_up(host, number, dests, message, turn)
        self._finish(host, waiting, turn)

    def _finish(self, host: NodeId, waiting: Awaited, turn: Turn) -> None:
        """The hand-off is over; a request that came meanwhile is next."""
        turn.end_handoff(host)
        if waiting.claim is not None:
            self._on_handoff_begin(waiting.claim, turn)

    # --- what an algorithm adds ---------------------------------------------------------------

    @abstractmethod
    def _new_charge(self) -> C:
        """The charge of a host at the start."""

    @abstractmethod
    def _accept(self, origin: NodeId, dests: list[NodeId], message: Message, turn: Turn) -> None:
        """A host of this station, or the station itself, sends a message."""

    @abstractmethod
    def _on_wired(
        self, source: NodeId, packet: Packet, message: Message | None, turn: Turn
    ) -> None:
        """A packet from another station."""

    @abstractmethod
    def _give(self, claim: Claim, charge: C, turn: Turn) -> None:
        """Send the charge to the station that asked."""

    def _ask(self, station: NodeId, claim: Claim, turn: Turn) -> None:
        turn.send(station, HandoffBegin(claim.host, claim.stay, claim.received, claim.station))

    def _taken(self, host: NodeId, charge: C, turn: Turn) -> None:
        """The host is owned now, and has been sent what it lacked."""
