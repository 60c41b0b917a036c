"""Mobile runs in virtual time: hosts that wander by a seed, and hosts that move by a script."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from testbed.core.distribution import Constant, Distribution, Exponential
from testbed.core.model import Submission
from testbed.core.network import Fifo, LinkSpec, NetworkSpec, Override
from testbed.core.world import FOREVER, Itinerary, Stay, World
from testbed.engine.plan import Plan, Roam
from testbed.engine.virtual import VirtualEngine
from testbed.trace.oracle import Audit, Oracle
from tests.runs import MS, Outcome
from tests.scene import Rows
from workloads.destinations import Uniform
from workloads.hosts import HostTraffic
from workloads.traffic import Stop, Traffic

AIR = LinkSpec(latency=Constant(MS // 2), bits_per_second=1e6, fifo=Fifo.ON)
RETRY = 40 * MS


class Wander(msgspec.Struct, frozen=True):
    """Exponential stays in cells drawn at random; some end with a disconnection."""

    seed: int
    stations: int
    mean: int
    disconnects: float = 0.2
    notice: int = 5 * MS

    def itinerary(self, host: int, until: int) -> Itinerary:
        draw = random.Random(self.seed * 1000 + host)
        time, stays = 0, []
        while True:
            cell = draw.randrange(self.stations)
            end = time + 1 + int(draw.expovariate(1 / self.mean))
            if end > until:
                return (*stays, Stay(cell, time, FOREVER))
            disconnects = draw.random() < self.disconnects
            stays.append(Stay(cell, time, end, disconnects))
            away = self.mean * 3 if disconnects else self.mean // 5
            time = end + 1 + int(draw.expovariate(1 / away))


class Script(msgspec.Struct, frozen=True):
    """Stays written by hand; who is not named stays at station 0."""

    stays: Mapping[int, tuple[Stay, ...]]
    notice: int = 5 * MS

    def itinerary(self, host: int, until: int) -> Itinerary:
        return self.stays.get(host, (Stay(0, 0, FOREVER),))


def stays(*cells_and_ends: tuple[int, int], then: int, gap: int = MS) -> tuple[Stay, ...]:
    """In each cell until its end, out of reach for `gap`, and at last in `then` for ever."""
    made, start = [], 0
    for cell, end in cells_and_ends:
        made.append(Stay(cell, start, end))
        start = end + gap
    return (*made, Stay(then, start, FOREVER))


def wandering(name: str, seed: int, *, messages: int = 80, **other: Any) -> Plan:
    """A world, a network and a pace drawn from the seed."""
    draw = random.Random(seed)
    world = World(draw.randint(2, 5), draw.randint(2, 6))
    mean = draw.choice([5, 20, 60, 200]) * MS
    latency = draw.choice([Exponential(15 * MS), Exponential(60 * MS), Constant(7 * MS)])
    keeps = other.pop("keeps", draw.random() < 0.7)
    roam = Roam(world=world, mobility=Wander(seed, world.stations, mean), wireless=AIR, keeps=keeps)
    return msgspec.structs.replace(_plan(name, roam, seed, messages, latency), **other)


def judged(plan: Plan) -> Audit:
    """The verdict alone: many times as fast as a run whose rows are kept."""
    oracle = Oracle(range(plan.n))
    VirtualEngine(plan, oracle).run()
    return oracle.verdict()


def scripted(
    name: str,
    world: World,
    moves: Mapping[int, tuple[Stay, ...]],
    sends: Iterable[Submission],
    *,
    slow: Mapping[tuple[int, int], int] | None = None,
    keeps: bool = True,
) -> Outcome:
    """These moves and these sends; wires take 7 ms, those in `slow` what is said there."""
    roam = Roam(world=world, mobility=Script(moves), wireless=AIR, keeps=keeps)
    plan = _plan(name, roam, 1, 1, Constant(7 * MS), slow or {})
    rows = Rows()
    engine = VirtualEngine(plan, rows)
    return Outcome(rows, engine.play(iter(sends)), engine)


def _plan(
    name: str,
    roam: Roam,
    seed: int,
    messages: int,
    latency: Distribution,
    slow: Mapping[tuple[int, int], int] | None = None,
) -> Plan:
    overrides = tuple(
        Override((source,), (to,), LinkSpec(latency=Constant(delay)))
        for (source, to), delay in (slow or {}).items()
    )
    return Plan(
        algorithm=name,
        n=roam.world.n,
        seed=seed,
        network=NetworkSpec(LinkSpec(latency=latency), overrides),
        traffic=HostTraffic(
            world=roam.world,
            among_hosts=Traffic(
                interval=Exponential(20 * MS),
                destinations=Uniform(),
                multicast=0.5,
                payload_low=10,
                payload_high=10,
            ),
        ),
        stop=Stop(messages=messages),
        retry_after=RETRY,
        roam=roam,
    )
