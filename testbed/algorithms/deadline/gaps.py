"""What a process misses and knows to exist: whom it asks for it, when, and how often.

A gap is the messages of one sender with sending times behind `after` and up to `upto`, of which the
last is known to exist, since something in the queue has it in its past. Each gap has at most one
solicitation on its way; one that is not answered is repeated, with a growing wait, a bounded number
of times. This file knows who asks whom, not what arrives.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from testbed.algorithms.deadline.pending import Micros
from testbed.core.model import Nanos, NodeId

Span = tuple[NodeId, Micros, Micros]
"""A gap as it travels: sender, after, upto."""

SOLICITED_MAX = 1_000
"""Solicitations remembered; a reply to an older one was not asked for."""

GAPS_MAX = 256
"""Gaps that one solicitation names; more of them make several solicitations."""

GROWTH_MAX = 8
"""The wait for an answer grows up to this factor."""

RETRY_MIN: Nanos = 1_000_000


class Gap:
    """Messages of `sender` in (after, upto], and how the search for them stands."""

    __slots__ = ("after", "asked", "due", "revealer", "sender", "tries", "upto")

    def __init__(
        self, sender: NodeId, after: Micros, upto: Micros, revealer: NodeId, due: Nanos
    ) -> None:
        self.sender = sender
        self.after = after
        self.upto = upto
        self.revealer = revealer
        """Who sent the message that showed the gap: it must have what it refers to, or had it."""
        self.due = due
        self.asked: tuple[NodeId, ...] = ()
        """Whom it was asked of, the last of them last."""
        self.tries = 0


class Solicited:
    """One solicitation that was sent."""

    __slots__ = ("at", "is_answered", "number", "spans", "target")

    def __init__(self, number: int, target: NodeId, at: Nanos, spans: list[Span]) -> None:
        self.number = number
        self.target = target
        self.at = at
        self.spans = spans
        self.is_answered = False

    def covers(self, sender: NodeId, time: Micros) -> bool:
        return any(k == sender and after < time <= upto for k, after, upto in self.spans)


class Gaps:
    """All open gaps of one process."""

    def __init__(self, me: NodeId, n: int, *, retry: Nanos, tries: int, asks_any: bool) -> None:
        self.me = me
        self.n = n
        self.suspected: dict[NodeId, None] = {}
        self._retry = max(retry, RETRY_MIN)
        self._tries = tries
        self._asks_any = asks_any
        self._open: list[dict[Micros, Gap]] = [{} for _ in range(n)]  # by `upto`
        self._due: list[tuple[Nanos, NodeId, Micros]] = []
        self._solicited: dict[int, Solicited] = {}
        self._number = 0

    def __len__(self) -> int:
        return sum(map(len, self._open))

    def around(self, sender: NodeId, time: Micros) -> Gap | None:
        """The open gap that this message is in."""
        gaps = self._open[sender].values()
        return next((gap for gap in gaps if gap.after < time <= gap.upto), None)

    def newest_before(self, sender: NodeId, time: Micros) -> Micros:
        """Where the last open gap before this time ends; 0: there is none."""
        return max((upto for upto in self._open[sender] if upto < time), default=0)

    def open(self, gap: Gap) -> None:
        """From now on this is missed; it is asked for when it is due."""
        self._open[gap.sender][gap.upto] = gap
        heappush(self._due, (gap.due, gap.sender, gap.upto))

    def close(self, sender: NodeId, upto: Micros) -> Gap | None:
        """The last message of a gap has come, or nobody is asked for it any more."""
        return self._open[sender].pop(upto, None)

    def next_due(self) -> Nanos | None:
        """When somebody must be asked."""
        due = self._due
        while due:
            gap = self._open[due[0][1]].get(due[0][2])
            if gap is not None and gap.due == due[0][0]:
                return due[0][0]
            heappop(due)
        return None

    def solicit(self, now: Nanos, is_missed: Callable[[Gap], bool]) -> list[Solicited]:
        """The solicitations to send now, one for each member that is asked, if it is not long."""
        asked: dict[NodeId, list[Span]] = {}
        while (due := self.next_due()) is not None and due <= now:
            _, sender, upto = heappop(self._due)
            gap = self._open[sender][upto]
            target = self._target(gap) if gap.tries < self._tries and is_missed(gap) else None
            if target is None:
                self.close(sender, upto)
                continue
            gap.asked += (target,)
            self._wait(gap, now + min(1 << gap.tries, GROWTH_MAX) * self._retry)
            gap.tries += 1
            asked.setdefault(target, []).append((sender, gap.after, upto))
        return [
            self._number_it(target, now, spans[start : start + GAPS_MAX])
            for target, spans in asked.items()
            for start in range(0, len(spans), GAPS_MAX)
        ]

    def _number_it(self, target: NodeId, now: Nanos, spans: list[Span]) -> Solicited:
        self._number += 1
        solicited = self._solicited[self._number] = Solicited(self._number, target, now, spans)
        if len(self._solicited) > SOLICITED_MAX:
            del self._solicited[next(iter(self._solicited))]
        return solicited

    def answered(self, number: int, source: NodeId, now: Nanos) -> Solicited | None:
        """The solicitation that this answers; None: nobody asked this member that."""
        solicited = self._solicited.get(number)
        if solicited is None or solicited.target != source:
            return None
        if not solicited.is_answered:  # the wait follows what an answer takes
            solicited.is_answered = True
            self._retry += (2 * max(now - solicited.at, 0) - self._retry) // 8
            self._retry = max(self._retry, RETRY_MIN)
        return solicited

    def refused(self, solicited: Solicited, now: Nanos) -> None:
        """That member has nothing of it: ask the next one at once, or nobody any more."""
        for sender, _, upto in solicited.spans:
            gap = self._open[sender].get(upto)
            if gap is not None and gap.asked[-1:] == (solicited.target,):
                if self._asks_any:
                    self._wait(gap, now)
                else:
                    self.close(sender, upto)

    def turn_from(self, suspect: NodeId, now: Nanos) -> None:
        """Whoever was asked is suspected: do not wait for its answer."""
        self.suspected[suspect] = None
        if self._asks_any:
            for gaps in self._open:
                for gap in gaps.values():
                    if gap.asked[-1:] == (suspect,):
                        self._wait(gap, now)

    def _wait(self, gap: Gap, due: Nanos) -> None:
        gap.due = due
        heappush(self._due, (due, gap.sender, gap.upto))

    def _target(self, gap: Gap) -> NodeId | None:
        """Who is asked next: who showed the gap, who sent what is missing, then one by one."""
        if not self._asks_any:
            return gap.revealer
        ring = ((self.me + step) % self.n for step in range(1, self.n))
        likely = [c for c in (gap.revealer, gap.sender, *ring) if c not in self.suspected]
        able = [c for c in likely if c != self.me]
        return next((c for c in able if c not in gap.asked), able[0] if able else None)
