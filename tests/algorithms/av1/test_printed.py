"""AV section 4.2 by its word: saved schedules that break it, and that av1 survives."""

from __future__ import annotations

import msgspec
import pytest

from testbed.algorithms import find
from testbed.core.world import FOREVER
from testbed.hunt.generate import Shape
from testbed.hunt.hunter import replay
from testbed.hunt.roaming import MobileSchedule
from testbed.hunt.schedule import Schedule
from testbed.hunt.wander import make_mobile_schedule
from testbed.trace.oracle import Audit, Fault, Verdict
from tests.algorithms.av1.walks import what_is_in_transit_follows_the_host
from tests.traces import TRACES

FAULTS = {
    "av1-printed-loses-what-is-in-transit": (Fault.LIVENESS, "m3.1 never arrived at p2"),
    "av1-printed-accepts-a-repeated-message": (
        Fault.EXACTLY_ONCE, "m3.1 was delivered at p2 more than once",
    ),
}  # fmt: skip


def saved(name: str) -> MobileSchedule:
    schedule = Schedule.load(TRACES / f"{name}.json")
    assert isinstance(schedule, MobileSchedule)
    return schedule


def replayed(name: str, algorithm: str) -> Audit:
    return replay(msgspec.structs.replace(saved(name), algorithm=algorithm))


@pytest.mark.parametrize("name", FAULTS)
def test_the_hand_off_as_printed_fails_on_its_saved_schedule(name: str) -> None:
    fault, why = FAULTS[name]
    audit = replayed(name, "av1-printed")
    assert audit.verdict is Verdict.INVALID
    assert (fault, why) in [(finding.fault, finding.prose) for finding in audit.findings]


@pytest.mark.parametrize("name", FAULTS)
def test_the_corrected_hand_off_survives_the_same_schedule(name: str) -> None:
    audit = replayed(name, "av1")
    assert audit.findings == []
    assert audit.delivered == audit.owed > 0


@pytest.mark.parametrize("name", FAULTS)
def test_a_saved_schedule_is_small_enough_to_be_read(name: str) -> None:
    schedule = saved(name)
    assert len(schedule.sends) <= 3
    assert schedule.moves <= 3


def test_every_saved_schedule_is_replayed_by_a_test() -> None:
    assert {path.stem for path in TRACES.glob("av1-*.json")} == set(FAULTS)


def test_where_nobody_moves_the_printed_form_is_safe_and_live() -> None:
    for number in range(40):
        made = make_mobile_schedule("av1-printed", find("av1-printed"), 1, number, Shape())
        cells = tuple((msgspec.structs.replace(s[0], end=FOREVER),) for s in made.stays)
        still = msgspec.structs.replace(made, stays=cells)
        assert replay(still).findings == []


def test_what_is_in_transit_is_lost_step_by_step() -> None:
    with pytest.raises(AssertionError):
        what_is_in_transit_follows_the_host(find("av1-printed"))
