"""Each part of odca left out or altered: order, deadlines, repair, buffers or an error show it."""

from __future__ import annotations

from types import ModuleType

import pytest

from testbed.algorithms.deadline import odca, pending
from tests.algorithms.odca.mutants import PARTS, PENDING, WHOLE, is_caught, mutate_part
from tests.mutation import Mutant, mutate

KINDS = sorted({mutant.caught_by for mutant in (*PENDING, *WHOLE, *(m for _, m in PARTS))})


@pytest.mark.parametrize("caught_by", KINDS)
def test_nothing_is_caught_in_the_algorithm_itself(caught_by: str) -> None:
    assert not is_caught(odca.ALGORITHM, caught_by)


@pytest.mark.parametrize("mutant", PENDING, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_queue_is_caught(mutant: Mutant) -> None:
    assert is_caught(mutate_part(pending, mutant), mutant.caught_by), f"'{mutant.name}' survives"


@pytest.mark.parametrize(
    ("part", "mutant"), PARTS, ids=lambda given: given.name if isinstance(given, Mutant) else ""
)
def test_a_mutant_of_what_repairs_is_caught(part: ModuleType, mutant: Mutant) -> None:
    assert is_caught(mutate_part(part, mutant), mutant.caught_by), f"'{mutant.name}' survives"


@pytest.mark.parametrize("mutant", WHOLE, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_modules_is_caught(mutant: Mutant) -> None:
    assert is_caught(mutate(odca, mutant), mutant.caught_by), f"'{mutant.name}' survives"
