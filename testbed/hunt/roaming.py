"""A mobile schedule: stations, hosts and their stays, sends, and how long each copy travels.

What travels on which wire is the algorithm's own affair, so a delay cannot belong to a message: it
belongs to the channel, and to the how-manieth copy on it. A hand-off is held by giving one copy of
one wire a long delay. This file knows no algorithm and no engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec

from testbed.core.errors import BadInput
from testbed.core.model import Nanos, NodeId, Submission
from testbed.core.world import FOREVER, Itinerary, Stay, World

WORLD_MAX = 200
"""Most stations, and most hosts, of a schedule."""


class HostSend(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One message; `node` is a host, or a station where the algorithm lets stations send."""

    time: Nanos
    node: NodeId
    dests: tuple[NodeId, ...]


class Channel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One direction of one wire: its n-th copy takes the n-th delay, then over again."""

    source: NodeId
    target: NodeId
    delays: tuple[Nanos, ...]


class Saved(msgspec.Struct, frozen=True):
    """What can be written to a file and replayed."""

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        try:
            path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")
        except OSError as error:
            raise BadInput(f"schedule '{path}' cannot be written: {error.strerror}") from error


class MobileSchedule(
    Saved,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="format",
    tag="causalbed-mobile-schedule-1",
):
    """One run of one mobile algorithm: same schedule, same run."""

    algorithm: str
    stations: int
    hosts: int
    seed: int
    number: int
    """It is schedule `number` of `seed`, unless somebody edited it."""
    kind: str
    """How it was made up, in a few words; decides nothing."""
    keeps: bool
    """Stations keep messages for disconnected hosts; else they drop them."""
    notice: Nanos
    """How long before it is gone a disconnecting host may still tell its station."""
    stays: tuple[Itinerary, ...]
    """Per host, each stay as [station, from, to, disconnects]; the last has no end."""
    sends: tuple[HostSend, ...]
    wires: tuple[Channel, ...]
    air: tuple[tuple[Nanos, ...], ...]
    """Per host the delays of frames from it, and to it from its station; FIFO whatever they are."""
    spare: Nanos = 1_000_000
    """The delay of copies on a wire that is not named."""

    @property
    def n(self) -> int:
        return self.stations + self.hosts

    @property
    def world(self) -> World:
        return World(self.stations, self.hosts)

    @property
    def moves(self) -> int:
        """How often a host enters a cell."""
        return sum(map(len, self.stays)) - self.hosts

    def itinerary(self, host: NodeId, until: Nanos) -> Itinerary:
        """The stays as written; with `notice` this makes the schedule a Mobility."""
        return self.stays[host - self.stations]

    def submissions(self) -> Iterator[Submission]:
        """What the application does; payloads are empty."""
        return (Submission(send.time, send.node, send.dests, 0) for send in self.sends)

    def impossible(self) -> str | None:
        """What types cannot say: numbers in range, lists of equal length, time that runs on."""
        for what, count, least in (("stations", self.stations, 1), ("hosts", self.hosts, 2)):
            if not least <= count <= WORLD_MAX:
                return f"{what} is {count}, it takes {least} to {WORLD_MAX}"
        if self.spare < 0 or self.notice < 0:
            return f"`{'spare' if self.spare < 0 else 'notice'}` is negative"
        return self._wrong_stays() or self._wrong_sends() or self._wrong_delays()

    def _wrong_stays(self) -> str | None:
        if len(self.stays) != self.hosts:
            return f"`stays` has {len(self.stays)} lists, it takes one for each of {self.hosts}"
        for i, stays in enumerate(self.stays):
            if not stays or stays[0].start != 0 or stays[-1].end != FOREVER:
                return f"stays[{i}] must begin at 0 and end at {FOREVER}"
            if any(stay.end < stay.start for stay in stays):
                return f"stays[{i}] has a stay that ends before it begins"
            if any(stay.end > following.start for stay, following in pairwise(stays)):
                return f"stays[{i}] has a stay that begins before the last one has ended"
            if not all(0 <= stay.station < self.stations for stay in stays):
                return f"stays[{i}] names a station that is not in 0 to {self.stations - 1}"
        return None

    def _wrong_sends(self) -> str | None:
        now = 0
        for position, send in enumerate(self.sends):
            where = f"sends[{position}]"
            if send.time < now:
                return f"{where} is earlier than the send before it, or negative"
            now = send.time
            if not 0 <= send.node < self.n:
                return f"{where} names a node that is not in 0 to {self.n - 1}"
            if not all(self.stations <= node < self.n for node in send.dests):
                return f"{where} goes to a node that is no host ({self.stations} to {self.n - 1})"
            if not send.dests or sorted(set(send.dests)) != list(send.dests):
                return f"{where} has destinations that are empty, double or not in ascending order"
        return None

    def _wrong_delays(self) -> str | None:
        if len(self.air) != self.hosts:
            return f"`air` has {len(self.air)} lists, it takes one for each of {self.hosts} hosts"
        lists = [(f"air[{i}]", delays) for i, delays in enumerate(self.air)]
        for i, wire in enumerate(self.wires):
            if not (0 <= wire.source < self.stations and 0 <= wire.target < self.stations):
                return f"wires[{i}] names a station that is not in 0 to {self.stations - 1}"
            lists.append((f"wires[{i}]", wire.delays))
        for where, delays in lists:
            if not delays or min(delays) < 0:
                return f"{where} needs at least one delay, and none that is negative"
        return None


def first_stay(station: NodeId) -> Stay:
    """Where a host is that never moves."""
    return Stay(station, 0, FOREVER)
