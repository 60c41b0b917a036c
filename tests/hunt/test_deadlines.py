"""The hunt under deadlines: it finds what is late, doubled or inverted, and lets the sound pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testbed.algorithms import find
from testbed.core.errors import BadInput
from testbed.hunt.generate import Shape
from testbed.hunt.hunter import hunt, replay
from testbed.hunt.mortal import DeadlineSchedule
from testbed.hunt.perish import make_deadline_schedule
from testbed.hunt.schedule import Schedule
from testbed.trace.oracle import Fault, Verdict
from tests.families import DEADLINE

FAULTY = {
    "SLOW_WATCH": Fault.DEADLINE,
    "SAYS_IT_TWICE": Fault.EXACTLY_ONCE,
    "WAITS_FOR_NOTHING": Fault.CAUSAL_ORDER,
}

SOUND = [name for name in DEADLINE if not name.endswith("printed")]
"""As printed, odca is not expected to hold."""


def made(name: str, count: int) -> list[DeadlineSchedule]:
    return [make_deadline_schedule(name, find(name), 3, at, Shape()) for at in range(count)]


@pytest.mark.parametrize("name", SOUND)
def test_no_schedule_breaks_a_deadline_algorithm_and_they_test_it(name: str) -> None:
    result = hunt(name, schedules=60, seconds=None, seed=2, cores=1)
    assert result.verdict is Verdict.VALID, result.why
    assert result.held > 0 < result.arrived_out_of_order
    assert result.skipped > 0
    assert result.vacuous < 20


@pytest.mark.parametrize("name", FAULTY)
def test_the_hunt_finds_the_fault_and_calls_it_by_its_name(name: str) -> None:
    result = hunt(f"tests.hunt.hasty:{name}", schedules=300, seconds=None, seed=1, cores=1)
    assert result.verdict is Verdict.INVALID
    assert FAULTY[name] in {one.fault for found in result.finds for one in found.audit.findings}


def test_schedules_hold_all_that_a_deadline_algorithm_must_live_with() -> None:
    schedules = made("tdca", 60)
    fates = [fate for made in schedules for send in made.sends for fate in send.fates]
    assert {len(fate) for fate in fates} == {0, 1, 2}
    assert any(made.crashes for made in schedules)
    assert all(len(crash.nodes) < made.n for made in schedules for crash in made.crashes)
    assert any(clock.drift_ppb for made in schedules for clock in made.clocks)
    assert {made.beat is None for made in schedules} == {True, False}
    assert all(made.impossible() is None for made in schedules)
    assert schedules == made_again(schedules)


def made_again(schedules: list[DeadlineSchedule]) -> list[DeadlineSchedule]:
    return made("tdca", len(schedules))


def test_a_saved_find_under_deadlines_replays_to_the_identical_audit(tmp_path: Path) -> None:
    found = hunt("tests.hunt.hasty:SLOW_WATCH", schedules=200, seconds=None, seed=1, cores=1)
    first = found.finds[0]
    first.schedule.save(tmp_path / "find.json")
    loaded = Schedule.load(tmp_path / "find.json")
    assert loaded == first.schedule
    assert replay(loaded) == first.audit


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"clocks": []}, "`clocks` takes"),
        ({"beat": 5, "timeout": 5}, "`beat` takes an interval"),
        ({"crashes": [{"type": "crash", "time": 0, "nodes": [99]}]}, "`crashes` names a node"),
        ({"n": 1}, "n is 1"),
    ],
)
def test_an_impossible_schedule_is_refused_in_one_sentence(
    tmp_path: Path, change: dict[str, object], complaint: str
) -> None:
    file = tmp_path / "schedule.json"
    made("tdca", 1)[0].save(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(BadInput) as caught:
        Schedule.load(file)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)
