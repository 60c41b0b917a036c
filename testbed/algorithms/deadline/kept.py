"""DLVD_Q: messages that a process keeps to help others, until their deadlines (Ahn, figure 8).

By sender, in sending time order, so that a solicitation costs what it asks for. This file knows
neither who asks nor how much room there is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from heapq import heappop, heappush

from testbed.algorithms.deadline.pending import Entry, Micros
from testbed.core.model import Nanos, NodeId


class Kept:
    """DLVD_Q of one process."""

    def __init__(self, n: int) -> None:
        self.bytes = 0
        self._times: list[list[Micros]] = [[] for _ in range(n)]
        self._entries: dict[tuple[NodeId, Micros], Entry] = {}
        self._deadlines: list[tuple[Nanos, NodeId, Micros]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry) -> None:
        """Keep a message; those of one sender come in the order of their sending times."""
        key = (entry.sender, entry.time)
        self._entries[key] = entry
        self._times[entry.sender].append(entry.time)
        self.bytes += len(entry.message.payload)
        heappush(self._deadlines, (entry.deadline, *key))

    def between(self, k: NodeId, after: Micros, upto: Micros) -> list[Entry]:
        """What is kept of k with a sending time behind `after` and at most `upto`."""
        times = self._times[k]
        wanted = times[bisect_right(times, after) : bisect_right(times, upto)]
        return [self._entries[k, time] for time in wanted]

    def first_deadline(self) -> Nanos | None:
        return self._deadlines[0][0] if self._deadlines else None

    def collect(self, now: Nanos) -> None:
        """GARBAGE-COLLECT: forget what is worthless."""
        while self._deadlines and self._deadlines[0][0] <= now:
            self.forget_first()

    def forget_first(self) -> None:
        """Forget the message whose deadline comes first."""
        _, k, time = heappop(self._deadlines)
        times = self._times[k]
        del times[bisect_left(times, time)]
        self.bytes -= len(self._entries.pop((k, time)).message.payload)
