"""Where a host is at a moment, for models that know and, by its cells, for those that do not."""

from __future__ import annotations

from typing import NamedTuple

from testbed.core.model import Nanos
from testbed.core.world import Itinerary, World


class Place(NamedTuple):
    """A host at a moment; metres from the corner of the first cell."""

    time: Nanos
    x: float
    y: float


def between(a: Place, b: Place, time: Nanos) -> Place:
    """On the way from a to b."""
    share = (time - a.time) / (b.time - a.time)
    return Place(time, a.x + share * (b.x - a.x), a.y + share * (b.y - a.y))


def places_of(stays: Itinerary, world: World, until: Nanos) -> list[Place]:
    """For want of positions: a host that jumps stands beside the station of its cell."""
    places: list[Place] = []
    for stay in stays:
        places.append(Place(stay.start, *world.centre(stay.station)))
        if stay.end <= until:
            places.append(Place(stay.end, *world.centre(stay.station)))
    return places
