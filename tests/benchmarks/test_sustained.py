"""The search for the highest load that is carried, on loads that are known."""

from __future__ import annotations

import pytest

from benchmarks.sustained import STEPS_PER_DOUBLING, highest
from testbed.core.errors import EngineError


@pytest.mark.parametrize("start", [0, 12, 24])
@pytest.mark.parametrize("capacity", range(41))
def test_the_search_finds_the_highest_step_wherever_it_starts(start: int, capacity: int) -> None:
    tried: list[int] = []

    def carries(step: int) -> bool:
        tried.append(step)
        return step <= capacity

    assert highest(carries, start) == capacity
    assert max(tried) <= max(start, capacity + STEPS_PER_DOUBLING), "it offered too much"


def test_a_machine_that_carries_nothing_ends_the_search() -> None:
    with pytest.raises(EngineError, match="not even one message per second"):
        highest(lambda step: step < 0, 12)
