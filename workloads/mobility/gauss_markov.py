"""Gauss-Markov: speed and direction have a memory, so that walks bend instead of breaking.

After each step s' = a s + (1-a) s_mean + sqrt(1-a^2) w, with w normal, and the same for the
direction; a = 1 goes straight for ever, a = 0 forgets. Near the border the mean direction points to
the middle of the area, which turns walkers round, and nobody passes the border.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, cos, pi, sin, sqrt
from statistics import NormalDist

import msgspec

from testbed.core.draw import stream
from testbed.core.model import Nanos, NodeId
from workloads.mobility.place import Place

_NORMAL = NormalDist()
_SMALLEST = 2.0**-54


class GaussMarkov(msgspec.Struct, frozen=True, kw_only=True):
    """One step after the other, all of the same length in time."""

    seed: int
    width: float
    height: float
    margin: float
    """Whoever is this near to the border is turned to the middle."""
    memory: float
    """a: 0 to 1."""
    speed: float
    """Mean, in metres per second; walkers do not go backwards."""
    deviation: float
    turn: float
    """Deviation of the direction, in radians."""
    step: Nanos

    def places(self, host: NodeId) -> Iterator[Place]:
        spots = stream(self.seed, b"start", host)
        draws = stream(self.seed, b"gauss-markov", host)
        time, x, y = 0, next(spots) * self.width, next(spots) * self.height
        mean_direction = direction = next(spots) * 2 * pi
        speed = self.speed
        keep, noise = self.memory, sqrt(1 - self.memory**2)
        yield Place(time, x, y)
        while True:
            time += self.step
            length = speed * self.step * 1e-9
            x = min(max(x + length * cos(direction), 0.0), self.width)
            y = min(max(y + length * sin(direction), 0.0), self.height)
            yield Place(time, x, y)
            if self._is_near_border(x, y):
                middle = atan2(self.height / 2 - y, self.width / 2 - x)
                mean_direction = direction + (middle - direction + pi) % (2 * pi) - pi
            speed = keep * speed + (1 - keep) * self.speed
            speed = max(0.0, speed + noise * self.deviation * _normal(next(draws)))
            direction = keep * direction + (1 - keep) * mean_direction
            direction += noise * self.turn * _normal(next(draws))

    def _is_near_border(self, x: float, y: float) -> bool:
        nearest = min(x, y, self.width - x, self.height - y)
        return nearest < self.margin


def _normal(u: float) -> float:
    return _NORMAL.inv_cdf(u or _SMALLEST)
