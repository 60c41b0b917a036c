"""`ks` and `ks-printed` are the paper's text: equal, event by event, to its word-for-word form.

The maxima of 4.4 against the pair loops of 4.3; the shared packet with own parts against one O_M
for each destination; the hold-back queue against a scan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from testbed.algorithms.static import ks, ks_printed
from testbed.core.algorithm import Algorithm
from testbed.core.model import MessageId, NodeId
from testbed.core.node import Arrival, Node
from tests.algorithms.ks import literal, watch
from tests.algorithms.ks.schedules import random_schedule, schedules
from tests.algorithms.ks.world import Copy, Schedule, Watcher, play

Entries = dict[tuple[NodeId, int], frozenset[NodeId]]


class Diary(Watcher):
    """Everything that happened, in order: deliveries, every O_M, every log after every event."""

    def __init__(
        self,
        carried: Callable[[Arrival[Any, Any], NodeId], Entries],
        logged: Callable[[Node[Any, Any]], Entries],
    ) -> None:
        self.lines: list[tuple[object, ...]] = []
        self._carried = carried
        self._logged = logged

    def copied(self, copy: Copy, arrival: Arrival[Any, Any]) -> None:
        o_m = self._carried(arrival, copy.target)
        self.lines.append(("copy", copy.message, copy.target, arrival.packet.clock, o_m))

    def delivered(self, node: NodeId, message: MessageId) -> None:
        self.lines.append(("deliver", node, message))

    def settled(self, node: Any) -> None:
        self.lines.append(("log", node.me, self._logged(node), node.clock))


def _first_difference(real: Algorithm, book: Algorithm, schedule: Schedule) -> object:
    found = Diary(watch.carried, watch.logged)
    expected = Diary(literal.carried, literal.logged)
    play(real, schedule, found)
    play(book, schedule, expected)
    pairs = zip(expected.lines, found.lines, strict=True)
    return next(((e, f) for e, f in pairs if e != f), None)


READINGS = pytest.mark.parametrize(
    ("real", "book"),
    [
        pytest.param(ks.ALGORITHM, literal.LITERAL, id="ks"),
        pytest.param(ks_printed.ALGORITHM, literal.LITERAL_PRINTED, id="ks-printed"),
    ],
)


@READINGS
def test_seeded_executions_equal_the_text_event_by_event(real: Algorithm, book: Algorithm) -> None:
    for seed in range(12):
        schedule = random_schedule(seed, fifo=seed % 2 == 1)
        assert _first_difference(real, book, schedule) is None, f"seed {seed}"


@READINGS
@given(schedule=schedules(n_max=6, steps_max=60))
def test_no_schedule_is_found_that_tells_them_from_the_text(
    real: Algorithm, book: Algorithm, schedule: Schedule
) -> None:
    assert _first_difference(real, book, schedule) is None


def test_the_two_readings_differ_so_the_comparison_can_fail() -> None:
    schedules_ = [random_schedule(seed) for seed in range(10)]
    assert any(_first_difference(ks.ALGORITHM, literal.LITERAL_PRINTED, s) for s in schedules_)
    assert any(_first_difference(ks_printed.ALGORITHM, literal.LITERAL, s) for s in schedules_)
