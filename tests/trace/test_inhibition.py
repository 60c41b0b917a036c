"""Inhibition is time held although deliverable: none for av1, some for order among stations."""

from __future__ import annotations

import pytest

from testbed.hunt.roaming import MobileSchedule
from testbed.trace.inhibition import Hold, Step, holds
from testbed.trace.schema import ABSENT, REASONS, Event
from tests.families import MOBILE
from tests.hunted import Roamed, roam, schedule_of

STATION, OLD, HOST, OTHER = 0, 1, 2, 3
FIRST, SECOND, FOREIGN = (3, 1), (3, 2), (4, 1)


def steps_of(run: Roamed) -> list[Step]:
    names = MOBILE[run.schedule.algorithm].packet_names
    steps = []
    for at, row in enumerate(run.rows.named()):
        steps.append(
            Step(
                Event(row["event"]), row["node"], row["time"],
                None if row["origin"] == ABSENT else (row["origin"], row["number"]),
                run.rows.dests.get(at, ()), row["peer"],
                None if row["packet"] == ABSENT else names[row["packet"]],
                None if row["reason"] == ABSENT else REASONS[row["reason"]],
            )
        )  # fmt: skip
    return steps


def holds_of(schedule: MobileSchedule) -> list[Hold]:
    return holds(steps_of(roam(schedule)), schedule.stations, schedule.n)


def inhibited(name: str, schedules: int) -> tuple[int, int]:
    """How many releases there were, and how many of them came later than they might have."""
    found = [hold for number in range(schedules) for hold in holds_of(schedule_of(name, number))]
    return len(found), sum(hold.inhibited > 0 for hold in found)


def sent(message: tuple[int, int], *dests: int) -> Step:
    return Step(Event.SEND, message[0], 0, message, dests)


def received(time: int, message: tuple[int, int], at: int = STATION, by: int = 1) -> Step:
    return Step(Event.RECEIVE, at, time, message, (), by)


def released(time: int, message: tuple[int, int]) -> Step:
    return Step(Event.FORWARD, STATION, time, message, (), HOST)


def moved(event: Event, node: int, time: int, peer: int) -> Step:
    return Step(event, node, time, None, (), peer)


def test_time_after_everything_before_it_was_released_is_inhibition() -> None:
    accepted = [received(1, FIRST, OLD, OTHER), received(2, SECOND, OLD, OTHER)]
    known = Step(Event.FORWARD, OLD, 0, (9, 9), (), OTHER)  # host 3 is looked after by OLD
    arrived = [received(10, SECOND), received(30, FIRST)]
    steps = [known, sent(FIRST, HOST), sent(SECOND, HOST), *accepted, *arrived]
    first, second = holds([*steps, released(30, FIRST), released(45, SECOND)], 2, 5)
    assert (first.arrived, first.deliverable, first.inhibited) == (30, 30, 0)
    assert (second.arrived, second.deliverable, second.inhibited) == (10, 30, 15)


def test_a_message_that_nothing_precedes_is_inhibited_from_its_arrival() -> None:
    (hold,) = holds([sent(FOREIGN, HOST), received(10, FOREIGN), released(25, FOREIGN)], 2, 5)
    assert hold.inhibited == 15


def test_time_away_is_not_inhibition() -> None:
    steps = [
        sent(FOREIGN, HOST), received(10, FOREIGN), moved(Event.LEAVE, HOST, 12, STATION),
        moved(Event.ENTER, HOST, 15, STATION),
        Step(Event.RECEIVE, STATION, 20, None, (), HOST, "register"), released(25, FOREIGN),
    ]  # fmt: skip
    (hold,) = holds(steps, 2, 5)
    assert hold.inhibited == (12 - 10) + (25 - 20)


def test_av1_holds_nothing_longer_than_causal_order_asks() -> None:
    releases, late = inhibited("av1", 60)
    assert releases > 1000
    assert late == 0


@pytest.mark.parametrize("name", ["av2", "av3"])
def test_order_among_stations_holds_what_order_among_hosts_would_not(name: str) -> None:
    releases, late = inhibited(name, 40)
    assert releases > 700
    assert late > 20
