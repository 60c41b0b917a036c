"""Schedules made up: `number` of `seed` is always the same one.

Three ways, since each finds what the others hardly meet:

    latency     sends at drawn times, copies with drawn delays, fast and slow channels
    held        the same, but some channels are held back and released in random order
    adversary   step by step it is chosen which copy in flight arrives next, or who sends

In all of them a node may be made to send right after something reached it, which grows long causal
chains. This file knows what an algorithm allows (self, broadcast, FIFO), not what it does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import NamedTuple

from testbed.core.algorithm import Algorithm
from testbed.core.distribution import (
    Constant,
    Distribution,
    Empirical,
    Exponential,
    LogNormal,
    Normal,
    Uniform,
)
from testbed.core.model import DestSet, Nanos, NodeId, members
from testbed.hunt.schedule import Schedule, Send

NODES = (2, 8)
MESSAGES = (5, 24)
"""Fewest and most of a schedule, where nobody fixed them."""

STEP: Nanos = 1_000_000
"""The adversary's clock, and the mean of all latencies."""

FIFO_SHARE = 0.2
"""Share of schedules with FIFO channels, for an algorithm that needs none."""

LATENCIES: tuple[Distribution, ...] = (
    Constant(STEP),
    Uniform(0, 2 * STEP),
    Exponential(STEP),
    Normal(STEP, STEP // 2),
    LogNormal(STEP // 2, 1.2),
    Empirical((STEP // 100, STEP // 10, STEP // 5, STEP, 4 * STEP)),
)

Draw = Callable[[], float]
Choose = Callable[[NodeId], DestSet]
"""Whom a message of this node goes to."""


class Shape(NamedTuple):
    """What all schedules of a hunt have in common; None: drawn for each."""

    n: int | None = None
    messages: int | None = None
    stations: int | None = None
    hosts: int | None = None


def make_schedule(
    name: str, algorithm: Algorithm, seed: int, number: int, shape: Shape
) -> Schedule:
    """A pure function of its arguments; `name` is how `algorithm` was asked for."""
    draw = Random(seed << 32 | number).random
    n = shape.n or between(draw, *NODES)
    messages = shape.messages or between(draw, *MESSAGES)
    fifo = algorithm.needs_fifo or (n > 2 and draw() < FIFO_SHARE)  # two nodes: nothing is left
    choose = make_chooser(draw, algorithm, n)
    way = draw()
    if way < 0.5:
        kind, sends = "adversary", _adversary(draw, n, messages, choose)
    elif way < 0.75:
        kind, sends = "held", _timed(draw, n, messages, choose, _releases(draw, n, messages))
    else:
        kind, sends = "latency", _timed(draw, n, messages, choose, [0] * (n * n))
    return Schedule(name, n, seed, number, kind, fifo, sends)


def between(draw: Draw, low: int, high: int) -> int:
    """A whole number from `low` to `high`, each as likely."""
    return low + int(draw() * (high - low + 1))


# --- whom ---------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _nodes(dests: DestSet) -> tuple[NodeId, ...]:
    return tuple(members(dests))


def make_chooser(draw: Draw, algorithm: Algorithm, n: int) -> Choose:
    """One habit per schedule: one, few, any, all, or a mix; the sender too where it may."""
    everybody = (1 << n) - 1
    habit = 3 if algorithm.broadcast_only else int(draw() * 5)
    to_self = 0.25 if algorithm.refuses_self is None and draw() < 0.3 else 0.0

    def choose(node: NodeId) -> DestSet:
        others = everybody ^ (1 << node)
        now = habit if habit < 4 else int(draw() * 4)
        if now == 3:
            dests = others
        elif now == 2:
            dests = int(draw() * everybody) & others or _one(draw, node, n)
        else:
            dests = _one(draw, node, n)
            if now == 1:
                dests |= _one(draw, node, n)
        if to_self and draw() < to_self:
            dests |= 1 << node
        return dests

    return choose


def _one(draw: Draw, node: NodeId, n: int) -> DestSet:
    other = int(draw() * (n - 1))
    return 1 << (other + (other >= node))


# --- step by step -------------------------------------------------------------------------------


def _adversary(draw: Draw, n: int, messages: int, choose: Choose) -> tuple[Send, ...]:
    """Each step is one send or one arrival; copies on starved channels come last."""
    eagerness = (0.25, 0.5, 0.8)[int(draw() * 3)]  # how often it sends while copies are in flight
    chain = (0.0, 0.6, 0.95)[int(draw() * 3)]  # how often whoever was reached last sends next
    newest_first = (0.0, 0.0, 0.7)[int(draw() * 3)]
    starving = (0.0, 0.2, 0.4)[int(draw() * 3)]
    starved_channels = [draw() < starving for _ in range(n * n)] if starving else None
    sent: list[tuple[int, NodeId, tuple[NodeId, ...], list[Nanos]]] = []
    in_flight: list[tuple[int, int]] = []  # position of the send, position of the destination
    starved: list[tuple[int, int]] = []
    reached = 0
    step = 0
    while len(sent) < messages or in_flight or starved:
        step += 1
        if len(sent) < messages and (not in_flight or draw() < eagerness):
            node = reached if draw() < chain else int(draw() * n)
            dests = _nodes(choose(node))
            for position, to in enumerate(dests):
                hungry = starved_channels is not None and starved_channels[node * n + to]
                (starved if hungry else in_flight).append((len(sent), position))
            sent.append((step, node, dests, [0] * len(dests)))
            continue
        among = in_flight if in_flight and not (starved and draw() < 0.05) else starved
        if not newest_first or draw() >= newest_first:
            chosen = int(draw() * len(among))
            among[chosen], among[-1] = among[-1], among[chosen]
        which, position = among.pop()
        since, _, dests, delays = sent[which]
        delays[position] = (step - since) * STEP
        reached = dests[position]
    return tuple(
        [Send(step * STEP, node, dests, tuple(delays)) for step, node, dests, delays in sent]
    )


# --- by the clock -------------------------------------------------------------------------------


def _releases(draw: Draw, n: int, messages: int) -> list[Nanos]:
    """For each channel when it is released; 0: it is not held."""
    share = 0.1 + 0.5 * draw()
    last = messages * STEP
    return [int(draw() * last) if draw() < share else 0 for _ in range(n * n)]


def _timed(
    draw: Draw, n: int, messages: int, choose: Choose, releases: list[Nanos]
) -> tuple[Send, ...]:
    """Sends at drawn times; with a `chain`, right after the arrival of something sent before."""
    latency = LATENCIES[int(draw() * len(LATENCIES))].at
    pace = (0.02, 0.2, 0.6)[int(draw() * 3)] * STEP  # mean time between sends
    chain = (0.0, 0.5, 0.9)[int(draw() * 3)]
    slow = draw() * 0.5
    factors = [9 if draw() < slow else 1 for _ in range(n * n)]
    sends: list[Send] = []
    arrivals: list[tuple[Nanos, NodeId]] = []
    now = 0
    for _ in range(messages):
        node = -1
        if arrivals and draw() < chain:
            arrival, to = arrivals[int(draw() * len(arrivals))]
            if arrival >= now:
                now, node = arrival + 1, to
        if node < 0:
            now += int(draw() * 2 * pace)
            node = int(draw() * n)
        dests = _nodes(choose(node))
        delays = []
        for to in dests:
            channel = node * n + to
            delay = latency(draw()) * factors[channel]
            if now + delay < releases[channel]:
                delay += releases[channel] - now
            delays.append(delay)
            arrivals.append((now + delay, to))
        sends.append(Send(now, node, dests, tuple(delays)))
    return tuple(sends)
