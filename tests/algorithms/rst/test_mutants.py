"""Each step of RST left out or altered: the audit must notice."""

from __future__ import annotations

import pytest

from testbed.algorithms.static import rst
from tests.mutation import Mutant, assert_caught, assert_nothing_caught, mutate

COUNT = "            self.sent[row + d] += 1"
MERGE = "        self.sent = newest_rows(self.sent, ready.packet.sent, self.n)"

MUTANTS = (
    Mutant("counted for the first destination only", "for d in dests:", "for d in dests[:1]:",
           "order"),
    Mutant("the current message never counted", COUNT, "            self.sent[row + d] += 0",
           "order"),
    Mutant("the current message counted twice", COUNT, "            self.sent[row + d] += 2",
           "liveness"),
    Mutant("the current message demanded of itself", "        column[arrival.source] -= 1\n", "",
           "liveness"),
    Mutant("the current message taken off everywhere", "        column[arrival.source] -= 1\n",
           "        column = [count - 1 for count in column]\n", "order"),
    Mutant("row read instead of column", "arrival.packet.sent[self.me :: self.n]",
           "arrival.packet.sent[self.me * self.n : (self.me + 1) * self.n]", "order"),
    Mutant("wait for the sender alone", "self.queue.hold(arrival, enumerate(column))",
           "self.queue.hold(arrival, [(arrival.source, column[arrival.source])])", "order"),
    Mutant("wait for all but the sender", "self.queue.hold(arrival, enumerate(column))",
           "column[arrival.source] = 0\n        self.queue.hold(arrival, enumerate(column))",
           "order"),
    Mutant("maximum replaced by assignment", MERGE, "        self.sent = list(ready.packet.sent)",
           "order"),
    Mutant("nothing merged", MERGE, "        pass", "order"),
    Mutant("own row only merged", MERGE,
           "        at = ready.source * self.n\n"
           "        self.sent[at : at + self.n] = ready.packet.sent[at : at + self.n]", "order"),
    Mutant("deliveries not counted", "self.deliv[ready.source] += 1",
           "self.deliv[ready.source] = 1", "liveness"),
    Mutant("what waits is never looked at again", "        self.queue.advanced(ready.source)\n", "",
           "liveness"),
    Mutant("the live matrix handed out", "Data(self.sent.copy())", "Data(self.sent)", "copy"),
)  # fmt: skip


@pytest.mark.parametrize("itself", [False, True])
def test_nothing_is_caught_in_the_algorithm_itself(itself: bool) -> None:
    assert_nothing_caught(rst.ALGORITHM, itself=itself)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    assert_caught(mutate(rst, mutant), mutant)


def test_a_message_to_oneself_counted_at_its_send_as_delivered_is_caught() -> None:
    early = Mutant(
        "own copies taken for delivered at the send", "        turn.multicast(dests,",
        "        self.deliv[self.me] += self.me in dests\n        turn.multicast(dests,", "order",
    )  # fmt: skip
    assert_caught(mutate(rst, early), early, itself=True)
