"""Stays that are written down, host by host: for a movement that must be exactly this one."""

from __future__ import annotations

import msgspec

from testbed.core.model import Nanos, NodeId
from testbed.core.world import FOREVER, Itinerary, Stay, World
from workloads.mobility.place import Place, places_of


class Given(msgspec.Struct, frozen=True):
    """The stays of hosts, from the first of them on."""

    world: World
    first: NodeId
    stays: tuple[Itinerary, ...]

    def itinerary(self, host: NodeId, until: Nanos) -> Itinerary:
        """A host that would leave after `until` stays."""
        kept: list[Stay] = []
        for stay in self.stays[host - self.first]:
            if stay.end > until:
                return (*kept, msgspec.structs.replace(stay, end=FOREVER, disconnects=False))
            kept.append(stay)
        return tuple(kept)

    def trail(self, host: NodeId, until: Nanos) -> list[Place]:
        return places_of(self.itinerary(host, until), self.world, until)
