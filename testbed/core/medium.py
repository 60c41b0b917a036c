"""A shared LAN (Ahn section 5): nodes on a grid, one medium that all of them queue for.

Every sender must work out the same queue without hearing of the others, live as in virtual time.
It can, because traffic is open loop: who sends how much when is known before the run. So the medium
serves what the application offers, first come first served, one transmission per multicast, and any
sender replays that queue. What an algorithm sends beyond it (solicitations, replies, heartbeats,
retransmissions) waits its turn behind what is queued, and behind what the same node sent before; it
does not delay others, since they cannot know of it. What it leaves out makes the medium a little
faster than a real one, for the algorithm that talks most.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from math import isqrt

import msgspec

from testbed.core.model import Nanos, NodeId, Submission
from testbed.core.world import FOREVER

NANOS_PER_SECOND = 1_000_000_000


class Lan(msgspec.Struct, frozen=True, kw_only=True):
    """The grid and what its medium can do."""

    bits_per_second: float
    hop: Nanos = 0
    """Propagation between neighbours; in proportion to distance between others."""
    columns: int | None = None
    """Nodes in one row; None: as near to a square as it goes."""

    def distance(self, one: NodeId, other: NodeId, n: int) -> int:
        """Hops between neighbours on the grid."""
        columns = self.columns or isqrt(n - 1) + 1
        (row, column), (down, across) = divmod(one, columns), divmod(other, columns)
        return abs(row - down) + abs(column - across)

    def transmission(self, size: int) -> Nanos:
        """How long so many bytes occupy the medium."""
        return int(size * 8 * NANOS_PER_SECOND / self.bits_per_second)


class Medium:
    """The queue for the medium as one actor, or the virtual engine, replays it."""

    def __init__(
        self, lan: Lan, n: int, offered: Iterator[Submission], ends: Mapping[NodeId, Nanos]
    ) -> None:
        """`offered` is all that the application sends; nodes send nothing after their end."""
        self.lan = lan
        self._n = n
        self._offered = offered
        self._next = next(offered, None)
        self._ends = ends
        self._busy_until: Nanos = 0
        self._own: defaultdict[NodeId, deque[Nanos]] = defaultdict(deque)
        self._own_until: dict[NodeId, Nanos] = {}
        self._last: dict[NodeId, tuple[Nanos, int, int, Nanos]] = {}

    def travel(self, source: NodeId, target: NodeId, size: int) -> Nanos:
        """From the end of a transmission until it is through to a node so far away.

        Bandwidth falls in proportion to distance: each hop beyond the first sends it again.
        """
        hops = self.lan.distance(source, target, self._n)
        return hops * self.lan.hop + max(0, hops - 1) * self.lan.transmission(size)

    def departure(self, source: NodeId, target: NodeId, now: Nanos, size: int) -> Nanos | None:
        """When the medium has sent this; None: the sender was gone by then.

        Copies of one size that one node sends to several at one time are one transmission.
        """
        bit = 1 << target
        then, bytes_then, targets, departure = self._last.get(source, (-1, -1, 0, 0))
        if then == now and bytes_then == size and not targets & bit:
            targets |= bit
        else:
            departure, targets = self._transmit(source, now, size), bit
        self._last[source] = (now, size, targets, departure)
        return departure if departure <= self._ends.get(source, FOREVER) else None

    def _transmit(self, source: NodeId, now: Nanos, size: int) -> Nanos:
        self._serve(now)
        mine = self._own[source]
        if mine:  # what the application has just asked for has its place in the queue
            departure = max(now, mine.popleft())
        else:
            waits_for = max(now, self._busy_until, self._own_until.get(source, 0))
            departure = waits_for + self.lan.transmission(size)
        self._own_until[source] = max(departure, self._own_until.get(source, 0))
        return departure

    def _serve(self, now: Nanos) -> None:
        """Everything that the application has offered by now, into the queue."""
        while (sent := self._next) is not None and sent.time <= now:
            self._next = next(self._offered, None)
            if sent.time >= self._ends.get(sent.node, FOREVER):
                continue
            begun = max(sent.time, self._busy_until)
            self._busy_until = begun + self.lan.transmission(sent.payload_bytes)
            self._own[sent.node].append(self._busy_until)
