"""The messages that a station keeps for hosts that may come, until their Delete (PRS 9.1).

Messages of each station are numbered, from 0. A station can say of each number that it has the
message, that the message was deleted, or that it has heard nothing; wires are not FIFO, so a
Delete may overtake its message, and Deletes one another. This file knows neither hosts nor packets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from testbed.core.model import NodeId

K = TypeVar("K")


class Storage(Generic[K]):
    """What one station has of the messages of all stations."""

    def __init__(self, stations: Iterable[NodeId]) -> None:
        self.kept: dict[NodeId, dict[int, K]] = {init: {} for init in stations}
        # Deleted are all numbers below `floor`, and tombstones where a Delete came out of turn.
        self.floor = dict.fromkeys(self.kept, 0)
        self.tombstones: dict[NodeId, set[int]] = {init: set() for init in self.kept}

    def keep(self, init: NodeId, seq: int, what: K) -> bool:
        """Whether this is new: not here yet, and its Delete has not overtaken it."""
        if self.is_deleted(init, seq) or seq in self.kept[init]:
            return False
        self.kept[init][seq] = what
        return True

    def delete(self, init: NodeId, seq: int) -> K | None:
        """Forget a message, but not that it was deleted."""
        if not self.is_deleted(init, seq):
            tombstones = self.tombstones[init]
            tombstones.add(seq)
            while self.floor[init] in tombstones:
                tombstones.remove(self.floor[init])
                self.floor[init] += 1
        return self.kept[init].pop(seq, None)

    def is_deleted(self, init: NodeId, seq: int) -> bool:
        return seq < self.floor[init] or seq in self.tombstones[init]

    def get(self, init: NodeId, seq: int) -> K | None:
        return self.kept[init].get(seq)

    def __len__(self) -> int:
        return sum(map(len, self.kept.values()))
