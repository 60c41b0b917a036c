"""Schedules, as data, in which figure 8 as printed goes wrong; one for each correction.

A step is a tuple: ("send", node, lifetime in ms), ("arrive", message, at), ("packet", kind, at),
("lose", message, at), ("until", ms). A message is (sender, its how-manieth). Time begins at 100 ms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from testbed.core.algorithm import Algorithm
from tests.deadline_stage import Stage

Step = tuple[Any, ...]


class Schedule(NamedTuple):
    """A run, with the clocks of its nodes."""

    n: int
    steps: tuple[Step, ...]
    offsets_ms: tuple[float, ...] = ()


PREVIOUS = Schedule(2, (
    ("send", 0, 1000), ("until", 101), ("send", 0, 1000), ("arrive", (0, 2), 1),
    ("arrive", (0, 1), 1),
))  # fmt: skip
"""The second message of a sender overtakes the first, and neither is near its deadline."""

SAME_TICK = Schedule(2, (
    ("send", 0, 1000), ("send", 0, 1000), ("arrive", (0, 1), 1), ("arrive", (0, 2), 1),
))  # fmt: skip
"""Two messages of one sender between two ticks of its clock."""

CLOCK_BEHIND = Schedule(3, (
    ("send", 1, 1000), ("arrive", (1, 1), 0), ("lose", (1, 1), 2),
    ("until", 101), ("send", 0, 1000), ("arrive", (0, 1), 1), ("arrive", (0, 1), 2),
    ("until", 102), ("send", 1, 50), ("arrive", (1, 2), 2), ("until", 200),
), (20, 0, 0))  # fmt: skip
"""p1 answers p0, whose clock is 20 ms ahead; at p2 both wait for what is lost, until a deadline."""

LOST_TO_ITS_SUCCESSOR = Schedule(2, (
    ("send", 0, 1000), ("lose", (0, 1), 1), ("until", 101), ("send", 0, 1000),
    ("arrive", (0, 2), 1), ("packet", "Solicit", 0), ("packet", "Reply", 1),
))  # fmt: skip
"""Who else than its sender could repeat a message that nobody else has delivered?"""

_FIGURE_6: tuple[Step, ...] = (
    ("send", 0, 900), ("arrive", (0, 1), 1), ("arrive", (0, 1), 3),
    ("until", 101), ("send", 1, 800), ("arrive", (1, 1), 3), ("arrive", (1, 1), 0),
    ("until", 102), ("send", 3, 500), ("arrive", (3, 1), 2), ("packet", "Solicit", 3),
)  # fmt: skip

FIGURE_6 = Schedule(4, (*_FIGURE_6, ("packet", "Reply", 2)))
"""p, q, r, s are 0, 1, 2, 3: r gets m3 first and asks s for m1 and m2."""

REPLY_CROSSES = Schedule(4, (
    *_FIGURE_6, ("arrive", (0, 1), 2), ("arrive", (1, 1), 2), ("packet", "Reply", 2),
    ("until", 2000),
))  # fmt: skip
"""As figure 6, but m1 and m2 come by themselves before the reply does."""

BETWEEN_TICKS = Schedule(2, (
    ("send", 0, 900), ("until", 101), ("send", 0, 20.5), ("arrive", (0, 2), 1), ("until", 400),
    ("arrive", (0, 1), 1),
))  # fmt: skip
"""A message waits; its deadline is no whole number of intervals; then its predecessor comes."""

WAITS_BETWEEN_TICKS = Schedule(3, (
    ("send", 0, 900), ("arrive", (0, 1), 1), ("until", 101), ("send", 1, 20.5),
    ("arrive", (1, 1), 2), ("until", 400), ("arrive", (0, 1), 2),
))  # fmt: skip
"""The same with a predecessor of another sender, for which the print waits."""

SECOND_LOOK = Schedule(3, (
    ("send", 1, 1000), ("arrive", (1, 1), 0),
    ("until", 100.1), ("send", 0, 1000), ("arrive", (0, 1), 1), ("arrive", (0, 1), 2),
    ("until", 100.2), ("send", 1, 1000), ("arrive", (1, 2), 2), ("arrive", (1, 1), 2),
), (20, 0, 0))  # fmt: skip
"""In the queue a successor with an earlier clock value stands before its predecessor."""


FORCED_PAST = Schedule(4, (
    ("send", 0, 5000), ("arrive", (0, 1), 2), ("until", 101), ("send", 2, 30),
    ("arrive", (2, 1), 1), ("lose", (2, 1), 3), ("until", 135),
    ("send", 1, 60), ("arrive", (1, 1), 3), ("until", 300), ("arrive", (0, 1), 3),
))  # fmt: skip
"""p1 delivers p2's message at its deadline without p0's, which is still in the past of p1's."""


def replay(schedule: Schedule, algorithm: Algorithm, *, late_timers: bool = False) -> Stage:
    """Play it step by step; a packet that the algorithm never sends does not arrive."""
    stage = Stage(algorithm, schedule.n, offsets_ms=schedule.offsets_ms)
    stage.now = 100_000_000
    for what, *details in schedule.steps:
        if what == "send":
            stage.send(*details)
        elif what == "arrive":
            stage.arrive(*details, source=details[0][0])
        elif what == "lose":
            stage.lose(details[0], details[1])
        elif what == "packet":
            _let_in(stage, *details)
        elif late_timers:
            stage.now = int(details[0] * 1_000_000)
        else:
            stage.until(details[0])
    return stage


def _let_in(stage: Stage, kind: str, at: int) -> None:
    while any(copy.to == at and type(copy.packet).__name__ == kind for copy in stage.flying):
        stage.arrive_flight(stage.find(at, kind=kind))
