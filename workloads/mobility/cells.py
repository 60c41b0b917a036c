"""Hosts that jump from cell to cell: AV appendix A, with what it leaves open as options.

"Initially, the cells of the mobile hosts are assigned randomly"; the time in a cell is drawn, and
so is the cell that follows. Between two cells a host is in none, for the gap that is drawn.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

import msgspec

from testbed.core.distribution import Constant, Distribution
from testbed.core.draw import stream
from testbed.core.model import Nanos, NodeId
from testbed.core.world import FOREVER, Itinerary, Stay, World
from workloads.mobility.disconnections import Disconnections
from workloads.mobility.place import Place, places_of


class Next(enum.StrEnum):
    """Which cell a host enters when it has left one."""

    ANY = "any"
    """Any other, each as likely."""
    NEIGHBOUR = "neighbour"
    """One that shares a side with the cell it leaves."""
    BACK = "back"
    """Ping-pong: to a neighbour and back, over and over."""


class CellChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Time in a cell, time between cells, and the next cell, all drawn for each host alone."""

    seed: int
    world: World
    stay: Distribution | None
    """None: hosts stay where they are at the start."""
    gap: Distribution = Constant(0)
    next: Next = Next.ANY
    disconnections: Disconnections = Disconnections()

    def itinerary(self, host: NodeId, until: Nanos) -> Itinerary:
        """A host that would leave after `until` stays; one that is away then still arrives."""
        cells = self._cells(host)
        cell, start = next(cells), 0
        if self.stay is None:
            return (Stay(cell, 0, FOREVER),)
        lengths, gaps = stream(self.seed, b"stay", host), stream(self.seed, b"gap", host)
        absences = self.disconnections.absences(self.seed, host)
        stays: list[Stay] = []
        while True:
            end = start + max(1, self.stay.at(next(lengths)))
            if end > until:
                return (*stays, Stay(cell, start, FOREVER))
            absence, gap = next(absences), self.gap.at(next(gaps))
            stays.append(Stay(cell, start, end, disconnects=absence is not None))
            start = end + gap + (absence or 0)
            cell = next(cells)

    def trail(self, host: NodeId, until: Nanos) -> list[Place]:
        return places_of(self.itinerary(host, until), self.world, until)

    def _cells(self, host: NodeId) -> Iterator[NodeId]:
        draws = stream(self.seed, b"cell", host)
        cell = before = int(next(draws) * self.world.stations)
        yield cell
        while True:
            if self.next is Next.BACK and before != cell:
                cell, before = before, cell
            else:
                candidates = self._candidates(cell)
                cell, before = candidates[int(next(draws) * len(candidates))], cell
            yield cell

    def _candidates(self, cell: NodeId) -> list[NodeId]:
        """In a world of one cell, a host that leaves it comes back to it."""
        if self.next is Next.ANY:
            others = [other for other in range(self.world.stations) if other != cell]
        else:
            others = self.world.neighbours(cell)
        return others or [cell]
