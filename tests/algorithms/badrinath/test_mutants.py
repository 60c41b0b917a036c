"""Each step of exactly-once multicast left out or altered: audit or memory must notice.

Only order is not asked for here; badrinath promises none.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from testbed.algorithms.mobile import badrinath, storage
from testbed.hunt.roaming import MobileSchedule
from testbed.hunt.schedule import Schedule
from tests.algorithms.prs_mobile.hunting import faults, hunted
from tests.mutation import Mutant, mutate_beneath, mutated

HERE = Path(__file__).parent
SCHEDULES = 120

MUTANTS = (
    Mutant("h_RECD stops at messages for others",
           "            else host not in kept.packet.dests\n",
           "            else False\n", "stranger"),
    Mutant("h_RECD stops at what was deleted", "            self.storage.is_deleted(init, seq)\n",
           "            False\n", "liveness"),
    Mutant("h_RECD passes what has not come", "            self.storage.is_deleted(init, seq)\n",
           "            seq < self.m_seq\n", "liveness"),
    Mutant("numbering from 1", "        self.m_seq = 0\n", "        self.m_seq = 1\n", "liveness"),
    Mutant("one copy too few", "turn.multicast(self.others, packet",
           "turn.multicast(self.others[1:] or self.others, packet", "liveness"),
    Mutant("sent again while in the air", " and kept not in charge.in_air.values()", "", "once"),
    Mutant("acknowledged when sent", "        charge.in_air[charge.down] = kept\n",
           "        charge.in_air[charge.down] = kept\n"
           "        self._done(host, charge, kept, turn)\n", "liveness"),
    Mutant("the first acknowledgement suffices", "        if not waiting and self",
           "        if self", "liveness"),
    Mutant("acknowledged for all destinations", "        waiting.difference_update(hosts)\n",
           "        waiting.clear()\n", "liveness"),
    Mutant("nobody told of the deletion",
           "                turn.multicast(self.others, Delete(seq))\n",
           "                pass\n", "memory"),
    Mutant("its own copy not deleted", "            self._delete(self.me, seq)\n", "", "memory"),
    Mutant("a Delete wakes nobody",
           "        self.storage.delete(init, seq)\n        self._stir(init, seq)\n",
           "        self.storage.delete(init, seq)\n", "liveness"),
    Mutant("a message wakes nobody", "            self._stir(kept.init, kept.packet.seq)\n",
           "            pass\n", "liveness"),
    Mutant("one look per host", "        self.restless[host] = None\n        if not self.is_comb",
           "        if not self.is_comb", "liveness"),
    Mutant("stored messages not scanned at registration",
           "again=True)\n        self.restless[host] = None\n", "again=True)\n", "liveness"),
    Mutant("not sent again to a host that comes back",
           "for number, kept in charge.in_air.items():", "for number, kept in ():", "liveness"),
    Mutant("migration does not wait for the update", "    def _packed(self",
           "    def _hand_over(self, claim: Claim, turn: Turn) -> None:\n"
           "        self._give(claim, self.custody.give(claim), turn)\n\n"
           "    def _packed(self", "once"),
    Mutant("what was sent taken for delivered at a hand-off", "    def _packed(self",
           "    def _hand_over(self, claim: Claim, turn: Turn) -> None:\n"
           "        charge = self.custody.owned[claim.host]\n"
           "        self._acknowledge(claim.host, charge, charge.down, turn)\n"
           "        self._give(claim, self.custody.give(claim), turn)\n\n"
           "    def _packed(self", "liveness"),
    Mutant("h_RECD does not move", "claim.received, charge.h_recd)",
           "claim.received, [0] * len(charge.h_recd))", "once"),
    Mutant("the number of the last frame up does not move", "claim.host, charge.up,",
           "claim.host, 0,", "once"),
    Mutant("the number of the last frame sent moves, not of the last received",
           "charge.up, claim.received", "charge.up, charge.down", "liveness"),
    Mutant("dropped although stations keep", "if charge.is_disconnected and self.keeps:",
           "if False:", "dropped"),
)  # fmt: skip

STORAGE = (
    Mutant("no tombstone for a message that has not come",
           "if not self.is_deleted(init, seq):", "if seq in self.kept[init]:", "memory"),
    Mutant("a message kept after its Delete", "if self.is_deleted(init, seq) or seq",
           "if seq", "memory"),
    Mutant("deleted only up to the floor", " or seq in self.tombstones[init]", "", "memory"),
    Mutant("a Delete stands for all before it", "                self.floor[init] += 1\n",
           "                self.floor[init] += 2\n", "liveness"),
)  # fmt: skip


def is_caught(name: str, caught_by: str) -> bool:
    return any(caught_by in faults(hunted(name, number)) for number in range(SCHEDULES))


@pytest.mark.parametrize("params", ["", "[acks=combined]"])
def test_nothing_but_order_is_found_in_the_algorithm_itself(params: str) -> None:
    found: set[str] = set()
    for number in range(SCHEDULES):
        found |= faults(hunted(f"badrinath{params}", number))
    assert found == {"order"}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_multicast_is_caught(mutant: Mutant) -> None:
    name = f"{mutated(badrinath, mutant).__name__}:ALGORITHM"
    assert is_caught(name, mutant.caught_by), f"'{mutant.name}' survives"


@pytest.mark.parametrize("mutant", STORAGE, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_storage_is_caught(mutant: Mutant) -> None:
    record = mutate_beneath(badrinath, storage, mutant)
    name = next(
        f"{name}:ALGORITHM"
        for name, module in list(sys.modules.items())
        if getattr(module, "ALGORITHM", None) is record
    )
    assert is_caught(name, mutant.caught_by), f"'{mutant.name}' survives"


def test_a_station_that_never_lets_go_of_a_combined_acknowledgement_is_caught() -> None:
    """9.3: one whose last host leaves the cell must send what it has."""
    mutant = Mutant("never let go", "            if claim.host in kept.packet.dests:",
                    "            if claim.host == self.me:", "memory")  # fmt: skip
    name = f"{mutated(badrinath, mutant).__name__}:ALGORITHM"
    assert is_caught(f"{name}[acks=combined]", "memory")
    assert not is_caught(name, "memory")


# --- saved schedules: what happens as the text of 9.1 and 9.2 may be read -------------------------

STALE = Mutant(
    "a frame of an earlier stay taken", " and arrival.packet.stay == self.stay", "", "once"
)  # fmt: skip

READINGS = (
    ("migrated_at_once", "migration does not wait for the update", "once"),
    ("deleted_not_passed", "h_RECD stops at what was deleted", "liveness"),
    ("stale_frame", "a frame of an earlier stay taken", "once"),
)


@pytest.mark.parametrize(("file", "reading", "fault"), READINGS)
def test_a_saved_schedule_breaks_the_other_reading_and_not_this_one(
    file: str, reading: str, fault: str
) -> None:
    schedule = Schedule.load(HERE / f"{file}.json")
    assert isinstance(schedule, MobileSchedule)
    assert faults(schedule) <= {"order"}
    (mutant,) = (mutant for mutant in (*MUTANTS, STALE) if mutant.name == reading)
    name = f"{mutated(badrinath, mutant).__name__}:ALGORITHM"
    assert fault in faults(msgspec.structs.replace(schedule, algorithm=name))


def test_exactly_once_does_not_give_causal_order() -> None:
    schedule = Schedule.load(HERE / "out_of_order.json")
    assert isinstance(schedule, MobileSchedule)
    assert faults(schedule) == {"order"}
    ordered = msgspec.structs.replace(schedule, algorithm="prs-mobile")
    assert faults(ordered) == set()
