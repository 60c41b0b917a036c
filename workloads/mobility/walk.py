"""From positions to stays: where a host walks, which borders it crosses, which beacons it hears.

A walk is straight legs, one after the other, over a grid of full rows. A host that crosses a border
is out of its old cell at once, and in the new one from that station's next beacon on (AV section 2:
it "discovers that it is in the cell of s2 after receiving the beacon broadcast by s2").
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import floor
from typing import Protocol

import msgspec

from testbed.core.draw import uniforms
from testbed.core.model import Nanos, NodeId
from testbed.core.world import FOREVER, Itinerary, Stay, World
from workloads.mobility.disconnections import Disconnections
from workloads.mobility.place import Place, between


class Walk(Protocol):
    """Where a host turns, by time: straight and at one speed between two places."""

    def places(self, host: NodeId) -> Iterator[Place]:
        """From time 0 on; a walk that ends leaves its host where it is."""
        ...


class Beacons(msgspec.Struct, frozen=True):
    """Each station has its own phase: stations agree on a period, not on a moment."""

    seed: int
    period: Nanos
    """0: whoever crosses a border knows at once."""

    def next(self, station: NodeId, time: Nanos) -> Nanos:
        """The first beacon of this station at this time or later."""
        if not self.period:
            return time
        phase = int(uniforms(self.seed, b"beacon", station, 0, 0)[0] * self.period)
        return time + (phase - time) % self.period


class Walking(msgspec.Struct, frozen=True, kw_only=True):
    """Hosts that walk, and know of a new cell by its beacon."""

    seed: int
    world: World
    walk: Walk
    beacons: Beacons
    disconnections: Disconnections = Disconnections()

    def itinerary(self, host: NodeId, until: Nanos) -> Itinerary:
        """A cell that a host has left before its beacon came is none of its stays."""
        absences = self.disconnections.absences(self.seed, host)
        stays: list[Stay] = []
        silent_until: Nanos = 0
        passages = passages_of(self.trail(host, until), self.world)
        for (entered, cell), (left, _) in pairwise(passages):
            heard = self.beacons.next(cell, max(entered, silent_until)) if entered else 0
            if heard >= left:
                continue
            absence = next(absences)
            stays.append(Stay(cell, heard, left, disconnects=absence is not None))
            silent_until = left + (absence or 0)
        entered, cell = passages[-1]
        heard = self.beacons.next(cell, max(entered, silent_until)) if entered else 0
        return (*stays, Stay(cell, heard, FOREVER))

    def trail(self, host: NodeId, until: Nanos) -> list[Place]:
        """The host's places up to `until`, where it stops."""
        trail: list[Place] = []
        for place in self.walk.places(host):
            if place.time <= until:
                trail.append(place)
                continue
            trail.append(between(trail[-1], place, until))
            break
        return trail


def passages_of(trail: list[Place], world: World) -> list[tuple[Nanos, NodeId]]:
    """When the walk enters which cell, from its first on; what it only touches does not count."""
    start = trail[0]
    column, row = _line(start.x, world, world.columns), _line(start.y, world, world.rows)
    passages = [(start.time, row * world.columns + column)]
    for a, b in pairwise(trail):
        for time, new_column, new_row in _crossings(a, b, world):
            column = column if new_column is None else new_column
            row = row if new_row is None else new_row
            if passages[-1][0] == time and len(passages) > 1:
                passages.pop()
            cell = row * world.columns + column
            if passages[-1][1] != cell:
                passages.append((time, cell))
    return passages


def _line(metres: float, world: World, count: int) -> int:
    """The column (or row) of a position; what lies on the outer border is inside."""
    return min(max(floor(metres / world.cell_metres), 0), count - 1)


def _crossings(a: Place, b: Place, world: World) -> list[tuple[Nanos, int | None, int | None]]:
    """Borders of one leg by time: when, and the new column or the new row."""
    side = world.cell_metres
    crossings: list[tuple[Nanos, int | None, int | None]] = [
        (_when(a, b, share), column, None)
        for share, column in _borders(a.x, b.x, side, world.columns)
    ]
    crossings += [
        (_when(a, b, share), None, row) for share, row in _borders(a.y, b.y, side, world.rows)
    ]
    return sorted(crossings, key=lambda crossing: crossing[0])


def _when(a: Place, b: Place, share: float) -> Nanos:
    return a.time + int(share * (b.time - a.time))


def _borders(start: float, end: float, side: float, count: int) -> Iterator[tuple[float, int]]:
    """How far along from start to end each inner border lies, and the line behind it."""
    if start < end:
        for border in range(floor(start / side) + 1, min(floor(end / side), count - 1) + 1):
            yield (border * side - start) / (end - start), border
    elif end < start:
        for border in range(min(floor(start / side), count - 1), floor(end / side), -1):
            if border > 0:
                yield (start - border * side) / (start - end), border - 1
