"""The hold-back queue: messages that wait until counters have reached what they need.

Each delivery condition of the static family has one form: for all k, counter[k] >= x_k. An item
waits on one unmet need at a time; when that counter moves it looks for its next unmet need, so a
delivery costs what it wakes, not a scan of everything that waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Generic, TypeVar

T = TypeVar("T")

Need = tuple[int, int]
"""(k, x): counter k must be at least x."""


class HoldBackQueue(Generic[T]):
    """Items in order of arrival among those that are ready."""

    def __init__(self, counters: Sequence[int]) -> None:
        """`counters` belongs to the algorithm; tell the queue by `advanced` when one moves."""
        self._counters = counters
        self._waiting: list[list[tuple[int, int, T, list[Need]]]] = [[] for _ in counters]
        self._ready: list[tuple[int, T]] = []
        self._ticket = 0
        self._held = 0

    def __len__(self) -> int:
        return self._held

    def hold(self, item: T, needs: Iterable[Need]) -> None:
        """Queue an item until all its needs are met (at once, if they are)."""
        self._ticket += 1
        self._held += 1
        counters = self._counters
        self._place(self._ticket, item, [(k, x) for k, x in needs if counters[k] < x])

    def advanced(self, k: int) -> None:
        """Counter k has grown: wake what waited for it."""
        heap, reached = self._waiting[k], self._counters[k]
        while heap and heap[0][0] <= reached:
            _, ticket, item, needs = heappop(heap)
            self._place(ticket, item, needs)

    def pop(self) -> T | None:
        """The next item whose needs are all met, or None."""
        if not self._ready:
            return None
        self._held -= 1
        return heappop(self._ready)[1]

    def _place(self, ticket: int, item: T, needs: list[Need]) -> None:
        """Behind its next unmet need, or among the ready."""
        counters = self._counters
        while needs:
            k, x = needs.pop()
            if counters[k] < x:
                heappush(self._waiting[k], (x, ticket, item, needs))
                return
        heappush(self._ready, (ticket, item))
