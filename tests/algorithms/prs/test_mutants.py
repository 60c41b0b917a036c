"""Each step of PRS left out or altered: the audit, a lemma or the size must notice."""

from __future__ import annotations

import pytest

from testbed.algorithms.static import prs
from testbed.core.algorithm import Algorithm
from tests.algorithms.prs.test_lemmas import lemma_faults
from tests.mutation import FAULTS, Mutant, first_seed, hunt, mutate
from tests.scene import Scene
from tests.schedules import from_seed, play

SEND_LOOP = """        for d in dests:  # step 3: M stands for everything before it
            self.cb[d] = {self.me: self.sent}
"""
STEP_4 = "        self._learn_deliveries_at(j, barrier.get(j, {}))  # step 4\n"
STEP_5_UNION = "            self.cb[k][j] = max(number, self.cb[k].get(j, 0))\n"
STEP_5_MINUS = "            self._subtract(self.cb[k], barrier.get(k, {}))\n"
STEP_6 = "                self._unite(self.cb[k], row)"
STEP_7 = (
    "        self._subtract(self.cb[j], barrier.get(j, {}))  # step 7: j has delivered CB_M[j]\n"
)
STEP_8 = """            if k != self.me and self.cb[k]:
                self._collect(k)"""

MUTANTS = (
    Mutant("sent counted per destination", "        self.sent += 1",
           "        self.to = getattr(self, 'to', [0] * self.n)\n"
           "        self.to[dests[0]] += 1\n        self.sent = self.to[dests[0]]", "order"),
    Mutant("sent never counted", "self.sent += 1", "self.sent = 1", "order"),
    Mutant("send step 3 left out", SEND_LOOP, "", "order"),
    Mutant("send step 3 adds instead of replacing", "self.cb[d] = {self.me: self.sent}",
           "self.cb[d][self.me] = self.sent", "size"),
    Mutant("barrier from after step 3", "        rows = [\n", SEND_LOOP + "        rows = [\n",
           "liveness"),
    Mutant("no wait", "self.queue.hold(arrival, needs)", "self.queue.hold(arrival, [])", "order"),
    Mutant("wait for the first constraint only", "self.queue.hold(arrival, needs)",
           "self.queue.hold(arrival, needs[:1])", "order"),
    Mutant("wait for the wrong row", "if row[0] == self.me:", "if row[0] == arrival.source:",
           "order"),
    Mutant("Delivered counted, not assigned", "self.delivered[self.me][j] = number",
           "self.delivered[self.me][j] += 1", "liveness"),
    Mutant("step 3 left out", "        self.delivered[self.me][j] = number  # step 3\n", "",
           "liveness"),
    Mutant("step 4 left out", STEP_4, "", "size"),
    Mutant("step 4 learns of the wrong process", "self._learn_deliveries_at(j, barrier.get(j, {}))",
           "self._learn_deliveries_at(j, barrier.get(self.me, {}))", "size"),
    Mutant("step 5 without union", STEP_5_UNION, "", "order"),
    Mutant("step 5 without minus_max", STEP_5_MINUS, "", "size"),
    Mutant("step 5 subtracts all it has", STEP_5_MINUS, "            self.cb[k] = {j: number}\n",
           "lemma 2"),
    Mutant("step 6 left out", STEP_6, "                pass", "order"),
    Mutant("step 6 replaces instead of uniting", STEP_6, "                self.cb[k] = dict(row)",
           "lemma 2"),
    Mutant("step 6 also for the sender", "if k != j and not dests >> k & 1",
           "if not dests >> k & 1", "none"),
    Mutant("step 7 left out", STEP_7, "", "none"),
    Mutant("step 8 left out", STEP_8, "            pass", "size"),
    Mutant("step 8 also for oneself", "if k != self.me and self.cb[k]:", "if self.cb[k]:", "size"),
    Mutant("union_max keeps the older", "if row.get(k, 0) < x:", "if k not in row:", "lemma 2"),
    Mutant("minus_max keeps what is equal", "if row.get(k, y + 1) <= y:", "if row.get(k, y) < y:",
           "size"),
)  # fmt: skip
"""`none` marks the changes that steps 4 and 8 make good; they have a test of their own."""


def tuples_sent(algorithm: Algorithm, seed: int) -> list[int]:
    """How many tuples each message of one schedule carried."""
    scene = play(Scene(algorithm, 4), from_seed(seed), sends=20)
    return [algorithm.size(scene.packet(message), None).units for message in scene.dests_of]


def is_caught(algorithm: Algorithm, caught_by: str) -> bool:
    if caught_by in FAULTS:
        return hunt(algorithm, caught_by, schedules=150) is not None
    if caught_by == "size":
        return first_seed(
            lambda seed: tuples_sent(algorithm, seed) != tuples_sent(prs.ALGORITHM, seed), 60
        ) is not None  # fmt: skip
    return first_seed(
        lambda seed: bool(lemma_faults(algorithm, 4, from_seed(seed), sends=20)[caught_by]), 60
    ) is not None  # fmt: skip


@pytest.mark.parametrize("caught_by", ["order", "liveness", "lemma 1", "lemma 2"])
def test_nothing_is_caught_in_the_algorithm_itself(caught_by: str) -> None:
    assert not is_caught(prs.ALGORITHM, caught_by)


@pytest.mark.parametrize(
    "mutant", [m for m in MUTANTS if m.caught_by != "none"], ids=lambda mutant: mutant.name
)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    assert is_caught(mutate(prs, mutant), mutant.caught_by), f"'{mutant.name}' survives"


@pytest.mark.parametrize(
    "mutant", [m for m in MUTANTS if m.caught_by == "none"], ids=lambda mutant: mutant.name
)
def test_steps_4_and_8_make_this_change_good(mutant: Mutant) -> None:
    algorithm = mutate(prs, mutant)
    for seed in range(40):
        assert tuples_sent(algorithm, seed) == tuples_sent(prs.ALGORITHM, seed)
