"""BonnMotion's `.movements`: one line per host, `time x y` over and over, in seconds and metres."""

from __future__ import annotations

from itertools import pairwise

from workloads.mobility.replay import BadMovements, Ground, Track, check_order, number_of


def bonnmotion(text: str, ground: Ground) -> tuple[Track, ...]:
    """The track of each host, in the order of the lines; `#` begins a comment."""
    tracks: list[Track] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().lower() == "#3d":
            raise BadMovements(number, "got three dimensions, takes `time x y`, over and over")
        if fields := line.partition("#")[0].split():
            ground.host(len(tracks), number)
            tracks.append(_track(fields, number, ground))
    if len(tracks) < ground.hosts:
        raise BadMovements(
            None, f"got {len(tracks)} hosts, takes a line for each of the {ground.hosts}"
        )
    return tuple(tracks)


def _track(fields: list[str], line: int, ground: Ground) -> Track:
    """A file that begins after 0 has its hosts wait at their first places."""
    if len(fields) % 3:
        raise BadMovements(line, f"got {len(fields)} numbers, takes `time x y`, over and over")
    values = [number_of(field, line) for field in fields]
    for before, after in pairwise(values[::3]):
        check_order(before, after, line, strictly=True)
    places = [
        ground.place(seconds, x, y, line)
        for seconds, x, y in zip(values[::3], values[1::3], values[2::3], strict=True)
    ]
    if places[0].time:
        places.insert(0, places[0]._replace(time=0))
    return tuple(places)
