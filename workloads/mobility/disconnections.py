"""Hosts that go off the air of their own accord: which departures, and for how long."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from testbed.core.distribution import Constant, Distribution
from testbed.core.draw import stream
from testbed.core.model import Nanos, NodeId


class Disconnections(msgspec.Struct, frozen=True):
    """A share of departures from a cell is announced to the station, and followed by silence."""

    share: float = 0.0
    lasts: Distribution = Constant(0)

    def absences(self, seed: int, host: NodeId) -> Iterator[Nanos | None]:
        """For each departure of this host: how long it is off the air, or None if it only moves."""
        chances = stream(seed, b"disconnect", host)
        lengths = stream(seed, b"absence", host)
        while True:
            length = self.lasts.at(next(lengths))
            yield length if next(chances) < self.share else None
