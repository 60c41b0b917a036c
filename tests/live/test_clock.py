"""The run's clock and the estimate of another machine's."""

from __future__ import annotations

import time

import pytest

from actors.clock import RunClock, clock_identity, loopback_identity, measure_offset


@pytest.fixture
def wall(monkeypatch):
    """A monotonic clock that moves when the test says so."""
    reading = {"now": 1_000}
    monkeypatch.setattr(time, "monotonic_ns", lambda: reading["now"])
    return reading


def test_emulated_time_is_wall_time_since_the_start_times_the_speed(wall):
    clock = RunClock(start=1_000, speed=0.5)
    wall["now"] = 3_000

    assert clock.now() == 1_000


def test_before_the_start_emulated_time_is_negative(wall):
    assert RunClock(start=5_000, speed=1.0).now() == -4_000


def test_waiting_for_an_emulated_time_takes_longer_at_half_the_speed(wall):
    assert RunClock(start=1_000, speed=0.5).seconds_until(10**9) == pytest.approx(2.0)


def test_the_offset_is_taken_from_the_shortest_round_trip_and_its_half_is_the_error(wall):
    trips = iter([(400, 100), (20, 10), (900, 0)])  # (whole trip, of it on the way out)

    def read_other() -> int:
        whole, out = next(trips)
        answer = wall["now"] + out + 7_000_000
        wall["now"] += whole
        return answer

    offset = measure_offset(read_other, trips=3)

    assert offset.value == 7_000_000
    assert offset.error == 10


def test_the_true_offset_lies_within_the_error_however_lopsided_the_trip(wall):
    def read_other() -> int:
        wall["now"] += 600
        return wall["now"] + 5_000

    offset = measure_offset(read_other, trips=1)

    assert abs(offset.value - 5_000) <= offset.error


def test_one_process_shares_clock_and_loopback_with_itself():
    assert clock_identity() == clock_identity()
    assert loopback_identity() == loopback_identity()
