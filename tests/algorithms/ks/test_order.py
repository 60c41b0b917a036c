"""ks delivers in causal order, everything, on any schedule, under an audit that knows no algorithm.

The text assumes FIFO channels (KS 2.1); these tests are why we say that the algorithm needs none.
"""

from __future__ import annotations

from hypothesis import given

from testbed.algorithms.static import ks
from testbed.trace.oracle import Verdict
from tests.algorithms.ks.batch import seeded
from tests.algorithms.ks.schedules import random_schedule, schedules
from tests.algorithms.ks.world import Schedule, World, play


def test_every_seeded_schedule_is_delivered_in_order_and_to_the_last_message() -> None:
    for fifo in (False, True):
        outcome = seeded(fifo)
        assert outcome.kinds & {"order", "liveness", "once"} == set(), str(outcome)


def test_the_seeded_schedules_put_order_to_the_test() -> None:
    for fifo, least in ((False, 200), (True, 60)):
        outcome = seeded(fifo)
        assert outcome.held > least
        assert outcome.arrived_out_of_order > least


def test_no_schedule_is_found_that_breaks_order_or_leaves_a_message_behind() -> None:
    held = arrived_out_of_order = 0

    @given(schedules())
    def order_holds(schedule: Schedule) -> None:
        nonlocal held, arrived_out_of_order
        world = play(ks.ALGORITHM, schedule)
        audit = world.verdict()
        assert audit.verdict is not Verdict.INVALID, audit.why
        assert [node.held() for node in world.nodes] == [0] * schedule.n
        held += audit.evidence.held
        arrived_out_of_order += audit.evidence.arrived_out_of_order

    order_holds()
    assert held > 100
    assert arrived_out_of_order > 100


def test_many_small_crowded_schedules_are_valid() -> None:
    """Few nodes, many messages: the same pairs meet again and again."""
    held = 0
    for seed in range(90):
        schedule = random_schedule(1_000 + seed, n=2 + seed % 4, messages=30)
        audit = play(ks.ALGORITHM, schedule).verdict()
        assert audit.verdict is not Verdict.INVALID, audit.why
        held += audit.evidence.held
    assert held > 600


def test_fifo_channels_are_not_needed() -> None:
    """Copies overtake each other on their own channel, and nothing else goes wrong."""
    free, fifo = seeded(False), seeded(True)
    assert free.overtaken > 150
    assert fifo.overtaken == 0
    assert free.counts == {}, str(free)


def test_an_overtaking_message_waits_for_the_one_it_overtook() -> None:
    world = World(ks.ALGORITHM, 2)
    first, second, third = world.send(0, 1), world.send(0, 1), world.send(0, 1)
    assert world.arrive(third, 1) == []
    assert world.arrive(second, 1) == []
    assert world.arrive(first, 1) == [first, second, third]


def test_a_message_to_oneself_is_awaited_like_any_other() -> None:
    """p1 answers what p0 sent after a message to itself: the answer waits for that message."""
    world = World(ks.ALGORITHM, 2)
    to_itself, to_other = world.send(0, 0), world.send(0, 1)
    assert world.arrive(to_other, 1) == [to_other]
    answer = world.send(1, 0)
    assert world.arrive(answer, 0) == []
    assert world.arrive(to_itself, 0) == [to_itself, answer]
