"""Hand-offs of av1, message by message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testbed.algorithms import find
from testbed.core.algorithm import Algorithm
from tests.algorithms.av1.walks import WALKS


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.__name__)
def test_each_step_of_a_hand_off_does_what_it_must(walk: Callable[[Algorithm], None]) -> None:
    assert walk(find("av1")) is None
