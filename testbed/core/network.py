"""The emulated network: when, and whether, each copy arrives.

The fate of a copy is a function of seed, link and its number on that link, so both engines draw
the same fate and two algorithms meet the same network. Order on a link: bandwidth (wait for the
wire, then serialize), loss, latency, FIFO rule, duplication. The sender computes all of it.
"""

from __future__ import annotations

import enum
from array import array
from collections.abc import Mapping
from typing import Protocol

import msgspec

from testbed.core.distribution import Distribution
from testbed.core.draw import BLOCK, uniforms
from testbed.core.medium import Lan, Medium
from testbed.core.model import Nanos, NodeId
from testbed.core.world import FOREVER, Whereabouts, World

NANOS_PER_SECOND = 1_000_000_000
GK_STEP: Nanos = 1_000_000
"""GK section 3.2: an arrival before LM[i] is moved to LM[i] + 1 ms."""


class Fifo(enum.StrEnum):
    """What keeps a link in order."""

    OFF = "off"
    ON = "on"
    """A copy never arrives before an earlier one; ties keep sending order."""
    GK = "gk"
    """As GK section 3.2: an overtaking copy is set 1 ms behind the last arrival."""


class Loss(msgspec.Struct, frozen=True, tag="independent"):
    """Each copy is lost with this probability, whatever happened to others."""

    rate: float = 0.0


class BurstLoss(msgspec.Struct, frozen=True, tag="gilbert-elliott"):
    """Two states per link; the state moves before each copy, then decides its loss."""

    to_bad: float
    to_good: float
    loss_good: float = 0.0
    loss_bad: float = 1.0


class LinkSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides the fate of copies on one link."""

    latency: Distribution
    loss: Loss | BurstLoss = Loss()
    duplicate: float = 0.0
    bits_per_second: float | None = None
    fifo: Fifo = Fifo.OFF

    @property
    def loses(self) -> bool:
        return isinstance(self.loss, BurstLoss) or self.loss.rate > 0


class Override(msgspec.Struct, frozen=True):
    """Another specification for the links from some nodes to some nodes (None: all)."""

    sources: tuple[NodeId, ...] | None
    targets: tuple[NodeId, ...] | None
    spec: LinkSpec


class NetworkSpec(msgspec.Struct, frozen=True):
    """The whole network: one kind of link, and exceptions, of which the last match counts."""

    default: LinkSpec
    overrides: tuple[Override, ...] = ()
    lan: Lan | None = None
    """A medium that all nodes share, below the links; None: each link is alone."""

    def spec(self, source: NodeId, target: NodeId) -> LinkSpec:
        for override in reversed(self.overrides):
            if override.sources is not None and source not in override.sources:
                continue
            if override.targets is not None and target not in override.targets:
                continue
            return override.spec
        return self.default

    def specs(self) -> tuple[LinkSpec, ...]:
        return (self.default, *(override.spec for override in self.overrides))


Arrivals = tuple[Nanos, ...]
"""When a copy arrives: () is never, (t,) once, (t, u) twice."""

LOST: Arrivals = ()


class Link:
    """One direction of one channel, as its sender sees it."""

    __slots__ = (
        "_bad", "_busy_until", "_delays", "_duplicates", "_end", "_latency", "_loses", "_losses",
        "_number",
        "_plain", "_seed", "_source", "_spec", "_target", "_twin_delays", "last_arrival",
    )  # fmt: skip

    def __init__(
        self, spec: LinkSpec, seed: int, source: NodeId, target: NodeId, end: Nanos = FOREVER
    ) -> None:
        """`end` is when the source crashes: what waits for the wire then is never sent."""
        self._spec = spec
        self._end = end
        self._latency = spec.latency.at
        self._loses = spec.loses
        self._seed = seed
        self._source = source
        self._target = target
        self._number = 0
        self._bad = False
        self._busy_until: Nanos = 0
        self.last_arrival: Nanos = -1
        self._plain = (
            not self._loses
            and not spec.duplicate
            and spec.bits_per_second is None
            and spec.fifo is Fifo.OFF
        )

    def send(self, now: Nanos, size: int) -> Arrivals:
        """The fate of the next copy, `size` bytes handed over at `now`."""
        index = self._number % BLOCK
        if not index:
            self._draw_block(self._number // BLOCK)
        self._number += 1
        delay = self._latency(self._delays[index])
        if self._plain:
            return (now + delay,)
        departure = self._serialize(now, size)
        if (self._loses and self._is_lost(self._losses[index])) or departure > self._end:
            return LOST
        arrival = self._in_order(departure + delay)
        if self._spec.duplicate and self._duplicates[index] < self._spec.duplicate:
            twin = departure + self._latency(self._twin_delays[index])
            return (arrival, self._in_order(twin))
        return (arrival,)

    def reset(self) -> None:
        """Nothing is on the link any more: the next copy waits for no other."""
        self._busy_until = 0
        self.last_arrival = -1

    def _draw_block(self, block: int) -> None:
        """Uniform numbers for the next copies; few links use up their last block."""
        spec, seed, a, b = self._spec, self._seed, self._source, self._target
        self._delays = array("d", uniforms(seed, b"latency", a, b, block))  # small: n*n links
        if self._loses:
            self._losses = uniforms(seed, b"loss", a, b, block)
        if spec.duplicate:
            self._duplicates = uniforms(seed, b"duplicate", a, b, block)
            self._twin_delays = uniforms(seed, b"twin", a, b, block)

    def _serialize(self, now: Nanos, size: int) -> Nanos:
        """When the last bit is on the wire: copies of one link queue for it."""
        if self._spec.bits_per_second is None:
            return now
        start = max(now, self._busy_until)
        self._busy_until = start + int(size * 8 * NANOS_PER_SECOND / self._spec.bits_per_second)
        return self._busy_until

    def _is_lost(self, u: float) -> bool:
        """One uniform serves the burst model twice: its high part moves, its rest decides."""
        loss = self._spec.loss
        if isinstance(loss, Loss):
            return u < loss.rate
        move = loss.to_good if self._bad else loss.to_bad
        if u < move:
            self._bad = not self._bad
            u = u / move
        else:
            u = (u - move) / (1 - move)
        return u < (loss.loss_bad if self._bad else loss.loss_good)

    def _in_order(self, arrival: Nanos) -> Nanos:
        if arrival < self.last_arrival:
            if self._spec.fifo is Fifo.ON:
                arrival = self.last_arrival
            elif self._spec.fifo is Fifo.GK:
                arrival = self.last_arrival + GK_STEP
        self.last_arrival = max(self.last_arrival, arrival)
        return arrival


class Air(msgspec.Struct, frozen=True):
    """What carries frames from and to hosts, and where the hosts are."""

    world: World
    spec: LinkSpec
    hosts: dict[NodeId, Whereabouts]

    def common_stay_end(self, source: NodeId, target: NodeId, now: Nanos) -> Nanos | None:
        """How long these two reach each other from now on; None: they do not."""
        end: Nanos | None = None
        for host, other in ((source, target), (target, source)):
            if host not in self.hosts:
                continue
            stay = self.hosts[host].at(now)
            if stay is None or (other not in self.hosts and stay.station != other):
                return None
            end = stay.end if end is None else min(end, stay.end)
        return end


class Queue(Protocol):
    """What carries frames within one stay: first in, first out."""

    def send(self, now: Nanos, size: int) -> Arrivals: ...
    def reset(self) -> None: ...


class AirLink:
    """One direction of the air between a host and a station, or between two hosts.

    FIFO and reliable as long as both stay; a frame that would arrive when one of them has left is
    lost. Each stay begins with an idle channel.
    """

    __slots__ = ("_air", "_end", "_link", "_source", "_target")

    def __init__(self, air: Air, link: Queue, source: NodeId, target: NodeId) -> None:
        self._air = air
        self._link = link
        self._source = source
        self._target = target
        self._end: Nanos = -1

    def send(self, now: Nanos, size: int) -> Arrivals:
        end = self._air.common_stay_end(self._source, self._target, now)
        if end is None:
            return LOST
        if end != self._end:
            self._end = end
            self._link.reset()
        arrivals = self._link.send(now, size)
        return arrivals if arrivals[-1] < end else LOST


class LanLink:
    """A link whose copies queue for a medium that all senders share."""

    __slots__ = ("_link", "_medium", "_source", "_target")

    def __init__(self, link: Link, medium: Medium, source: NodeId, target: NodeId) -> None:
        self._link = link
        self._medium = medium
        self._source = source
        self._target = target

    def send(self, now: Nanos, size: int) -> Arrivals:
        departure = self._medium.departure(self._source, self._target, now, size)
        if departure is None:
            return LOST
        return self._link.send(
            departure + self._medium.travel(self._source, self._target, size), size
        )


class Network:
    """All links that leave the nodes of one engine (or one actor), made when first used."""

    def __init__(
        self,
        spec: NetworkSpec,
        seed: int,
        air: Air | None = None,
        *,
        medium: Medium | None = None,
        ends: Mapping[NodeId, Nanos] | None = None,
    ) -> None:
        """`ends` says when nodes crash: what has not left them by then never does."""
        self._spec = spec
        self._seed = seed
        self._air = air
        self._medium = medium
        self._ends = ends or {}
        self._links: dict[tuple[NodeId, NodeId], Link | AirLink | LanLink] = {}

    def link(self, source: NodeId, target: NodeId) -> Link | AirLink | LanLink:
        """The link from source to target, with its count and its queue."""
        key = (source, target)
        if key not in self._links:
            self._links[key] = self._make(source, target)
        return self._links[key]

    def _make(self, source: NodeId, target: NodeId) -> Link | AirLink | LanLink:
        if self._air is not None and self._air.world.is_air(source, target):
            link = Link(self._air.spec, self._seed, source, target)
            return AirLink(self._air, link, source, target)
        end = self._ends.get(source, FOREVER)
        link = Link(self._spec.spec(source, target), self._seed, source, target, end)
        if self._medium is None:
            return link
        return LanLink(link, self._medium, source, target)
