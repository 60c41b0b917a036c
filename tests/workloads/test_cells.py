"""Jumps from cell to cell: AV appendix A, its options, and stays that are written down."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import sqrt

import pytest

from testbed.core.distribution import Constant, Exponential
from testbed.core.world import FOREVER, Itinerary, Stay, World
from workloads.mobility.cells import CellChanges, Next
from workloads.mobility.disconnections import Disconnections
from workloads.mobility.given import Given
from workloads.mobility.groups import Group, Groups

WORLD = World(12, 400, columns=4)
SECOND = 10**9
FAR = 100 * SECOND


def changes(way: Next = Next.ANY, share: float = 0.0, gap: int = 0, seed: int = 1) -> CellChanges:
    return CellChanges(
        seed=seed,
        world=WORLD,
        stay=Exponential(SECOND),
        gap=Constant(gap),
        next=way,
        disconnections=Disconnections(share, Constant(3 * SECOND)),
    )


def everybody(model: CellChanges, until: int = FAR) -> list[Itinerary]:
    return [model.itinerary(host, until) for host in WORLD.host_ids]


@pytest.mark.parametrize("way", Next)
def test_stays_follow_one_another_from_zero_to_for_ever(way: Next) -> None:
    for stays in everybody(changes(way, share=0.3, gap=1000)):
        assert stays[0].start == 0
        assert stays[-1].end == FOREVER
        assert all(stay.start < stay.end for stay in stays)
        assert all(a.end + 1000 <= b.start for a, b in pairwise(stays))
        assert all(stay.end <= FAR for stay in stays[:-1])


def test_time_in_a_cell_is_exponential_with_the_mean_that_is_asked_for() -> None:
    lengths = [s.end - s.start for stays in everybody(changes()) for s in stays[:-1]]
    n = len(lengths)
    mean = sum(lengths) / n
    # Stays that the end cuts are missing: a bias of about mean / FAR, one part in a hundred.
    assert abs(mean / SECOND - 1) < 0.01 + 4 / sqrt(n)
    longer = sum(length > SECOND for length in lengths) / n
    assert abs(longer - 0.3679) < 0.01 + 4 * sqrt(0.3679 * 0.6321 / n)


def test_first_cells_are_drawn_from_all_cells_alike() -> None:
    first = Counter(stays[0].station for stays in everybody(changes()))
    expected = WORLD.hosts / WORLD.stations
    assert set(first) == set(range(WORLD.stations))
    chi_squared = sum((count - expected) ** 2 / expected for count in first.values())
    assert chi_squared < 31.26  # 0.1 % of eleven degrees of freedom


def test_any_cell_but_the_one_that_was_left_may_follow() -> None:
    steps = {(a.station, b.station) for stays in everybody(changes()) for a, b in pairwise(stays)}
    assert len(steps) == WORLD.stations * (WORLD.stations - 1)


def test_a_neighbour_shares_a_side_with_the_cell_that_was_left() -> None:
    steps = {
        tuple(sorted((a.station, b.station)))
        for stays in everybody(changes(Next.NEIGHBOUR))
        for a, b in pairwise(stays)
    }
    across = {(s, s + 1) for s in range(12) if s % 4 != 3}
    down = {(s, s + 4) for s in range(8)}
    assert steps == across | down


def test_ping_pong_is_between_two_neighbours_for_ever() -> None:
    for stays in everybody(changes(Next.BACK)):
        cells = [stay.station for stay in stays]
        assert len(set(cells)) <= 2
        assert all(a != b for a, b in pairwise(cells))
        assert cells[0] not in cells[1::2]


def test_a_host_of_the_only_cell_leaves_it_and_comes_back() -> None:
    alone = CellChanges(seed=1, world=World(1, 2), stay=Constant(10), next=Next.NEIGHBOUR)
    stays = alone.itinerary(1, 25)
    assert stays == (Stay(0, 0, 10), Stay(0, 10, 20), Stay(0, 20, FOREVER))


def test_a_share_of_departures_are_disconnections_that_last() -> None:
    model = changes(share=0.25, gap=5)
    departures = [(a, b) for stays in everybody(model) for a, b in pairwise(stays)]
    lost = [(a, b) for a, b in departures if a.disconnects]
    n = len(departures)
    assert abs(len(lost) / n - 0.25) < 4 * sqrt(0.25 * 0.75 / n)
    assert {b.start - a.end for a, b in lost} == {3 * SECOND + 5}
    assert {b.start - a.end for a, b in departures if not a.disconnects} == {5}


def test_disconnections_change_neither_cells_nor_times_in_them() -> None:
    for host in range(20, 40):
        calm, lossy = changes().itinerary(host, FAR), changes(share=0.5).itinerary(host, FAR)
        both = list(zip(calm, lossy, strict=False))[:-1]
        assert [a.station for a, _ in both] == [b.station for _, b in both]
        short = [(a.end - a.start, b.end - b.start) for a, b in both[:-1]]
        assert all(a == b for a, b in short)


def test_the_way_of_a_host_depends_on_seed_and_host_alone() -> None:
    assert changes().itinerary(17, FAR) == changes().itinerary(17, FAR)
    assert changes().itinerary(17, FAR) != changes().itinerary(18, FAR)
    assert changes().itinerary(17, FAR) != changes(seed=2).itinerary(17, FAR)


def test_a_later_end_only_adds_stays() -> None:
    early, late = changes(gap=7).itinerary(17, FAR // 2), changes(gap=7).itinerary(17, FAR)
    assert early[:-1] == late[: len(early) - 1]
    assert early[-1].start == late[len(early) - 1].start


def test_nobody_leaves_after_movement_has_ended() -> None:
    given = Given(WORLD, 12, ((Stay(0, 0, 10, True), Stay(1, 20, 30, True), Stay(2, 40, FOREVER)),))
    assert given.itinerary(12, 100)[-1] == Stay(2, 40, FOREVER)
    assert given.itinerary(12, 29) == (Stay(0, 0, 10, True), Stay(1, 20, FOREVER))
    assert given.itinerary(12, 9) == (Stay(0, 0, FOREVER),)


def test_groups_move_their_hosts_by_their_own_models() -> None:
    one, other = changes(seed=1), changes(seed=2)
    groups = Groups(0, (Group(12, 2, one), Group(14, 398, other)))
    assert groups.itinerary(13, FAR) == one.itinerary(13, FAR)
    assert groups.itinerary(14, FAR) == other.itinerary(14, FAR)
