"""Each step of a hand-off left out or altered: the audit or a walk must notice."""

from __future__ import annotations

import pytest

from testbed.algorithms import find
from testbed.algorithms.mobile import air, av1, custody, station
from testbed.core.algorithm import Algorithm
from tests.algorithms.av1.mutants import ALL, SURVIVORS
from tests.algorithms.av1.walks import WALKS
from tests.mutation import Mutant, hunt_mobile, mutate_family

FAMILY = (air, custody, station, av1)
RARE = {"the older of two requests waits": range(1_100, 1_110)}
"""Mutants that random schedules meet once in a thousand, and where."""


def goes_another_way(algorithm: Algorithm) -> bool:
    for walk in WALKS:
        try:
            walk(algorithm)
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    path = mutate_family(FAMILY, mutant)
    if mutant.caught_by == "walk":
        assert goes_another_way(find(path)), f"'{mutant.name}' survives"
    else:
        numbers = RARE.get(mutant.name, range(200))
        assert hunt_mobile(path, mutant.caught_by, numbers) is not None, f"'{mutant.name}' survives"


@pytest.mark.parametrize("mutant", SURVIVORS, ids=lambda mutant: mutant.name)
def test_a_change_that_only_costs_something_is_no_fault(mutant: Mutant) -> None:
    path = mutate_family(FAMILY, mutant)
    assert hunt_mobile(path, None, range(60)) is None


def test_what_catches_mutants_is_silent_about_the_algorithm_itself() -> None:
    assert not goes_another_way(find("av1"))
    assert hunt_mobile("av1", None, range(60)) is None
