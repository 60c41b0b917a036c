"""Algorithm 2 with notify where it is printed: the schedule on which a stale one wins."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from testbed.algorithms import find
from testbed.hunt.generate import Shape
from testbed.hunt.play import play
from testbed.hunt.roaming import MobileSchedule
from testbed.hunt.schedule import Schedule
from testbed.hunt.wander import make_mobile_schedule
from testbed.trace.oracle import Fault
from tests.algorithms.av2.stage import Stage

STALE_NOTIFY = Path(__file__).parent / "stale_notify.json"


def stale_notify(algorithm: str) -> MobileSchedule:
    """h goes from s0 to s1 to s2; s1's notify reaches s3 after that of s2."""
    schedule = Schedule.load(STALE_NOTIFY)
    assert isinstance(schedule, MobileSchedule)
    return msgspec.structs.replace(schedule, algorithm=algorithm)


def test_a_stale_notify_sends_a_message_to_where_the_host_has_left() -> None:
    (finding,) = play(stale_notify("av2-printed")).findings
    assert finding.fault is Fault.LIVENESS
    assert finding.prose == "m5.1 never arrived at p4"


@pytest.mark.parametrize("name", ["av2", "av3", "av3[k=3]"])
def test_notify_after_enable_is_never_stale(name: str) -> None:
    audit = play(stale_notify(name))
    assert audit.findings == []
    assert audit.delivered == audit.owed == 1


def test_as_printed_half_of_the_random_schedules_lose_messages() -> None:
    algorithm = find("av2-printed")
    faults = [
        {finding.fault for finding in play(schedule).findings}
        for schedule in (
            make_mobile_schedule("av2-printed", algorithm, 1, number, Shape())
            for number in range(40)
        )
    ]
    assert sum(Fault.LIVENESS in found for found in faults) > 10


def test_as_printed_a_hand_off_that_nothing_disturbs_works() -> None:
    stage = Stage("av2-printed", (0, 1, 2), stations=3)
    message = stage.send(5, 3)
    stage.move(3, 1)
    assert [name for name, _, _ in stage.on_wires()] == [
        "Data", "HandoffBegin", "Notify", "Notify", "Last",
    ]  # fmt: skip
    early = stage.send(4, 3)
    stage.settle()
    later = stage.send(5, 3)
    stage.settle()
    assert stage.delivered_at(3) == [message, early, later]
