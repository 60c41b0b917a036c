"""Theorems 3 and 6 of KS: logs and messages hold what PC1 and PC2 require, no more and no less.

After every whole SND and RCV, and on every copy as its receiver decodes it, in random executions.
"""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given

from testbed.algorithms.static import ks
from testbed.core.model import Message, NodeId, Role
from testbed.core.node import Arrival, Turn, View
from tests.algorithms.ks.batch import seeded, watch_all
from tests.algorithms.ks.schedules import random_schedule, schedules
from tests.algorithms.ks.watch import Constraints
from tests.algorithms.ks.world import Copy, Schedule, Send, Watcher, play

BOTH_CHANNELS = pytest.mark.parametrize("fifo", [False, True], ids=["any order", "fifo"])


@BOTH_CHANNELS
@pytest.mark.parametrize(
    "kind", ["missing", "redundant", "newest", "null", "lemma 1", "lemma 2", "lemma 4", "lemma 7"]
)
def test_after_every_whole_snd_and_rcv_there_is_no(kind: str, fifo: bool) -> None:
    outcome = seeded(fifo)
    assert outcome.counts[kind] == 0, f"{outcome.counts[kind]} {kind}; in all {outcome}"


@BOTH_CHANNELS
def test_the_executions_leave_much_to_hold_and_much_to_forget(fifo: bool) -> None:
    outcome = seeded(fifo)
    assert outcome.events > 2_500
    assert outcome.facts > 20_000


@given(schedules(n_max=8))
def test_no_schedule_is_found_in_which_information_is_missing_or_redundant(
    schedule: Schedule,
) -> None:
    constraints = Constraints(schedule.n)
    play(ks.ALGORITHM, schedule, constraints)
    counts = constraints.counts
    assert not counts, (
        f"{counts['missing']} missing, {counts['redundant']} redundant; {constraints}"
    )


# --- time stamps with gaps (KS 2.1: clock_i need not count messages) ---


class Leaping(ks.Process):
    """A clock that also runs between sends, by steps of any size."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._leaps = random.Random(view.me)
        self._leap()

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        self._leap()
        super().on_submitted(message, dests, turn)

    def on_received(self, arrival: Arrival[ks.Data, ks.Own | None], turn: Turn) -> None:
        self._leap()
        super().on_received(arrival, turn)

    def _leap(self) -> None:
        self.clock += self._leaps.choice((0, 1, 7, 1_000, 1 << 40))


LEAPING = dataclasses.replace(ks.ALGORITHM, name="ks-leaping", roles={Role.PROCESS: Leaping})


@BOTH_CHANNELS
def test_time_stamps_with_gaps_order_as_well_and_carry_the_same(fifo: bool) -> None:
    outcome = watch_all(LEAPING, (random_schedule(seed, fifo=fifo) for seed in range(15)))
    assert outcome.counts == {}, str(outcome)
    assert outcome.held > 40


def test_gaps_do_not_change_what_is_carried() -> None:
    batch = [random_schedule(seed) for seed in range(6)]
    assert watch_all(LEAPING, batch).total == watch_all(ks.ALGORITHM, batch).total


# --- more than 63 nodes: destination sets are bytes on the wire ---


class WideSets(Watcher):
    def __init__(self) -> None:
        self.in_headers = 0
        self.in_logs = 0

    def copied(self, copy: Copy, arrival: Arrival[ks.Data, ks.Own | None]) -> None:
        self.in_headers += isinstance(arrival.packet.dests, bytes)
        self.in_logs += any(isinstance(dests, bytes) for dests in arrival.packet.left)


def test_seventy_nodes_are_ordered_and_exact_with_sets_that_no_integer_holds() -> None:
    schedule = random_schedule(5, n=70, messages=25)
    widest = Send(69, tuple(range(60, 70)))
    schedule = schedule._replace(steps=(widest, *schedule.steps, widest))
    outcome, wide = watch_all(ks.ALGORITHM, [schedule]), WideSets()
    play(ks.ALGORITHM, schedule, wide)
    assert outcome.counts == {}, str(outcome)
    assert outcome.held > 10
    assert wide.in_headers > 10
    assert wide.in_logs > 10
