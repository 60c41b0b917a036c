"""Rows that only their owner lets grow: the newer of two is the maximum of both."""

from __future__ import annotations

import random

import pytest

from testbed.core.matrix import newest_rows


def views(seed: int, n: int) -> list[list[int]]:
    """What several onlookers know of n rows: each row as it was at some time, or still is."""
    draw = random.Random(seed)
    histories = []
    for _ in range(n):
        history = [[0] * n]
        for _ in range(6):
            row = history[-1].copy()
            for column in draw.sample(range(n), draw.randint(1, n)):
                row[column] += 1
            history.append(row)
        histories.append(history)
    return [[count for history in histories for count in draw.choice(history)] for _ in range(8)]


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_the_newest_rows_are_the_element_wise_maximum(n: int) -> None:
    for seed in range(20):
        known = views(seed, n)
        for mine in known:
            for theirs in known:
                assert newest_rows(mine, theirs, n) == list(map(max, mine, theirs))


def test_neither_matrix_is_changed_and_the_result_is_a_new_one() -> None:
    mine, theirs = [1, 0, 0, 2], [0, 0, 0, 3]
    merged = newest_rows(mine, theirs, 2)
    assert (mine, theirs, merged) == ([1, 0, 0, 2], [0, 0, 0, 3], [1, 0, 0, 3])
    assert merged is not mine
    assert newest_rows(mine, mine, 2) is not mine
