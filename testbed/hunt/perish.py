"""Schedules under deadlines made up: a plain one, on which loss, crashes and clocks are laid.

Who sends when, and which copy overtakes which, comes from `generate.make_schedule`; this file adds
what a deadline algorithm must live with: short and long lifetimes, copies lost and doubled, clocks
that differ and drift, and nodes that stop. `number` of `seed` is always the same one.
"""

from __future__ import annotations

from random import Random

from testbed.core.algorithm import Algorithm
from testbed.core.clocks import Clock
from testbed.core.fault import Crash
from testbed.core.model import Nanos
from testbed.hunt.generate import STEP, Draw, Shape, make_schedule
from testbed.hunt.mortal import DeadlineSchedule, Fate, MortalSend

LOSSES = (0.0, 0.05, 0.2, 0.5)
DOUBLES = (0.0, 0.0, 0.1, 0.5)
LIVES = (3, 10, 30, 100)
"""Mean lifetimes, in steps; copies of a schedule travel from one step to a few dozen."""
APART = (0, 1, 5)
"""How far clocks may be apart, in steps."""
DRIFTS_PPB = (0, 1_000_000, 50_000_000)
CRASH_SHARE = 0.4
"""Share of schedules in which somebody crashes."""


def make_deadline_schedule(
    name: str, algorithm: Algorithm, seed: int, number: int, shape: Shape
) -> DeadlineSchedule:
    """A pure function of its arguments; `name` is how `algorithm` was asked for."""
    plain = make_schedule(name, algorithm, seed, number, shape)
    draw = Random((seed << 32 | number) ^ 0x5EED << 96).random
    loss, double = (choices[int(draw() * 4)] for choices in (LOSSES, DOUBLES))
    life = LIVES[int(draw() * len(LIVES))] * STEP
    evenly = draw() < 0.3  # one lifetime for all
    sends = tuple(
        MortalSend(
            send.time, send.node, send.dests,
            life if evenly else 1 + int(2 * life * draw()),
            tuple(_fate(draw, delay, loss, double) for delay in send.delays),
        )
        for send in plain.sends
    )  # fmt: skip
    watched = draw() < 0.5
    return DeadlineSchedule(
        algorithm=name, n=plain.n, seed=seed, number=number, kind=plain.kind, sends=sends,
        clocks=_clocks(draw, plain.n),
        crashes=_crashes(draw, plain.n, sends[-1].time),
        beat=2 * STEP if watched else None,
        timeout=(3 + int(draw() * 20)) * STEP,
    )  # fmt: skip


def _fate(draw: Draw, delay: Nanos, loss: float, double: float) -> Fate:
    if draw() < loss:
        return ()
    if draw() < double:
        return (delay, int(2 * delay * draw()))
    return (delay,)


def _clocks(draw: Draw, n: int) -> tuple[Clock, ...]:
    apart = APART[int(draw() * len(APART))] * STEP
    drift = DRIFTS_PPB[int(draw() * len(DRIFTS_PPB))]
    return tuple(Clock(int(draw() * apart), round((2 * draw() - 1) * drift)) for _ in range(n))


def _crashes(draw: Draw, n: int, last: Nanos) -> tuple[Crash, ...]:
    """Some nodes, but not all; at a step of the schedule or between two."""
    if draw() >= CRASH_SHARE:
        return ()
    victims = {int(draw() * n) for _ in range(1 + int(draw() * n / 2))}
    if len(victims) == n:
        victims.pop()
    return tuple(Crash(int(draw() * last * 2) // STEP * STEP // 2, (v,)) for v in sorted(victims))
