"""The controls do what they promise and no more: `fifo` keeps channels, `immediate` nothing."""

from __future__ import annotations

import pytest

from testbed.algorithms import find
from testbed.algorithms.static import fifo
from testbed.core.algorithm import Algorithm
from testbed.trace.oracle import Fault, Verdict
from tests.mutation import Mutant, first_seed, hunt, mutate
from tests.scene import Scene
from tests.schedules import from_seed, play

FIFO, IMMEDIATE = find("fifo"), find("immediate")


def overtakings(algorithm: Algorithm, seed: int, *, itself: bool = False) -> int:
    """Deliveries that came after a later message of the same channel."""
    scene = play(Scene(algorithm, 3), from_seed(seed), sends=14, itself=itself)
    count = 0
    for node in range(scene.n):
        newest: dict[int, int] = {}
        for origin, number in scene.delivered_at(node):
            count += number < newest.get(origin, 0)
            newest[origin] = max(number, newest.get(origin, 0))
    return count


def triangle(algorithm: Algorithm) -> Scene:
    """The classic: 0 tells 2 and then 1; 1 tells 2, and its message is quicker."""
    scene = Scene(algorithm, 3)
    slow = scene.send(0, 2)
    scene.arrive(scene.send(0, 1), 1)
    scene.arrive(scene.send(1, 2), 2)
    scene.arrive(slow, 2)
    return scene


@pytest.mark.parametrize("algorithm", [FIFO, IMMEDIATE], ids=["fifo", "immediate"])
def test_a_control_is_caught_by_the_classic_triangle(algorithm: Algorithm) -> None:
    audit = triangle(algorithm).audit()
    assert audit.verdict is Verdict.INVALID
    assert [finding.prose for finding in audit.findings] == [
        "m1.1 was delivered at p2 before m0.1, "
        "but send m0.1 -> send m0.2 -> deliver m0.2 at p1 -> send m1.1"
    ]


def test_fifo_keeps_the_order_of_every_channel() -> None:
    assert sum(overtakings(FIFO, seed, itself=True) for seed in range(60)) == 0


def test_immediate_keeps_no_order_at_all() -> None:
    assert sum(overtakings(IMMEDIATE, seed) for seed in range(10)) > 0
    scene = Scene(IMMEDIATE, 2)
    first, second = scene.send(0, 1), scene.send(0, 1)
    assert scene.arrive(second, 1) == [second]
    assert scene.arrive(first, 1) == [first]


def test_a_fifo_copy_carries_its_number_on_its_own_channel() -> None:
    scene = Scene(FIFO, 3)
    scene.send(0, 1)
    both = scene.send(0, 1, 2)
    assert (scene.packets[both, 1].own, scene.packets[both, 2].own) == (2, 1)


MUTANTS = (
    Mutant("no wait", "[(arrival.source, arrival.own - 1)]", "[]", "channel order"),
    Mutant("waits for one message less", "arrival.own - 1)", "arrival.own - 2)", "channel order"),
    Mutant("waits for itself", "arrival.own - 1)", "arrival.own)", "liveness"),
    Mutant("one count for all channels", "self.sent_to[d] += 1",
           "self.sent_to = [x + 1 for x in self.sent_to]", "liveness"),
    Mutant("sends not counted", "self.sent_to[d] += 1", "self.sent_to[d] = 1", "channel order"),
    Mutant("deliveries not counted", "self.delivered_from[ready.source] = ready.own", "pass",
           "liveness"),
    Mutant("what waits is never looked at again", "            self.queue.advanced(ready.source)\n",
           "", "liveness"),
)  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_fifo_is_caught(mutant: Mutant) -> None:
    algorithm = mutate(fifo, mutant)
    if mutant.caught_by == "channel order":
        seed = first_seed(lambda seed: overtakings(algorithm, seed) > 0, 60)
    else:
        seed = hunt(algorithm, mutant.caught_by)
    assert seed is not None, f"'{mutant.name}' survives"


def test_the_only_faults_of_fifo_are_of_causal_order() -> None:
    for seed in range(40):
        audit = play(Scene(FIFO, 4), from_seed(seed), sends=14).audit()
        assert {finding.fault for finding in audit.findings} <= {Fault.CAUSAL_ORDER}
