"""Ways to read a PRS packet, and what global knowledge says must be in it. No algorithm in here."""

from __future__ import annotations

from typing import Any

from testbed.core.model import MessageId, NodeId
from tests.scene import Scene

Tuples = set[tuple[NodeId, int]]


def barrier(packet: Any) -> dict[NodeId, Tuples]:
    """CB_M: destination -> tuples, non-empty rows only."""
    return {row[0]: set(zip(row[1::2], row[2::2], strict=True)) for row in packet.rows}


def state_of(node: Any) -> dict[NodeId, Tuples]:
    """CB_i of a node, in the same form."""
    return {k: set(row.items()) for k, row in enumerate(node.cb) if row}


class Knowledge:
    """Happened-before of a scene by its definition: all sends and deliveries in the past."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._sends_known: list[set[MessageId]] = [set() for _ in range(scene.n)]
        self._deliveries_known: list[set[tuple[MessageId, NodeId]]] = [
            set() for _ in range(scene.n)
        ]
        self.sends_before: dict[MessageId, set[MessageId]] = {}
        self.deliveries_before: dict[MessageId, set[tuple[MessageId, NodeId]]] = {}

    def sent(self, message: MessageId) -> None:
        sender = message[0]
        self.sends_before[message] = set(self._sends_known[sender])
        self.deliveries_before[message] = set(self._deliveries_known[sender])
        self._sends_known[sender].add(message)

    def delivered(self, node: NodeId, messages: list[MessageId]) -> None:
        for message in messages:
            self._sends_known[node] |= self.sends_before[message] | {message}
            self._deliveries_known[node] |= self.deliveries_before[message] | {(message, node)}

    def spurious(self, message: MessageId) -> list[tuple[NodeId, MessageId]]:
        """Lemma 1: tuples (k, x) of CB_M[j] without a message of k to j sent before M."""
        return [
            (j, predecessor)
            for j, row in barrier(self._scene.packet(message)).items()
            for predecessor in row
            if predecessor not in self.sends_before[message]
            or j not in self._scene.dests_of[predecessor]
        ]

    def missing(self, message: MessageId) -> list[tuple[NodeId, MessageId]]:
        """Lemma 2: latest messages to j, not known to be delivered there, that CB_M[j] lacks."""
        carried = barrier(self._scene.packet(message))
        return [
            (j, predecessor)
            for j in range(self._scene.n)
            for predecessor in self._latest_to(j, message)
            if (predecessor, j) not in self.deliveries_before[message]
            and predecessor not in carried.get(j, set())
        ]

    def _latest_to(self, j: NodeId, message: MessageId) -> list[MessageId]:
        """Messages to j sent before M, with no other to j sent between."""
        to_j = [m for m in self.sends_before[message] if j in self._scene.dests_of[m]]
        return [m for m in to_j if not any(m in self.sends_before[between] for between in to_j)]
