"""KS with RCV(4) as printed: in order like ks, but it carries what everybody knows to be settled.

The smallest run in which it does is written out here, with the exact information too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from hypothesis import given

from testbed.algorithms.static import ks, ks_printed
from testbed.core.algorithm import Algorithm
from testbed.core.model import MessageId, NodeId
from testbed.core.node import Arrival
from testbed.trace.oracle import Verdict
from tests.algorithms.ks.batch import watch_all
from tests.algorithms.ks.schedules import random_schedule, schedules
from tests.algorithms.ks.truth import Fact
from tests.algorithms.ks.watch import Constraints, Entries, carried, logged
from tests.algorithms.ks.world import Copy, Schedule, Send, Watcher, World, play

# --- the smallest run ---


class LastCopy(Watcher):
    def __init__(self) -> None:
        self.o_m: Entries = {}

    def copied(self, copy: Copy, arrival: Arrival[ks.Data, ks.Own | None]) -> None:
        self.o_m = carried(arrival, copy.target)


def _smallest_run(algorithm: Algorithm) -> tuple[World, LastCopy]:
    """p0 sends twice to p1 and p2; p1 answers the first, and p0 hears again what it had settled.

    p1's answer says "2 is a destination of p0's first message". p0's second message went to p2 as
    well, so p0 has long deleted that; with the printed index it takes it back into its log.
    """
    last = LastCopy()
    world = World(algorithm, 3, watchers=[last])
    first = world.send(0, 1, 2)
    world.send(0, 1, 2)
    world.arrive(first, 1)
    answer = world.send(1, 0)
    world.arrive(answer, 0)
    return world, last


def test_the_print_takes_back_what_it_had_settled() -> None:
    printed, right = _smallest_run(ks_printed.ALGORITHM)[0], _smallest_run(ks.ALGORITHM)[0]
    assert logged(right.nodes[0]) == {(0, 2): {1, 2}, (1, 1): set(), (2, 0): set()}
    assert logged(printed.nodes[0]) == logged(right.nodes[0]) | {(0, 1): {2}}


def test_the_print_carries_it_on_the_next_message() -> None:
    """Exactly one fact too many, and with it lemma 1 fails: 2 stands in two entries of p0."""
    (printed, printed_last), (right, right_last) = (
        _smallest_run(ks_printed.ALGORITHM),
        _smallest_run(ks.ALGORITHM),
    )
    printed.send(0, 1)
    right.send(0, 1)
    assert right_last.o_m == {(0, 2): {1, 2}, (1, 1): set(), (2, 0): set()}
    assert printed_last.o_m == right_last.o_m | {(0, 1): {2}}


def test_with_a_message_to_oneself_two_processes_and_two_messages_are_enough() -> None:
    constraints = Constraints(2)
    world = World(ks_printed.ALGORITHM, 2, watchers=[constraints])
    first = world.send(0, 0, 1)
    world.send(0, 0, 1)
    world.arrive(first, 0)
    assert constraints.counts == {"redundant": 1}
    assert str([Fact((0, 1), 1)]) in str(constraints)


Action = Send | tuple[MessageId, NodeId]
"""A send, or the arrival of a message at a node."""


def _every_run(n: int, messages: int) -> Iterator[World]:
    """All runs of so few messages, none to oneself, each once per order of its events."""
    waiting: list[tuple[Action, ...]] = [()]
    while waiting:
        actions = waiting.pop()
        constraints = Constraints(n)
        world = World(ks_printed.ALGORITHM, n, watchers=[constraints])
        for action in actions:
            if isinstance(action, Send):
                world.send(action.node, *action.dests)
            else:
                world.arrive(*action)
        yield world
        waiting += [(*actions, (copy.message, copy.target)) for copy in world.flying]
        if sum(isinstance(action, Send) for action in actions) < messages:
            waiting += [(*actions, send) for send in _every_send(n)]


def _every_send(n: int) -> Iterator[Send]:
    for node in range(n):
        others = [d for d in range(n) if d != node]
        for count in range(1, n):
            for dests in combinations(others, count):
                yield Send(node, dests)


def test_no_run_of_two_messages_among_three_processes_shows_it() -> None:
    runs = 0
    for world in _every_run(3, 2):
        runs += 1
        (constraints,) = world.watchers
        assert isinstance(constraints, Constraints)
        assert not constraints.counts, str(constraints)
    assert runs > 1_000


# --- it still delivers in order, and costs more ---


def test_the_print_delivers_everything_in_order_on_many_schedules() -> None:
    held = 0
    for seed in range(100):
        schedule = random_schedule(seed, n=2 + seed % 5, messages=25, fifo=seed % 3 == 0)
        audit = play(ks_printed.ALGORITHM, schedule).verdict()
        assert audit.verdict is not Verdict.INVALID, audit.why
        held += audit.evidence.held
    assert held > 300


@given(schedules(n_max=6))
def test_no_schedule_is_found_on_which_the_print_breaks_order(schedule: Schedule) -> None:
    audit = play(ks_printed.ALGORITHM, schedule).verdict()
    assert audit.verdict is not Verdict.INVALID, audit.why


def test_the_print_carries_more_but_misses_nothing() -> None:
    batch = [random_schedule(seed, n=6, messages=40) for seed in range(6)]
    right, printed = watch_all(ks.ALGORITHM, batch), watch_all(ks_printed.ALGORITHM, batch)
    assert right.counts == {}, str(right)
    assert printed.kinds == {"redundant", "lemma 1", "lemma 4", "size"}, str(printed)
    assert printed.copies == right.copies
    assert printed.total.units > right.total.units
    assert printed.total.ints > right.total.ints
