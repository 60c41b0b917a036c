"""A static algorithm aboard a mobile host: its process k is the host with index k.

The guest knows processes 0 to n_h-1 and nothing of stations, cells or the air. Whoever carries its
packets, other hosts or stations, asks it what to send and tells it what has come.
"""

from __future__ import annotations

from typing import Any

from testbed.core.algorithm import Algorithm
from testbed.core.model import Message, NodeId
from testbed.core.node import Arrival, Deliver, Node, Packet, Transmit, Turn, View

Process = type[Node[Any, Any]]


class Guest:
    """One process of a static algorithm, seen from the host that it is aboard of."""

    def __init__(self, process: Process, view: View) -> None:
        self.first = view.hosts[0]
        hosts = tuple(range(len(view.hosts)))
        self.process = process(View(view.me - self.first, hosts, params=view.params))

    def submit(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> Packet:
        """The application sends: the packet that each destination must get."""
        inner = Turn(turn.now)
        self.process.on_submitted(message, tuple(d - self.first for d in dests), inner)
        (sent,) = inner.effects
        assert isinstance(sent, Transmit)
        assert not sent.own
        return sent.packet

    def receive(self, message: Message, packet: Packet, turn: Turn) -> list[Message]:
        """The packet of a message has come: what may be delivered now, in order."""
        inner = Turn(turn.now)
        source = message.origin - self.first
        self.process.on_received(Arrival(source, message, packet, None), inner)
        return [effect.message for effect in inner.effects if isinstance(effect, Deliver)]


def is_well_formed(algorithm: Algorithm, packet: Packet, n_h: int) -> bool:
    """Whether the static algorithm's packet can have come from a system of n_h processes."""
    return algorithm.well_formed is None or algorithm.well_formed(packet, None, n_h)
