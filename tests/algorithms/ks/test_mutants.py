"""Every step of ks matters, and the checks see it: each mutant causes what is said of it."""

from __future__ import annotations

from functools import cache

import pytest

from testbed.algorithms.static import ks
from tests.algorithms.ks.batch import watch_all
from tests.algorithms.ks.mutants import MUTANTS, KsMutant
from tests.algorithms.ks.schedules import random_schedule
from tests.algorithms.ks.world import Schedule
from tests.mutation import Mutant, mutate

OF_THE_AUDIT = {"order", "liveness"}


@cache
def _schedules() -> list[Schedule]:
    return [random_schedule(seed, n=3 + seed % 4, messages=20) for seed in range(12)]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_is_caught_by_what_is_said_to_catch_it(mutant: KsMutant) -> None:
    caught_by = ", ".join(sorted(mutant.kinds))
    algorithm = mutate(ks, Mutant(mutant.name, mutant.old, mutant.new, caught_by))
    outcome = watch_all(algorithm, _schedules())
    assert mutant.kinds, "it must say what catches it"
    assert mutant.kinds <= outcome.kinds, str(outcome)
    assert bool(outcome.kinds & OF_THE_AUDIT) == bool(mutant.kinds & OF_THE_AUDIT), str(outcome)


def test_the_same_schedules_find_nothing_in_ks_itself() -> None:
    assert watch_all(ks.ALGORITHM, _schedules()).kinds == set()


def test_the_audit_of_order_sees_a_part_of_the_mutants_only() -> None:
    """Why the oracle of PC1 and PC2 exists."""
    seen = [mutant.name for mutant in MUTANTS if mutant.kinds & OF_THE_AUDIT]
    assert len(seen) >= 10
    assert len(MUTANTS) - len(seen) >= 10
