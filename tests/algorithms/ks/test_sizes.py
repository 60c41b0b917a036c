"""Sizes as the papers count them: GK 2.2's integers, KS 6.2's units, entries and empty ones."""

from __future__ import annotations

from testbed.algorithms.static import ks
from testbed.core.algorithm import ControlSize
from testbed.core.model import Role
from testbed.core.node import View
from tests.algorithms.ks.batch import seeded, watch_all
from tests.algorithms.ks.schedules import random_schedule
from tests.algorithms.ks.watch import Sizes, count_integers, logged, message_record, units
from tests.algorithms.ks.world import World


def test_the_size_of_every_copy_is_what_the_papers_records_hold() -> None:
    """The records are filled by the truth about the execution, not by what the copy says."""
    for fifo in (False, True):
        outcome = seeded(fifo)
        assert outcome.counts["size"] == 0, str(outcome)
        assert outcome.copies > 1_500
        assert outcome.total.empty > 1_000


def test_a_first_message_carries_its_header_and_one_empty_entry_for_each_process() -> None:
    sizes = Sizes(3, ks.size)
    world = World(ks.ALGORITHM, 3, watchers=[sizes])
    world.send(0, 1, 2)
    assert sizes.total == ControlSize(ints=2 * (4 + 2 + 3 * 3), units=0, entries=6, empty=6)
    assert sizes.counts == {}


def test_the_record_of_gk_counts_four_and_three_and_every_destination() -> None:
    entries = {(0, 1): frozenset({1, 2}), (0, 2): frozenset[int](), (1, 0): frozenset({2})}
    record = message_record((2, 5), (0, 1), entries)
    assert count_integers(record) == (4 + 2) + (3 + 2) + (3 + 0) + (3 + 1)
    assert units(entries) == 3


def test_units_never_exceed_n_squared() -> None:
    for n in (2, 3, 4, 6):
        batch = (random_schedule(seed, n=n, messages=40) for seed in range(5))
        assert 0 < watch_all(ks.ALGORITHM, batch).units_max <= n * n


def test_integers_may_exceed_n_squared() -> None:
    """KS 6.2 is least possible in units; in integers RST's matrix can be the smaller one."""
    sizes = Sizes(2, ks.size)
    world = World(ks.ALGORITHM, 2, watchers=[sizes])
    world.send(0, 1)
    assert sizes.total.ints > 2 * 2


def test_state_is_counted_as_log_records_of_gk() -> None:
    node = ks.ALGORITHM.roles[Role.PROCESS](View(0, (0, 1, 2)))
    assert node.state_ints() == 3 * 3
    world = World(ks.ALGORITHM, 3)
    world.send(0, 1, 2)
    entries = logged(world.nodes[0])
    assert sorted(entries.values()) == [set(), set(), {1, 2}]
    assert world.nodes[0].state_ints() == 3 * 3 + 2
