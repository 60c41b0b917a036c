"""A plan: one run, fully resolved. Both engines take it; nothing in it is left to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Protocol

import msgspec

from testbed.core.clocks import Clocks, GivenClocks
from testbed.core.detection import Detection
from testbed.core.fault import Fault, ends
from testbed.core.medium import Medium
from testbed.core.model import Nanos, NodeId, Role, Submission
from testbed.core.network import Air, LinkSpec, Network, NetworkSpec
from testbed.core.world import Itinerary, Whereabouts, World


class Traffic(Protocol):
    """Who sends what to whom, and when: per node, and merged by time."""

    def timeline(self, node: NodeId, n: int, seed: int) -> Iterator[Submission]: ...
    def merged(self, n: int, seed: int) -> Iterator[Submission]: ...


class Stop(Protocol):
    """When sending ends."""

    def cut(self, submissions: Iterator[Submission]) -> Iterator[Submission]: ...


class Mobility(Protocol):
    """Where each host is, and when; movement ends at `until`, and then every host stays."""

    @property
    def notice(self) -> Nanos:
        """How long before it is gone a disconnecting host may still tell its station."""
        ...

    def itinerary(self, host: NodeId, until: Nanos) -> Itinerary: ...


class Roam(msgspec.Struct, frozen=True, kw_only=True):
    """The mobile part of a plan."""

    world: World
    mobility: Mobility
    wireless: LinkSpec
    """Of the air between a host and its station, or between two hosts."""
    keeps: bool = True
    """Stations keep what reaches them for a disconnected host; else they drop it."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one algorithm."""

    algorithm: str
    n: int
    seed: int
    network: NetworkSpec
    traffic: Traffic
    stop: Stop
    warmup: int = 0
    """Messages, in order of sending, that statistics leave out."""
    retry_after: Nanos | None = None
    """The reliable link's patience; None: no reliable link."""
    roam: Roam | None = None
    """Stations and hosts; None: all nodes are processes that stay where they are."""
    clocks: Clocks | GivenClocks | None = None
    """How the nodes' own clocks differ; None: all of them show the run's time."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong, by time."""
    buffer_bytes: int | None = None
    """Payload bytes that each node may keep; None: as many as it likes."""
    detector: Detection | None = None
    """A failure detector under every node; None: nobody is ever suspected."""

    @property
    def stations(self) -> int:
        return 0 if self.roam is None else self.roam.world.stations

    @property
    def notice(self) -> Nanos:
        return 0 if self.roam is None else self.roam.mobility.notice

    def submissions(self) -> Iterator[Submission]:
        """Every send of the run, by time."""
        return self.stop.cut(self.traffic.merged(self.n, self.seed))

    def warmup_until(self) -> Nanos:
        """When the last message of the warm-up is sent."""
        return max((sent.time for sent in islice(self.submissions(), self.warmup)), default=0)

    def outline(self) -> Outline:
        """What the engines must know before they start, found by walking the submissions once."""
        counts: Counter[NodeId] = Counter()
        copies, last = 0, 0
        for submission in self.submissions():
            counts[submission.node] += 1
            copies += len(submission.dests)
            last = submission.time
        per_node = tuple(counts[node] for node in range(self.n))
        return Outline(per_node, sum(per_node), copies, last)

    def last_send(self) -> Nanos:
        """When sending ends; hosts stay where they are from then on."""
        return max((sent.time for sent in self.submissions()), default=0)

    def role(self, node: NodeId) -> Role:
        return Role.PROCESS if self.roam is None else self.roam.world.role(node)

    def itineraries(self, until: Nanos) -> dict[NodeId, Itinerary]:
        """Every host's stays; nobody moves after `until`, which is when sending ends."""
        if self.roam is None:
            return {}
        mobility = self.roam.mobility
        return {host: mobility.itinerary(host, until) for host in self.roam.world.host_ids}

    def detects_until(self, last_send: Nanos) -> Nanos:
        """When the last heartbeat may be sent."""
        return last_send + (0 if self.detector is None else self.detector.linger)

    def network_of(self, itineraries: dict[NodeId, Itinerary]) -> Network:
        """The network model, for the links that leave the nodes of one engine or actor."""
        gone, medium = ends(self.faults), None
        if self.network.lan is not None:
            medium = Medium(self.network.lan, self.n, self.submissions(), gone)
        air = self.air(itineraries)
        return Network(self.network, self.seed, air, medium=medium, ends=gone)

    def air(self, itineraries: dict[NodeId, Itinerary]) -> Air | None:
        """The air between hosts and stations, for the network model."""
        if self.roam is None:
            return None
        where = {host: Whereabouts(stays) for host, stays in itineraries.items()}
        return Air(self.roam.world, self.roam.wireless, where)


class Outline(msgspec.Struct, frozen=True):
    """The size of a run before it is run."""

    messages_of: tuple[int, ...]
    messages: int
    copies: int
    last_send: Nanos
