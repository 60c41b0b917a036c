"""Random waypoint: walk straight to a place drawn anywhere, pause, and choose the next."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot

import msgspec

from testbed.core.distribution import Distribution
from testbed.core.draw import stream
from testbed.core.model import NodeId
from workloads.mobility.place import Place


class RandomWaypoint(msgspec.Struct, frozen=True, kw_only=True):
    """Places are uniform over the area, speeds uniform from slow to fast.

    Speeds near 0 would in time slow everybody down (a walk at such a speed hardly ends), so there
    is a slowest one.
    """

    seed: int
    width: float
    height: float
    slow: float
    """Metres per second."""
    fast: float
    pause: Distribution

    def places(self, host: NodeId) -> Iterator[Place]:
        spots = stream(self.seed, b"waypoint", host)
        speeds = stream(self.seed, b"speed", host)
        pauses = stream(self.seed, b"pause", host)
        here = Place(0, next(spots) * self.width, next(spots) * self.height)
        yield here
        while True:
            x, y = next(spots) * self.width, next(spots) * self.height
            speed = self.slow + next(speeds) * (self.fast - self.slow)
            seconds = hypot(x - here.x, y - here.y) / speed
            here = Place(here.time + max(1, int(seconds * 1e9)), x, y)
            yield here
            pause = self.pause.at(next(pauses))
            if pause > 0:
                here = here._replace(time=here.time + pause)
                yield here
