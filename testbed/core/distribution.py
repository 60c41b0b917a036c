"""Distributions by inversion: one uniform number in, one duration in nanoseconds out.

Inversion keeps the draw a pure function of its identity; rejection would use a varying number of
uniforms. This file knows durations only, not what they are for.
"""

from __future__ import annotations

from math import exp, log1p
from statistics import NormalDist

import msgspec

from testbed.core.model import Nanos

_STANDARD_NORMAL = NormalDist()
_SMALLEST = 2.0**-54


class Constant(msgspec.Struct, frozen=True, tag="constant"):
    """Always the same."""

    value: Nanos

    def at(self, u: float) -> Nanos:
        return self.value

    @property
    def mean_ns(self) -> float:
        return float(self.value)


class Uniform(msgspec.Struct, frozen=True, tag="uniform"):
    """Any value between low and high, each as likely."""

    low: Nanos
    high: Nanos

    def at(self, u: float) -> Nanos:
        return self.low + int(u * (self.high - self.low))

    @property
    def mean_ns(self) -> float:
        return (self.low + self.high) / 2


class Exponential(msgspec.Struct, frozen=True, tag="exponential"):
    """Memoryless, with this mean."""

    mean: Nanos

    def at(self, u: float) -> Nanos:
        return int(-self.mean * log1p(-u))

    @property
    def mean_ns(self) -> float:
        return float(self.mean)


class Normal(msgspec.Struct, frozen=True, tag="normal"):
    """Gaussian, cut at zero: what would be negative is zero."""

    mean: Nanos
    deviation: Nanos

    def at(self, u: float) -> Nanos:
        return max(0, int(self.mean + self.deviation * _STANDARD_NORMAL.inv_cdf(u or _SMALLEST)))

    @property
    def mean_ns(self) -> float:
        """Of what is left after the cut, which is more than `mean`."""
        if not self.deviation:
            return float(max(0, self.mean))
        z = self.mean / self.deviation
        return self.mean * _STANDARD_NORMAL.cdf(z) + self.deviation * _STANDARD_NORMAL.pdf(z)


class LogNormal(msgspec.Struct, frozen=True, tag="lognormal"):
    """Log-normal by its median and the deviation of its logarithm: a long tail."""

    median: Nanos
    sigma: float

    def at(self, u: float) -> Nanos:
        return int(self.median * exp(self.sigma * _STANDARD_NORMAL.inv_cdf(u or _SMALLEST)))

    @property
    def mean_ns(self) -> float:
        return self.median * exp(self.sigma**2 / 2)


class Empirical(msgspec.Struct, frozen=True, tag="trace"):
    """Measured values, each as likely: a delay trace replayed in random order."""

    values: tuple[Nanos, ...]

    def at(self, u: float) -> Nanos:
        return self.values[int(u * len(self.values))]

    @property
    def mean_ns(self) -> float:
        return sum(self.values) / len(self.values)


Distribution = Constant | Uniform | Exponential | Normal | LogNormal | Empirical
