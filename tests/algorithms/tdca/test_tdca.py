"""TDCA: deadlines of the past travel, and what is worthless is not waited for."""

from __future__ import annotations

from testbed.algorithms import find
from tests.deadline_stage import MS, Stage

TDCA = find("tdca")


def stage_of(n: int) -> Stage:
    stage = Stage(TDCA, n)
    stage.until(100)
    return stage


def test_a_packet_carries_the_latest_deadline_of_each_process_in_the_past() -> None:
    stage = stage_of(3)
    stage.arrive(stage.send(0, 900), 1)
    stage.arrive(stage.send(0, 200), 1)
    stage.send(1, 50)
    (*_, (_, _, packet)) = stage.packets_of("Data")
    assert packet.ends == [1_000_000, 0, 0]
    assert TDCA.size(packet, None).ints == 7


def test_a_message_waits_for_its_past_only_while_that_is_worth_something() -> None:
    stage = stage_of(2)
    stage.lose(stage.send(0, 60), 1)
    second = stage.send(0, 900)
    stage.arrive(second, 1)
    stage.until(159)
    assert stage.order(1) == []
    stage.until(161)
    assert stage.order(1) == [second]
    assert stage.delivered[1][0].shown == 160 * MS


def test_at_its_own_deadline_it_waits_no_longer_however_long_its_past_lives() -> None:
    stage = stage_of(2)
    first, second = stage.send(0, 900), stage.send(0, 60)
    stage.arrive(second, 1)
    stage.until(161)
    assert stage.order(1) == [second]
    stage.arrive(first, 1)
    assert stage.reasons(1) == {first: "overtaken"}
    assert stage.faults() == []


def test_a_successor_that_must_go_takes_what_waits_along() -> None:
    stage = stage_of(3)
    lost = stage.send(0, 900)
    stage.lose(lost, 2)
    stage.arrive(lost, 1)
    waits = stage.send(1, 800)
    hurries = stage.send(1, 30)
    stage.arrive(hurries, 2)
    stage.arrive(waits, 2)
    stage.until(140)
    assert stage.order(2) == [waits, hurries]
    assert stage.wasted == []


def test_nobody_is_asked_for_anything() -> None:
    stage = stage_of(3)
    stage.lose(stage.send(0, 900), 1)
    stage.arrive(stage.send(0, 900), 1)
    stage.until(5_000)
    assert {type(packet).__name__ for _, _, packet in stage.packets_sent} == {"Data"}
