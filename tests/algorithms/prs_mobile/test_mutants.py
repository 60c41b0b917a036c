"""What prs-mobile adds to badrinath, left out or altered: order or liveness must break."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from testbed.algorithms.mobile import prs_mobile
from testbed.hunt.roaming import MobileSchedule
from testbed.hunt.schedule import Schedule
from tests.algorithms.prs_mobile.hunting import faults, hunted
from tests.mutation import Mutant, mutated

HERE = Path(__file__).parent
SCHEDULES = 150
SAYS = "self._acknowledge(arrival.source, charge, arrival.packet.received, turn)"

MUTANTS = (
    Mutant("condition 3 not asked", "return self.pasts[host].is_satisfied(kept.packet.rows)",
           "return True", "order"),
    Mutant("the barrier of another host asked",
           "self.pasts[host].is_satisfied(kept.packet.rows)",
           "next(iter(self.pasts.values())).is_satisfied(kept.packet.rows)", "order"),
    Mutant("CB_h not updated at the notification",
           "self.pasts[host].deliver(packet.sender, packet.number, packet.dests, packet.rows)",
           "self.pasts[host].drop(packet.sender, packet.number)", "order"),
    Mutant("Delivered not updated at the notification",
           "self.pasts[host].deliver(packet.sender, packet.number, packet.dests, packet.rows)",
           "pass", "liveness"),
    Mutant("a dropped message still waited for",
           "        self.pasts[host].drop(kept.packet.sender, kept.packet.number)\n",
           "        pass\n", "liveness"),
    Mutant("every message of a station the first", "self.pasts[origin].send(dests)",
           "Past(origin).send(dests)", "order"),
    Mutant("CB_h does not move", "to_wire(past.cb)", "[]", "order"),
    Mutant("Delivered does not move", "to_wire(past.delivered)", "[]", "liveness"),
    Mutant("sent_h does not move", "past.sent,", "0,", "liveness"),
    Mutant("the past of the old station stays", "self.pasts[packet.host] = Past(packet.host)",
           "Past(packet.host)", "crash"),
)  # fmt: skip


@pytest.mark.parametrize("params", ["", "[acks=combined]"])
def test_nothing_at_all_is_found_in_the_algorithm_itself(params: str) -> None:
    found: set[str] = set()
    for number in range(SCHEDULES):
        found |= faults(hunted(f"prs-mobile{params}", number))
    assert found == set()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_order_is_caught(mutant: Mutant) -> None:
    name = f"{mutated(prs_mobile, mutant).__name__}:ALGORITHM"
    assert any(mutant.caught_by in faults(hunted(name, number)) for number in range(SCHEDULES)), (
        f"'{mutant.name}' survives"
    )


def test_a_message_that_does_not_say_what_it_follows_may_overtake_it() -> None:
    """The host is back in its cell before it knows: the air took its notification, and then not
    its next message."""
    schedule = Schedule.load(HERE / "notification_lost.json")
    assert isinstance(schedule, MobileSchedule)
    assert faults(schedule) == set()
    mute = mutated(prs_mobile, Mutant("it says nothing", SAYS, "pass", "order"))
    name = f"{mute.__name__}:ALGORITHM"
    assert faults(msgspec.structs.replace(schedule, algorithm=name)) == {"order"}
