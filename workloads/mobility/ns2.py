"""ns-2's movement scripts: where nodes are at first, and from when on they go where, how fast.

`$node_(0) set X_ 10` and `$ns_ at 2.5 "$node_(0) setdest 30 40 1.5"`; a new destination ends the
walk to the one before. What scripts say of other things is passed over.
"""

from __future__ import annotations

import re
from collections import defaultdict
from math import hypot
from typing import NamedTuple

from workloads.mobility.place import Place, between
from workloads.mobility.replay import BadMovements, Ground, Track, check_order, number_of

_SET = re.compile(r"\$node_\((\d+)\)\s+set\s+([XYZ])_\s+(\S+)")
_GO = re.compile(
    r'\$ns_\s+at\s+(\S+)\s+"\$node_\((\d+)\)\s+setdest\s+(\S+)\s+(\S+)\s+([^\s"]+)\s*"'
)
_BESIDE = re.compile(r'\$god_\s|\$ns_\s+at\s+\S+\s+"\$god_\s|set\s')
"""The general operations director keeps distances, `set` the script's own variables."""


class Go(NamedTuple):
    """From this time on to this place, so many metres per second fast."""

    seconds: float
    target: Place
    speed: float


class _Script:
    """What has been read of each node so far."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.at_first: dict[int, dict[str, tuple[float, int]]] = defaultdict(dict)
        self.ways: dict[int, list[Go]] = defaultdict(list)

    def read(self, text: str, line: int) -> None:
        if match := _SET.fullmatch(text):
            node = self.ground.host(int(match[1]), line)
            self.at_first[node][match[2]] = number_of(match[3], line), line
        elif match := _GO.fullmatch(text):
            node = self.ground.host(int(match[2]), line)
            seconds, x, y, speed = (number_of(match[i], line) for i in (1, 3, 4, 5))
            if speed < 0:
                raise BadMovements(line, f"got the speed {speed:g}, takes none below 0")
            ways = self.ways[node]
            if ways:
                check_order(ways[-1].seconds, seconds, line, strictly=False)
            ways.append(Go(seconds, self.ground.place(seconds, x, y, line), speed))
        elif not _BESIDE.match(text):
            raise BadMovements(line, f"got {text!r}, takes `set X_` or `setdest` of a node")

    def track(self, node: int) -> Track:
        """The places where the node turns; it may be sent elsewhere before it arrives."""
        first = self.at_first[node]
        for axis in "XY":
            if axis not in first:
                raise BadMovements(
                    None, f"node {node} has no {axis}_, takes one for each of {self.ground.hosts}"
                )
        places = [self.ground.place(0.0, first["X"][0], first["Y"][0], first["Y"][1])]
        leg: tuple[Place, Place] | None = None
        for go in self.ways[node]:
            start = go.target.time
            here = _on_the_way(places, leg, start)
            metres = hypot(go.target.x - here.x, go.target.y - here.y)
            leg = None
            if go.speed and metres:
                arrival = start + max(1, round(metres / go.speed * 1e9))
                leg = (here, go.target._replace(time=arrival))
        if leg is not None:
            places.append(leg[1])
        return tuple(places)


def _on_the_way(places: list[Place], leg: tuple[Place, Place] | None, time: int) -> Place:
    """Where the node is when it is sent elsewhere; what is certain now joins its places."""
    here = places[-1]._replace(time=time)
    if leg is not None and leg[1].time <= time:
        places.append(leg[1])
        here = leg[1]._replace(time=time)
    elif leg is not None:
        here = between(*leg, time)
    if here.time > places[-1].time:
        places.append(here)
    return here


def ns2(text: str, ground: Ground) -> tuple[Track, ...]:
    """The track of each node of the script."""
    script = _Script(ground)
    for number, line in enumerate(text.splitlines(), start=1):
        if stripped := line.partition("#")[0].strip():
            script.read(stripped, number)
    return tuple(script.track(node) for node in range(ground.hosts))
