"""Delta-causal order: a sending time and one lifetime say when to stop waiting."""

from __future__ import annotations

from testbed.algorithms import find
from tests.deadline_schedules import Weather, play, ratio
from tests.deadline_stage import MS, Stage

DELTA = find("delta-causal")


def stage_of(n: int) -> Stage:
    stage = Stage(DELTA, n)
    stage.until(100)
    return stage


def test_a_packet_carries_one_time_for_each_process_and_one_more() -> None:
    stage = stage_of(4)
    stage.send(0, 100)
    (_, _, packet), *_ = stage.packets_of("Data")
    assert DELTA.size(packet, None).ints == 5


def test_what_is_lost_is_waited_for_until_its_own_lifetime_is_over() -> None:
    stage = stage_of(2)
    stage.lose(stage.send(0, 100), 1)
    stage.until(130)
    second = stage.send(0, 100)
    stage.arrive(second, 1)
    stage.until(199)
    assert stage.order(1) == []
    stage.until(201)
    assert stage.order(1) == [second]
    assert stage.delivered[1][0].shown == 200 * MS


def test_with_one_lifetime_and_equal_clocks_nothing_that_comes_in_time_is_dropped() -> None:
    weather = Weather(loss=0.3, duplicate=0, lifetimes=(60,), skew_ms=0)
    delivered = 0.0
    for seed in range(60):
        stage = play(DELTA, seed, n=4, weather=weather)
        reasons = {reason for discarded in stage.discarded for _, reason in discarded}
        assert reasons <= {"expired"}
        delivered += ratio(stage)
    assert 20 < delivered < 55


def test_with_many_lifetimes_order_holds_and_some_are_given_up_too_early() -> None:
    stage = stage_of(2)
    first = stage.send(0, 900)
    stage.until(120)
    short = stage.send(0, 50)
    stage.arrive(short, 1)
    stage.until(155)
    assert stage.order(1) == [short]
    stage.arrive(first, 1)
    assert stage.reasons(1) == {first: "overtaken"}
    assert stage.faults() == []
