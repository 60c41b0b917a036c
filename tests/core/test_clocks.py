"""Clocks: what they show, when they will show it, and that each node has its own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from testbed.core.clocks import Clock, Clocks
from testbed.core.distribution import Uniform

MS = 1_000_000
clocks = st.builds(
    Clock, ahead=st.integers(0, 10**9), drift_ppb=st.integers(-500_000_000, 500_000_000)
)
times = st.integers(0, 10**13)


@given(clock=clocks, shown=times)
def test_a_timer_comes_due_when_the_clock_shows_it_and_not_before(clock: Clock, shown: int) -> None:
    due = clock.when(shown)
    assert clock.show(due) >= shown
    if due:
        assert clock.show(due - 1) < shown


@given(clock=clocks, one=times, other=times)
def test_a_clock_never_turns_back(clock: Clock, one: int, other: int) -> None:
    early, late = sorted((one, other))
    assert clock.show(early) <= clock.show(late)


def test_a_fast_clock_gains_what_its_drift_says() -> None:
    second = 1_000_000_000
    assert Clock(ahead=5 * MS, drift_ppb=20_000).show(100 * second) == 100 * second + 7 * MS


def test_each_node_has_a_clock_of_its_own_and_always_the_same() -> None:
    spec = Clocks(ahead=Uniform(0, 10 * MS), drift_ppb=50_000)
    drawn = [spec.of(node, seed=3) for node in range(20)]
    assert drawn == [spec.of(node, seed=3) for node in range(20)]
    assert len({clock.ahead for clock in drawn}) == 20
    assert all(0 <= clock.ahead <= 10 * MS for clock in drawn)
    assert min(clock.drift_ppb for clock in drawn) < 0 < max(clock.drift_ppb for clock in drawn)
    assert all(abs(clock.drift_ppb) <= 50_000 for clock in drawn)
