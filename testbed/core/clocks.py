"""Clocks that are not quite right: each node's own, ahead of the run's clock and drifting.

Only differences between clocks can be seen, so an offset is how far a clock is ahead of the run's,
never behind: no clock value is negative. Arithmetic is on integers, so that a timer set for a clock
value never comes due before the clock shows it. This file knows no engine.
"""

from __future__ import annotations

import msgspec

from testbed.core.distribution import Distribution
from testbed.core.draw import uniforms
from testbed.core.model import Nanos, NodeId

BILLION = 1_000_000_000


class Clock(msgspec.Struct, frozen=True):
    """One node's clock: so far ahead at the start, and so much faster than the run's."""

    ahead: Nanos = 0
    drift_ppb: int = 0
    """Nanoseconds gained per second, above -10^9; negative for a slow clock."""

    def show(self, now: Nanos) -> Nanos:
        """What it shows when the run's clock shows `now`; never falls."""
        return self.ahead + now * (BILLION + self.drift_ppb) // BILLION

    def when(self, shown: Nanos) -> Nanos:
        """The first time on the run's clock at which it shows this, or more."""
        return max(0, -(-(shown - self.ahead) * BILLION // (BILLION + self.drift_ppb)))


class Clocks(msgspec.Struct, frozen=True, kw_only=True):
    """How the clocks of a run differ; each node's is a pure function of seed and node."""

    ahead: Distribution
    """How far a clock is ahead of the run's at the start."""
    drift_ppb: int = 0
    """Each clock drifts by a rate drawn evenly between minus and plus this."""

    def of(self, node: NodeId, seed: int) -> Clock:
        offset, rate, *_ = uniforms(seed, b"clock", node, 0, 0)
        drift = round((2 * rate - 1) * self.drift_ppb)
        return Clock(self.ahead.at(offset), drift)


class GivenClocks(msgspec.Struct, frozen=True):
    """Clocks written down one by one."""

    clocks: tuple[Clock, ...]

    def of(self, node: NodeId, seed: int) -> Clock:
        return self.clocks[node]
