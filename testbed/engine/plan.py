"""A plan: one run, fully resolved. Both engines take it; nothing in it is left to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Protocol

import msgspec

from testbed.core.model import Nanos, NodeId, Role, Submission
from testbed.core.network import NetworkSpec


class Traffic(Protocol):
    """Who sends what to whom, and when: per node, and merged by time."""

    def timeline(self, node: NodeId, n: int, seed: int) -> Iterator[Submission]: ...
    def merged(self, n: int, seed: int) -> Iterator[Submission]: ...


class Stop(Protocol):
    """When sending ends."""

    def cut(self, submissions: Iterator[Submission]) -> Iterator[Submission]: ...


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one algorithm."""

    algorithm: str
    n: int
    seed: int
    network: NetworkSpec
    traffic: Traffic
    stop: Stop
    warmup: int = 0
    """Messages, in order of sending, that statistics leave out."""
    retry_after: Nanos | None = None
    """The reliable link's patience; None: no reliable link."""

    def submissions(self) -> Iterator[Submission]:
        """Every send of the run, by time."""
        return self.stop.cut(self.traffic.merged(self.n, self.seed))

    def warmup_until(self) -> Nanos:
        """When the last message of the warm-up is sent."""
        return max((sent.time for sent in islice(self.submissions(), self.warmup)), default=0)

    def outline(self) -> Outline:
        """What the engines must know before they start, found by walking the submissions once."""
        counts: Counter[NodeId] = Counter()
        copies, last = 0, 0
        for submission in self.submissions():
            counts[submission.node] += 1
            copies += len(submission.dests)
            last = submission.time
        per_node = tuple(counts[node] for node in range(self.n))
        return Outline(per_node, sum(per_node), copies, last)

    def role(self, node: NodeId) -> Role:
        return Role.PROCESS


class Outline(msgspec.Struct, frozen=True):
    """The size of a run before it is run."""

    messages_of: tuple[int, ...]
    messages: int
    copies: int
    last_send: Nanos
