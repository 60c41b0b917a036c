"""Mobile schedules made up: `number` of `seed` is always the same one.

Four ways, since each finds what the others hardly meet:

    latency    drawn delays, fast and slow wires, hosts that walk, stay, or hurry
    held       the same, but single copies of some wires take very long: a hand-off is stuck
    lockstep   every time and every delay is a small multiple of one step, so that moves, sends
               and arrivals meet in one moment again and again
    aimed      one of the others is run, and then moves and sends are put right before and right
               after what happened there: arrivals, deliveries, beginnings and ends of hand-offs

This file knows what an algorithm allows (whether stations send, and to oneself), not what it does.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgspec

from testbed.core.algorithm import Algorithm
from testbed.core.distribution import Constant, Exponential, LogNormal, Uniform
from testbed.core.model import Nanos, NodeId, members
from testbed.core.world import FOREVER, Itinerary, Stay
from testbed.hunt.generate import LATENCIES, MESSAGES, STEP, Draw, Shape, between, make_chooser
from testbed.hunt.play import play_mobile
from testbed.hunt.roaming import Channel, HostSend, MobileSchedule
from testbed.hunt.watch import Watch

STATIONS = (2, 5)
HOSTS = (2, 6)
AIR_STEP: Nanos = STEP // 5
"""Mean time in the air, unless the air is as slow as the wires."""
COPIES = 7
"""Delays of one wire, before they come again."""
MOVES_MAX = 40
"""Of one host."""
AIMED_MOVES = 4
"""At most so many moves, and as many sends, are aimed at once."""


class _Pace(msgspec.Struct, frozen=True):
    """How fast one schedule is: all in nanoseconds, on a grid of `grid`."""

    grid: Nanos
    send: Nanos
    stay: Nanos
    gap: Nanos
    end: Nanos
    """Nobody moves after this."""

    def on_grid(self, time: float) -> Nanos:
        return int(time) // self.grid * self.grid


def make_mobile_schedule(
    name: str, algorithm: Algorithm, seed: int, number: int, shape: Shape
) -> MobileSchedule:
    """A pure function of its arguments; `name` is how `algorithm` was asked for."""
    draw = Random(seed << 32 | number).random
    way = draw()
    kind = "lockstep" if way < 0.35 else "held" if way < 0.65 else "latency"
    stations = shape.stations or between(draw, *STATIONS)
    hosts = shape.hosts or between(draw, *HOSTS)
    messages = shape.messages or between(draw, *MESSAGES)
    pace = _draw_pace(draw, kind, messages)
    made = MobileSchedule(
        algorithm=name,
        stations=stations,
        hosts=hosts,
        seed=seed,
        number=number,
        kind=kind,
        keeps=draw() < 0.7,
        notice=pace.on_grid((0, 0.5, 2)[int(draw() * 3)] * STEP),
        stays=_draw_stays(draw, stations, hosts, pace),
        sends=_draw_sends(draw, algorithm, stations, hosts, messages, pace),
        wires=_draw_wires(draw, kind, stations, pace),
        air=_draw_air(draw, hosts, pace),
    )
    for _ in range(int(draw() * 3)):  # a third of all schedules is aimed once, a third twice
        made = _aim(draw, made, pace)
    return made


def _draw_pace(draw: Draw, kind: str, messages: int) -> _Pace:
    grid = STEP if kind == "lockstep" else 1
    send = int((0.05, 0.3, 1.0)[int(draw() * 3)] * STEP)
    end = messages * send + int(draw() * 8 * STEP)
    stay = int((0.4, 1.5, 4.0, 12.0)[int(draw() * 4)] * STEP)
    gap = int((0.0, 0.3, 2.0)[int(draw() * 3)] * STEP)
    return _Pace(grid, send, stay, gap, end)


# --- where ----------------------------------------------------------------------------------------


def _draw_stays(draw: Draw, stations: int, hosts: int, pace: _Pace) -> tuple[Itinerary, ...]:
    """Each host has a habit: to stay, to walk anywhere, to and fro, or to come back at once."""
    leaving = (0.0, 0.2, 0.6)[int(draw() * 3)]  # how often a stay ends in a disconnection
    cells = [int(draw() * stations) for _ in range(hosts)]
    return tuple(
        _draw_itinerary(draw, stations, cell, leaving, pace) for cell in cells
    )  # fmt: skip


def _draw_itinerary(
    draw: Draw, stations: int, cell: NodeId, leaving: float, pace: _Pace
) -> Itinerary:
    habit = draw()
    if habit < 0.15:
        return (Stay(cell, 0, FOREVER),)
    again, back = (0.1, 0.1) if habit < 0.6 else (0.05, 0.85) if habit < 0.85 else (0.7, 0.1)
    before = int(draw() * stations)
    stays: list[Stay] = []
    start: Nanos = 0
    while len(stays) < MOVES_MAX:
        end = start + pace.on_grid(Exponential(pace.stay).at(draw())) + pace.grid
        if end > pace.end:
            break
        disconnects = draw() < leaving
        stays.append(Stay(cell, start, end, disconnects))
        pause = 4 * pace.gap + STEP if disconnects else pace.gap
        start = end + pace.on_grid(pause * draw() * 2)
        where = draw()
        if where >= again:
            following = before if where < again + back else int(draw() * stations)
            before, cell = cell, following
    stays.append(Stay(cell, start, FOREVER))
    return tuple(stays)


# --- who to whom ----------------------------------------------------------------------------------


def _draw_sends(
    draw: Draw, algorithm: Algorithm, stations: int, hosts: int, messages: int, pace: _Pace
) -> tuple[HostSend, ...]:
    """At drawn times; some hosts hardly ever send, and some schedules have one busy pair."""
    choose = make_chooser(draw, algorithm, hosts)
    from_stations = 0.3 if algorithm.stations_send and draw() < 0.7 else 0.0
    burst = (0.0, 0.3, 0.7)[int(draw() * 3)]  # how often the next send comes at the same time
    sends = []
    now: Nanos = 0
    for _ in range(messages):
        if draw() >= burst:
            now += pace.on_grid(draw() * 2 * pace.send / (1 - burst)) or pace.grid
        if from_stations and draw() < from_stations:
            node = int(draw() * stations)
            mask = choose(int(draw() * hosts))
        else:
            host = int(draw() * hosts)
            node = stations + host
            mask = choose(host)
        sends.append(HostSend(now, node, tuple(stations + d for d in members(mask))))
    return tuple(sends)


# --- how long -------------------------------------------------------------------------------------


def _draw_wires(draw: Draw, kind: str, stations: int, pace: _Pace) -> tuple[Channel, ...]:
    slow = draw() * 0.5
    held = 0.05 + 0.3 * draw() if kind == "held" else 0.0
    patience = (5, 20, 60)[int(draw() * 3)] * STEP
    latency = _in_steps(draw) if kind == "lockstep" else LATENCIES[int(draw() * len(LATENCIES))].at
    wires = []
    for source in range(stations):
        for target in range(stations):
            if source == target:
                continue
            factor = 6 if draw() < slow else 1
            delays = [factor * latency(draw()) for _ in range(COPIES)]
            if held:
                delays = [
                    delay + pace.on_grid(draw() * patience) if draw() < held else delay
                    for delay in delays
                ]
            wires.append(Channel(source, target, tuple(delays)))
    return tuple(wires)


def _in_steps(draw: Draw) -> Callable[[float], Nanos]:
    most = 2 + int(draw() * 4)
    return lambda u: STEP * int(u * most)


def _draw_air(draw: Draw, hosts: int, pace: _Pace) -> tuple[tuple[Nanos, ...], ...]:
    """For each host: quick and even, quick with a tail, or as slow as a wire."""
    kinds = (Constant(AIR_STEP), LogNormal(AIR_STEP, 1.0), Uniform(0, 2 * STEP))
    lists = []
    for _ in range(hosts):
        air = kinds[int(draw() * len(kinds))]
        if pace.grid > 1:
            lists.append(tuple(pace.on_grid(draw() * 2.5 * STEP) for _ in range(3)))
        else:
            lists.append(tuple(air.at(draw()) for _ in range(5)))
    return tuple(lists)


# --- aimed ----------------------------------------------------------------------------------------


def _aim(draw: Draw, made: MobileSchedule, pace: _Pace) -> MobileSchedule:
    """Run it, and put some moves and sends right beside what happened."""
    watch = Watch(made.n, notes=True)
    play_mobile(made, watch)
    if not watch.moments:
        return made
    stays = [list(itinerary) for itinerary in made.stays]
    for _ in range(1 + int(draw() * AIMED_MOVES)):
        moment = watch.moments[int(draw() * len(watch.moments))]
        time = max(1, moment.time + (-1, 0, 1, 1)[int(draw() * 4)])
        i = moment.host - made.stations
        stays[i] = _leave_at(draw, stays[i], time, made.stations, pace)
    sends = list(made.sends)
    deliveries = [moment for moment in watch.moments if moment.is_delivery]
    for _ in range(int(draw() * (AIMED_MOVES + 1)) if deliveries else 0):
        moment = deliveries[int(draw() * len(deliveries))]
        which = int(draw() * len(sends))
        dests = tuple(d for d in sends[which].dests if d != moment.host)
        if dests:
            sends[which] = HostSend(moment.time + int(draw() * 2), moment.host, dests)
    sends.sort(key=lambda send: send.time)
    kind = made.kind if made.kind.endswith("aimed") else f"{made.kind}, aimed"
    return msgspec.structs.replace(
        made, kind=kind, stays=tuple(map(tuple, stays)), sends=tuple(sends)
    )


def _leave_at(draw: Draw, stays: list[Stay], time: Nanos, stations: int, pace: _Pace) -> list[Stay]:
    """The host leaves at this time; where it is going to is drawn, and what followed is kept."""
    for at, stay in enumerate(stays):
        if not stay.start < time < stay.end or len(stays) > MOVES_MAX:
            continue
        gap = (0, 0, 1, pace.gap, STEP)[int(draw() * 5)]
        if time + gap >= stay.end:
            return stays
        where = draw()
        if where < 0.4 or not at:
            cell = int(draw() * stations)
        else:
            cell = stays[at - 1].station if where < 0.8 else stay.station
        first = Stay(stay.station, stay.start, time, draw() < 0.15)
        second = Stay(cell, time + gap, stay.end, stay.disconnects)
        return [*stays[:at], first, second, *stays[at + 1 :]]
    return stays
