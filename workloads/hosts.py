"""The traffic of a mobile system: hosts send to hosts, and stations too where they may."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import msgspec

from testbed.core.model import NodeId, Submission
from testbed.core.world import World
from workloads.traffic import Traffic


class HostTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """What each host sends is what a process of `among_hosts` would; stations only ever send."""

    world: World
    among_hosts: Traffic
    from_stations: Traffic | None = None

    def timeline(self, node: NodeId, n: int, seed: int) -> Iterator[Submission]:
        first, hosts = self.world.stations, self.world.hosts
        if node >= first:
            sends = self.among_hosts.timeline(node - first, hosts, seed)
        elif self.from_stations is not None:
            sends = self.from_stations.timeline(hosts + node, hosts, seed)
        else:
            return
        for sent in sends:
            yield sent._replace(node=node, dests=tuple(d + first for d in sent.dests))

    def merged(self, n: int, seed: int) -> Iterator[Submission]:
        """All sends by time; equal times by node."""
        return heapq.merge(*(self.timeline(node, n, seed) for node in range(self.world.n)))
