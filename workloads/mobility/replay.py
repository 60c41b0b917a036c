"""Walks that were written down: the tracks of a file, and what every format of them refuses."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import NamedTuple

import msgspec

from testbed.core.model import NodeId
from workloads.mobility.place import Place

Track = tuple[Place, ...]


class Replay(msgspec.Struct, frozen=True):
    """Hosts, from the first of them on, that walk as a file says."""

    first: NodeId
    tracks: tuple[Track, ...]

    def places(self, host: NodeId) -> Iterator[Place]:
        return iter(self.tracks[host - self.first])


class BadMovements(ValueError):
    """A movement file that says something impossible, and in which line."""

    def __init__(self, line: int | None, sentence: str) -> None:
        super().__init__(sentence if line is None else f"line {line}: {sentence}")


class Ground(NamedTuple):
    """What a file must fit: so many hosts on so large an area."""

    hosts: int
    width: float
    height: float

    def place(self, seconds: float, x: float, y: float, line: int) -> Place:
        if seconds < 0:
            raise BadMovements(line, f"got the time {seconds:g} s, takes no time before 0")
        if not (0 <= x <= self.width and 0 <= y <= self.height):
            raise BadMovements(
                line,
                f"got the position {x:g} {y:g}, takes 0 to {self.width:g} and 0 to "
                f"{self.height:g} metres, which is the area of all cells",
            )
        return Place(round(seconds * 1e9), x, y)

    def host(self, number: int, line: int) -> int:
        if number >= self.hosts:
            raise BadMovements(
                line,
                f"got host {number}, takes 0 to {self.hosts - 1}: there are no more",
            )
        return number


def number_of(text: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise BadMovements(line, f"got {text!r}, takes a number")
    return value


def check_order(before: float, after: float, line: int, *, strictly: bool) -> None:
    if after < before or (strictly and after == before):
        raise BadMovements(line, f"times out of order: {after:g} s after {before:g} s")
