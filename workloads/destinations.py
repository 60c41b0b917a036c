"""Whom a message goes to: one uniform stream in, one sorted destination set out."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from testbed.core.model import NodeId


class Uniform(msgspec.Struct, frozen=True, tag="uniform"):
    """A multicast goes to between `low` and `high` nodes, each number and each set as likely."""

    low: int = 1
    high: int | None = None
    """None: as many as there are."""
    itself: bool = False
    """Whether the sender may be among the destinations."""

    def choose(self, sender: NodeId, n: int, draws: Iterator[float]) -> tuple[NodeId, ...]:
        candidates = [node for node in range(n) if self.itself or node != sender]
        high = min(self.high or n, len(candidates))
        low = min(self.low, high)
        return pick(candidates, low + int(next(draws) * (high - low + 1)), draws)


class All(msgspec.Struct, frozen=True, tag="all"):
    """Every other node, or every node."""

    itself: bool = False

    def choose(self, sender: NodeId, n: int, draws: Iterator[float]) -> tuple[NodeId, ...]:
        return tuple(node for node in range(n) if self.itself or node != sender)


class Selective(msgspec.Struct, frozen=True, tag="selective"):
    """PRS section 7.2: with probability `same`, only nodes of the sender's parity, if any."""

    same: float
    low: int = 1
    high: int | None = None

    def choose(self, sender: NodeId, n: int, draws: Iterator[float]) -> tuple[NodeId, ...]:
        candidates = [node for node in range(n) if node != sender]
        if next(draws) < self.same:  # alone of its parity in a small system: anybody
            candidates = [c for c in candidates if c % 2 == sender % 2] or candidates
        high = min(self.high or n, len(candidates))
        low = min(self.low, high)
        return pick(candidates, low + int(next(draws) * (high - low + 1)), draws)


Destinations = Uniform | All | Selective


def pick(candidates: list[NodeId], count: int, draws: Iterator[float]) -> tuple[NodeId, ...]:
    """`count` of the candidates, each subset as likely (a partial shuffle), sorted."""
    pool = candidates.copy()
    for i in range(min(count, len(pool))):
        j = i + int(next(draws) * (len(pool) - i))
        pool[i], pool[j] = pool[j], pool[i]
    return tuple(sorted(pool[:count]))
