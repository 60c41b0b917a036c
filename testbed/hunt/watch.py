"""The oracle of a hunt among mobile hosts: it also counts hand-offs, and notes when things happen.

What it counts shows that a schedule put hand-offs to the test; what it notes lets the generator aim
the next schedule's moves and sends at exactly these moments.
"""

from __future__ import annotations

from typing import NamedTuple

from testbed.core.model import MessageId, Nanos, NodeId
from testbed.trace.oracle import Oracle
from testbed.trace.schema import Event


class Moment(NamedTuple):
    """Something happened to a message of a host or for it, or to the host itself."""

    time: Nanos
    host: NodeId
    is_delivery: bool


class Watch(Oracle):
    """An oracle that looks at hosts, too."""

    def __init__(self, n: int, *, notes: bool = False) -> None:
        super().__init__(range(n))
        self.handoffs = 0
        self.busy_handoffs = 0
        self.moments: list[Moment] = []
        self.waivers: list[tuple[NodeId, MessageId]] = []
        self._notes = notes

    def moved(self, node: NodeId, event: Event, peer: NodeId, time: Nanos) -> None:
        super().moved(node, event, peer, time)
        if event is Event.HANDOFF_BEGIN:
            self.handoffs += 1
            self.busy_handoffs += self._is_busy(peer)
        if self._notes and event in (Event.HANDOFF_BEGIN, Event.HANDOFF_END):
            self.moments.append(Moment(time, peer, is_delivery=False))

    def receive(self, node: NodeId, message: MessageId, time: Nanos) -> None:
        super().receive(node, message, time)
        if self._notes:
            hosts = self.destinations(message) if node != message[0] else ()
            self.moments += [Moment(time, host, is_delivery=False) for host in sorted(hosts)]

    def waive(self, node: NodeId, message: MessageId) -> None:
        super().waive(node, message)
        self.waivers.append((node, message))

    def deliver(
        self, node: NodeId, message: MessageId, time: Nanos, clock: Nanos | None = None
    ) -> None:
        super().deliver(node, message, time, clock)
        if self._notes:
            self.moments.append(Moment(time, node, is_delivery=True))

    def _is_busy(self, host: NodeId) -> bool:
        """Whether a message of this host or for it has been sent and is not delivered."""
        return any(
            any(to == host or message[0] == host for to in self.missing(message))
            for message in self.messages()
        )
