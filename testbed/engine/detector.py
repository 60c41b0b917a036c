"""An unreliable failure detector: heartbeats over the same network, and a judgement of silences.

Each node sends each other a heartbeat at every interval, and judges everybody's silence whenever it
sends its own. Heartbeats are frames of their own kind, below the algorithm and beside the reliable
link: they are lost, late and doubled as all copies are, so a suspicion can be wrong, and is taken
back at the next heartbeat. Knows no clock, no shell and no trace.
"""

from __future__ import annotations

import struct
from collections import deque
from math import erfc, inf, log10, sqrt
from typing import Protocol

from testbed.core.detection import Detection, PhiDetection, TimeoutDetection
from testbed.core.model import Nanos, NodeId

_BEAT = struct.Struct("<BI")
BEAT_KIND = b"\x02"
"""Neither a packet's first byte nor a kind of the reliable link's."""
BEAT_TIMER = "detector:beat"
WINDOW = 100
"""Intervals that phi accrual remembers of each peer."""
DEVIATION_MIN = 0.1
"""Of the interval: a network that was steady so far is no promise."""
FIRST_DEVIATION = 0.25
"""Of the interval: what is assumed of a peer that was not heard twice yet."""


class Judgement(Protocol):
    """How long a silence may be."""

    def heard(self, peer: NodeId, now: Nanos) -> None: ...
    def is_overdue(self, peer: NodeId, now: Nanos) -> bool: ...


class FixedTimeout:
    """The same patience with everybody."""

    def __init__(self, timeout: Nanos) -> None:
        self._timeout = timeout
        self._last: dict[NodeId, Nanos] = {}

    def heard(self, peer: NodeId, now: Nanos) -> None:
        self._last[peer] = now

    def is_overdue(self, peer: NodeId, now: Nanos) -> bool:
        return now - self._last[peer] > self._timeout


class PhiAccrual:
    """Intervals are taken for normal; phi is minus the logarithm of a silence's probability."""

    def __init__(self, interval: Nanos, threshold: float) -> None:
        self._interval = interval
        self._threshold = threshold
        self._last: dict[NodeId, Nanos] = {}
        self._gaps: dict[NodeId, deque[Nanos]] = {}

    def heard(self, peer: NodeId, now: Nanos) -> None:
        if peer in self._last:
            gaps = self._gaps.setdefault(peer, deque(maxlen=WINDOW))
            gaps.append(now - self._last[peer])
        self._last[peer] = now

    def is_overdue(self, peer: NodeId, now: Nanos) -> bool:
        return self.phi(peer, now) > self._threshold

    def phi(self, peer: NodeId, now: Nanos) -> float:
        mean, deviation = self._fitted(peer)
        later = 0.5 * erfc((now - self._last[peer] - mean) / (deviation * sqrt(2)))
        return -log10(later) if later > 0 else inf

    def _fitted(self, peer: NodeId) -> tuple[float, float]:
        gaps = self._gaps.get(peer, ())
        if len(gaps) < 2:
            return float(self._interval), FIRST_DEVIATION * self._interval
        mean = sum(gaps) / len(gaps)
        deviation = sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))
        return mean, max(deviation, DEVIATION_MIN * self._interval)


def judgement_of(spec: Detection) -> Judgement:
    match spec:
        case TimeoutDetection(timeout=timeout):
            return FixedTimeout(timeout)
        case PhiDetection(interval=interval, threshold=threshold):
            return PhiAccrual(interval, threshold)


class Detector:
    """The detector of one node, about all its peers."""

    def __init__(self, me: NodeId, n: int, spec: Detection, until: Nanos) -> None:
        """Nobody beats after `until`, so nobody is judged after it."""
        self.peers = tuple(node for node in range(n) if node != me)
        self.frame = _BEAT.pack(BEAT_KIND[0], me)
        self.suspected: set[NodeId] = set()
        self._interval = spec.interval
        self._until = until
        self._phase = me * spec.interval // n  # not all at once
        self._judge = judgement_of(spec)

    def start(self, now: Nanos) -> Nanos:
        """Everybody counts as heard now; when to beat first."""
        for peer in self.peers:
            self._judge.heard(peer, now)
        return now + self._phase

    def next_beat(self, now: Nanos) -> Nanos | None:
        """When to beat again after this one; None: this was the last."""
        return now + self._interval if now + self._interval <= self._until else None

    def sender(self, frame: bytes) -> NodeId | None:
        """Whose heartbeat this is; None if it is none."""
        if len(frame) != _BEAT.size:
            return None
        peer = int(_BEAT.unpack(frame)[1])
        return peer if peer in self.peers else None

    def hear(self, peer: NodeId, now: Nanos) -> bool:
        """A heartbeat came; whether that takes a suspicion back."""
        self._judge.heard(peer, now)
        if peer not in self.suspected:
            return False
        self.suspected.remove(peer)
        return True

    def suspect(self, now: Nanos) -> list[NodeId]:
        """Who is suspected from now on."""
        overdue = [
            peer
            for peer in self.peers
            if peer not in self.suspected and self._judge.is_overdue(peer, now)
        ]
        self.suspected.update(overdue)
        return overdue
