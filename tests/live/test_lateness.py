"""The histogram of lateness: never too small, at most an eighth too large."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.lateness import Lateness

times = st.lists(st.integers(0, 10**13), min_size=1, max_size=50)


def collected(values: list[int]) -> Lateness:
    lateness = Lateness()
    for value in values:
        lateness.add(value)
    return lateness


@given(times, st.sampled_from([0.01, 0.5, 0.99, 1.0]))
def test_a_quantile_is_right_within_an_eighth_and_never_too_small(values, share):
    rank = max(1, -int(-share * len(values) // 1))
    true = sorted(values)[rank - 1]

    assert true <= collected(values).quantile(share) <= true + true / 8


@given(times, times)
def test_two_histograms_merge_into_that_of_all_values(some, others):
    merged = collected(some)
    merged.merge(collected(others).counts, max(others))
    together = collected(some + others)

    assert merged.counts == together.counts
    assert merged.max == together.max == max(some + others)


def test_nothing_collected_is_not_late():
    assert Lateness().summary(10) == {"p50": 0, "p99": 0, "max": 0, "count": 0, "budget": 10}
