"""Messages given up because their host was disconnected, and whether that can have been true.

A waiver needs an absence: the host disconnected, and whoever gave the message up need not know
that it is back. A station learns that a host is back before it takes anything from it, so nobody
may give up a message that depends on one the host has sent since.
"""

from __future__ import annotations

from testbed.core.model import MessageId, NodeId


class Waivers:
    """What was given up for whom, and who was away."""

    def __init__(self) -> None:
        self._given_up: dict[tuple[NodeId, MessageId], None] = {}
        # How much a host had sent when it last came back from a disconnection; None: it is away.
        self._sent_before_return: dict[NodeId, int | None] = {}

    def give_up(self, node: NodeId, message: MessageId) -> None:
        self._given_up[node, message] = None

    def part(self, host: NodeId) -> None:
        """The host disconnects."""
        self._sent_before_return[host] = None

    def come_back(self, host: NodeId, sent: int) -> None:
        """The host is back, and has sent so many messages so far."""
        self._sent_before_return[host] = sent

    def all(self) -> list[tuple[NodeId, MessageId]]:
        return list(self._given_up)

    def remove(self, node: NodeId, message: MessageId) -> None:
        """The message is owed after all."""
        del self._given_up[node, message]

    def __contains__(self, waiver: tuple[NodeId, MessageId]) -> bool:
        return waiver in self._given_up

    def objection(self, host: NodeId, known: int) -> str | None:
        """Why a message may not be given up; `known` of the host's sends are in its past."""
        if host not in self._sent_before_return:
            return "which never disconnected"
        before = self._sent_before_return[host]
        if before is not None and known > before:
            return "which had come back: the message depends on one that it sent afterwards"
        return None
