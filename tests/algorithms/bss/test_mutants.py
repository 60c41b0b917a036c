"""Each step of BSS left out or altered: the audit must notice."""

from __future__ import annotations

import pytest

from testbed.algorithms.static import bss
from tests.mutation import Mutant, assert_caught, assert_nothing_caught, mutate

HOLD = "self.queue.hold(arrival, needs)"
SENDER = (
    "        needs[arrival.source] = (arrival.source, arrival.packet.vector[arrival.source] - 1)\n"
)

MUTANTS = (
    Mutant("one component ignored", HOLD, "self.queue.hold(arrival, needs[1:])", "order"),
    Mutant("the sender's component ignored", HOLD,
           "self.queue.hold(arrival, [need for need in needs if need[0] != arrival.source])",
           "order"),
    Mutant("all but the sender's component ignored", HOLD,
           "self.queue.hold(arrival, [needs[arrival.source]])", "order"),
    Mutant("the message demanded of itself", SENDER, "", "liveness"),
    Mutant("the send not counted", "self.vector[self.me] += 1", "self.vector[self.me] += 0",
           "order"),
    Mutant("the send counted after the vector left", "Data(self.vector.copy())",
           "Data([v - (k == self.me) for k, v in enumerate(self.vector)])", "order"),
    Mutant("deliveries not counted",
           "self.vector[ready.source] = ready.packet.vector[ready.source]", "pass", "liveness"),
    Mutant("arrivals counted instead of deliveries", "        self.queue.hold(arrival, needs)\n",
           "        self.queue.hold(arrival, needs)\n"
           "        self.vector[arrival.source] += 1\n", "order"),
    Mutant("what waits is never looked at again", "            self.queue.advanced(ready.source)\n",
           "", "liveness"),
    Mutant("a broadcast delivered to its sender twice", "len(others) < len(dests)",
           "len(others) <= len(dests)", "stranger"),
    Mutant("the live vector handed out", "Data(self.vector.copy())", "Data(self.vector)", "copy"),
)  # fmt: skip


@pytest.mark.parametrize("itself", [False, True])
def test_nothing_is_caught_in_the_algorithm_itself(itself: bool) -> None:
    assert_nothing_caught(bss.ALGORITHM, itself=itself)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    assert_caught(mutate(bss, mutant), mutant)
