"""Open-loop traffic: each node's sends are a timeline, a pure function of seed and node."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

import msgspec

from testbed.core.distribution import Distribution
from testbed.core.draw import stream
from testbed.core.model import Nanos, NodeId, Submission
from workloads.destinations import Destinations, pick


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """How each node sends; `rates` makes some nodes faster (PRS section 7.3)."""

    interval: Distribution
    destinations: Destinations
    multicast: float = 1.0
    """Share of messages that go to a drawn destination set; the rest go to one node."""
    payload_low: int = 256
    payload_high: int = 256
    rates: tuple[float, ...] = ()
    """Factor on node i's sending rate, cyclic in i; empty: all alike."""
    lifetime: Distribution | None = None
    """How long a message is of use after its sending; None: for ever."""

    def timeline(self, node: NodeId, n: int, seed: int) -> Iterator[Submission]:
        """What `node` sends, for ever."""
        gaps = stream(seed, b"interval", node)
        draws = stream(seed, b"destinations", node)
        sizes = stream(seed, b"payload", node)
        lives = stream(seed, b"lifetime", node)
        rate = self.rates[node % len(self.rates)] if self.rates else 1.0
        others = [other for other in range(n) if other != node]
        time: Nanos = 0
        while True:
            time += int(self.interval.at(next(gaps)) / rate)
            if self.multicast == 1.0 or next(draws) < self.multicast:
                dests = self.destinations.choose(node, n, draws)
            else:
                dests = pick(others, 1, draws)
            span = self.payload_high - self.payload_low + 1
            size = self.payload_low + int(next(sizes) * span)
            lifetime = None if self.lifetime is None else max(1, self.lifetime.at(next(lives)))
            yield Submission(time, node, dests, size, lifetime)

    def merged(self, n: int, seed: int) -> Iterator[Submission]:
        """All nodes' sends by time; equal times by node."""
        return heapq.merge(*(self.timeline(node, n, seed) for node in range(n)))


class Stop(msgspec.Struct, frozen=True):
    """When sending ends: after so many messages in all, or at a time, whichever is first."""

    messages: int | None = None
    duration: Nanos | None = None

    def cut(self, submissions: Iterator[Submission]) -> Iterator[Submission]:
        for submission in islice(submissions, self.messages):
            if self.duration is not None and submission.time > self.duration:
                return
            yield submission
