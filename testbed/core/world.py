"""The mobile world: stations with a cell each, hosts that come and go, and who is where when.

Stations are nodes 0 to S-1, hosts the nodes after them. Where a host is does not depend on what an
algorithm does: an itinerary is fixed before the run, so every engine can tell at any time whether
a frame in the air reaches its end. This file knows no algorithm and no mobility model.
"""

from __future__ import annotations

from bisect import bisect_right

import msgspec

from testbed.core.model import Nanos, NodeId, Role

FOREVER: Nanos = 1 << 62
"""The end of a host's last stay."""


class World(msgspec.Struct, frozen=True):
    """How many stations and hosts there are, and how the cells lie: row by row on a grid."""

    stations: int
    hosts: int
    columns: int = 1
    cell_metres: float = 100.0
    """Side of a square cell; its station stands in the middle."""

    @property
    def n(self) -> int:
        return self.stations + self.hosts

    @property
    def rows(self) -> int:
        return -(-self.stations // self.columns)

    @property
    def width(self) -> float:
        return self.columns * self.cell_metres

    @property
    def height(self) -> float:
        return self.rows * self.cell_metres

    @property
    def host_ids(self) -> range:
        return range(self.stations, self.n)

    def role(self, node: NodeId) -> Role:
        return Role.STATION if node < self.stations else Role.HOST

    def is_air(self, source: NodeId, target: NodeId) -> bool:
        """Whether a frame between these two crosses the air: one of them is a host."""
        return source >= self.stations or target >= self.stations

    def centre(self, station: NodeId) -> tuple[float, float]:
        """Where a station stands, in metres from the corner of the first cell."""
        row, column = divmod(station, self.columns)
        return (column + 0.5) * self.cell_metres, (row + 0.5) * self.cell_metres

    def neighbours(self, station: NodeId) -> list[NodeId]:
        """The stations whose cells share a side with this one's; the last row may be short."""
        row, column = divmod(station, self.columns)
        around = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
        cells = [r * self.columns + c for r, c in around if r >= 0 and 0 <= c < self.columns]
        return [cell for cell in cells if cell < self.stations]


class Stay(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A host in a cell, from the beacon by which it knows to the moment at which it is gone."""

    station: NodeId
    start: Nanos
    end: Nanos
    disconnects: bool = False
    """The host ends this stay itself and tells its station before; else it just leaves."""


Itinerary = tuple[Stay, ...]
"""All stays of one host, by time; between two of them it is in no cell."""


class Whereabouts:
    """The itinerary of one host, asked again and again."""

    __slots__ = ("_starts", "stays")

    def __init__(self, stays: Itinerary) -> None:
        self.stays = stays
        self._starts = [stay.start for stay in stays]

    def at(self, time: Nanos) -> Stay | None:
        """The stay that this time belongs to, if any."""
        position = bisect_right(self._starts, time) - 1
        if position < 0 or self.stays[position].end <= time:
            return None
        return self.stays[position]
