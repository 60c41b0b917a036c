"""Random executions of a deadline stage: loss, duplication, any order, drifting clocks, crashes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from testbed.core.algorithm import Algorithm
from tests.deadline_stage import Stage


class Weather(NamedTuple):
    """How unkind an execution is; times are milliseconds."""

    loss: float = 0.15
    duplicate: float = 0.1
    lifetimes: tuple[float, ...] = (5, 20, 60, 200)
    skew_ms: float = 8
    """Clocks are wrong by up to this much."""
    crashes: bool = False
    late_timers: float = 0.0
    """How often time jumps before the timers of that time have fired."""
    room: int | None = None


FAIR = Weather(loss=0, duplicate=0, lifetimes=(1_000_000,), skew_ms=0)
ROUGH = Weather(crashes=True, late_timers=0.1)

Watch = Callable[[Stage], None]


def play(
    algorithm: Algorithm,
    seed: int,
    *,
    n: int = 4,
    sends: int = 14,
    weather: Weather | None = None,
    params: Any = None,
    watch: Watch | None = None,
) -> Stage:
    """Send, arrive, lose, double, wait, crash in drawn order; then let everything end."""
    weather = weather or Weather()
    draw = random.Random(seed)
    skew = weather.skew_ms
    stage = Stage(
        algorithm, n, params=params, room=weather.room,
        offsets_ms=[draw.uniform(-skew, skew) for _ in range(n)],
        drifts=[draw.uniform(-1e-3, 1e-3) * bool(skew) for _ in range(n)],
    )  # fmt: skip
    stage.now = 20_000_000  # no clock shows less than zero
    left, haste, pace = sends, draw.uniform(0.1, 0.6), draw.choice((0.3, 2, 8))
    reached = 0
    while left or stage.flying:
        if left and (not stage.flying or draw.random() < haste):
            left -= 1
            alive = [node for node in range(n) if node not in stage.crashed]
            sender = reached if reached in alive and draw.random() < 0.5 else draw.choice(alive)
            stage.send(sender, draw.choice(weather.lifetimes), draw.choice((0, 10, 50)))
        else:
            position = draw.randrange(len(stage.flying))
            reached = stage.flying[position].to
            fate = draw.random()
            if fate < weather.loss:
                stage.flying.pop(position)
            else:
                if fate < weather.loss + weather.duplicate:
                    stage.flying.append(stage.flying[position])
                stage.arrive_flight(position)
        if weather.crashes and len(stage.crashed) < n // 3 and draw.random() < 0.02:
            _crash(stage, draw)
        if draw.random() < weather.late_timers:
            stage.skip(draw.expovariate(1 / pace))
        else:
            stage.pause(draw.expovariate(1 / pace) if draw.random() < 0.4 else 0)
        if watch is not None:
            watch(stage)
    finish(stage)
    return stage


def _crash(stage: Stage, draw: random.Random) -> None:
    """One node stops; the others come to suspect it, some of them wrongly somebody else."""
    node = draw.randrange(stage.n)
    stage.crash(node)
    for other in range(stage.n):
        if other not in stage.crashed:
            stage.suspect(other, node if draw.random() < 0.8 else draw.randrange(stage.n))


def finish(stage: Stage) -> None:
    """All timers fire, and what they send arrives, until nothing is left to happen."""
    for _ in range(1_000):
        while stage.flying:
            stage.arrive_flight(0)
        if not stage.timers:
            return
        due = min(stage._engine_time(node, at) for (node, _), at in stage.timers.items())
        stage.until(max(due, stage.now) / 1e6 + 0.001)
    raise AssertionError(f"it does not end: {sorted(stage.timers)}")


def ratio(stage: Stage) -> float:
    """Delivered share of what could be delivered."""
    owed = len(stage.sent) * (stage.n - 1)
    return sum(map(len, stage.delivered)) / owed
