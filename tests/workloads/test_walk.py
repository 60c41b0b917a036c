"""Walks over the grid: borders, beacons, and the models that draw where to go."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from math import hypot, sqrt

import msgspec
import pytest

from testbed.core.distribution import Constant, Uniform
from testbed.core.world import FOREVER, Stay, World
from workloads.mobility.disconnections import Disconnections
from workloads.mobility.gauss_markov import GaussMarkov
from workloads.mobility.place import Place
from workloads.mobility.walk import Beacons, Walk, Walking, passages_of
from workloads.mobility.waypoint import RandomWaypoint

WORLD = World(6, 50, columns=3, cell_metres=10.0)  # 30 m by 20 m
SECOND = 10**9
HOUR = 3600 * SECOND
WAYPOINT = RandomWaypoint(seed=1, width=30, height=20, slow=1, fast=3, pause=Constant(0))
GAUSS_MARKOV = GaussMarkov(
    seed=1, width=30, height=20, margin=3, memory=0.75, speed=1.4, deviation=0.3, turn=0.8,
    step=SECOND,
)  # fmt: skip


class Written(msgspec.Struct, frozen=True):
    """A walk as the test says it."""

    track: tuple[Place, ...]

    def places(self, host: int) -> Iterator[Place]:
        return iter(self.track)


def walking(walk: Walk, period: int = 0, share: float = 0.0, lasts: int = 0) -> Walking:
    return Walking(
        seed=1,
        world=WORLD,
        walk=walk,
        beacons=Beacons(1, period),
        disconnections=Disconnections(share, Constant(lasts)),
    )


def passages(*places: tuple[int, float, float]) -> list[tuple[int, int]]:
    return passages_of([Place(*place) for place in places], WORLD)


# --- borders --------------------------------------------------------------------------------------


def test_a_straight_walk_crosses_each_border_at_its_moment() -> None:
    assert passages((0, 5, 5), (100, 25, 5)) == [(0, 0), (25, 1), (75, 2)]
    assert passages((0, 25, 15), (100, 5, 15)) == [(0, 5), (25, 4), (75, 3)]


def test_a_slanted_walk_crosses_columns_and_rows_in_their_order() -> None:
    assert passages((0, 5, 8), (100, 15, 18)) == [(0, 0), (20, 3), (50, 4)]
    assert passages((0, 15, 18), (100, 5, 8)) == [(0, 4), (50, 3), (80, 0)]


def test_a_corner_leads_straight_into_the_opposite_cell() -> None:
    assert passages((0, 5, 5), (100, 15, 15)) == [(0, 0), (50, 4)]


def test_a_cell_that_is_only_touched_is_not_entered() -> None:
    assert passages((0, 5, 5), (10, 10, 5), (20, 5, 5)) == [(0, 0)]
    assert passages((0, 5, 5), (10, 10, 5), (20, 10, 5), (30, 5, 5)) == [(0, 0), (10, 1), (20, 0)]


def test_the_outer_border_belongs_to_the_cells_inside() -> None:
    assert passages((0, 30, 20), (10, 25, 20), (20, 30, 15)) == [(0, 5)]
    assert passages((0, 0, 0), (10, 5, 0), (20, 0, 5)) == [(0, 0)]


@pytest.mark.parametrize("walk", [WAYPOINT, GAUSS_MARKOV], ids=["waypoint", "gauss-markov"])
def test_the_cell_between_two_crossings_is_the_cell_of_the_position(walk: Walk) -> None:
    trail = walking(walk).trail(7, 2000 * SECOND)
    crossed = passages_of(trail, WORLD)
    assert len(crossed) > 50
    checked = 0
    for (since, cell), (until, _) in pairwise(crossed):
        middle = (since + until) // 2
        a, b = next((a, b) for a, b in pairwise(trail) if a.time <= middle <= b.time)
        share = (middle - a.time) / (b.time - a.time)
        x, y = a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)
        column, row = int(min(x, 29.99) // 10), int(min(y, 19.99) // 10)
        nearness = min(abs(x - 10), abs(x - 20), abs(y - 10))
        if nearness > 1e-3:  # a nanosecond of walking is less
            assert cell == row * 3 + column
            checked += 1
    assert checked > 45


# --- beacons --------------------------------------------------------------------------------------

ACROSS = Written((Place(0, 5, 5), Place(20 * SECOND, 25, 5)))


def test_without_beacons_a_host_knows_its_cell_at_the_border() -> None:
    assert walking(ACROSS).itinerary(6, HOUR) == (
        Stay(0, 0, 5 * SECOND), Stay(1, 5 * SECOND, 15 * SECOND), Stay(2, 15 * SECOND, FOREVER),
    )  # fmt: skip


def test_with_beacons_a_host_knows_its_cell_at_the_next_of_that_station() -> None:
    beacons = Beacons(1, 2 * SECOND)
    first, second, third = walking(ACROSS, period=2 * SECOND).itinerary(6, HOUR)
    assert (first.station, first.start, first.end) == (0, 0, 5 * SECOND)
    assert second.start == beacons.next(1, 5 * SECOND) > 5 * SECOND
    assert third.start == beacons.next(2, 15 * SECOND) > 15 * SECOND
    assert second.end == 15 * SECOND


def test_beacons_of_a_station_are_a_period_apart_and_stations_out_of_step() -> None:
    beacons = Beacons(1, SECOND)
    moments = {station: beacons.next(station, 0) for station in range(6)}
    assert len(set(moments.values())) == 6
    for station, moment in moments.items():
        assert 0 <= moment < SECOND
        assert beacons.next(station, moment) == moment
        assert beacons.next(station, moment + 1) == moment + SECOND


def test_a_cell_that_is_left_before_its_beacon_is_no_stay() -> None:
    stays = walking(ACROSS, period=1000 * SECOND).itinerary(6, HOUR)
    assert [stay.station for stay in stays] == [0, 2]


def test_a_host_that_disconnects_returns_by_a_beacon_of_the_cell_it_is_in_then() -> None:
    stays = walking(ACROSS, period=SECOND, share=1.0, lasts=12 * SECOND).itinerary(6, HOUR)
    assert [(stay.station, stay.disconnects) for stay in stays] == [(0, True), (2, False)]
    assert stays[1].start == Beacons(1, SECOND).next(2, 17 * SECOND)


def test_whoever_walks_when_movement_ends_stays_in_that_cell() -> None:
    assert walking(ACROSS).itinerary(6, 7 * SECOND)[-1] == Stay(1, 5 * SECOND, FOREVER)
    assert walking(ACROSS).trail(6, 7 * SECOND)[-1] == Place(7 * SECOND, 12.0, 5.0)


def test_a_walk_that_ends_leaves_its_host_where_it_is() -> None:
    assert walking(ACROSS).itinerary(6, HOUR)[-1] == Stay(2, 15 * SECOND, FOREVER)


# --- models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("walk", [WAYPOINT, GAUSS_MARKOV], ids=["waypoint", "gauss-markov"])
def test_stays_of_a_walk_follow_one_another(walk: Walk) -> None:
    for host in range(6, 26):
        stays = walking(walk, period=SECOND, share=0.2, lasts=SECOND).itinerary(host, HOUR // 10)
        assert stays[0].start == 0
        assert stays[-1].end == FOREVER
        assert all(stay.start < stay.end for stay in stays)
        assert all(a.end <= b.start for a, b in pairwise(stays))


@pytest.mark.parametrize("walk", [WAYPOINT, GAUSS_MARKOV], ids=["waypoint", "gauss-markov"])
def test_nobody_walks_off_the_area_or_back_in_time(walk: Walk) -> None:
    for host in range(6, 16):
        places = list(islice(walk.places(host), 500))
        assert all(0 <= place.x <= 30 and 0 <= place.y <= 20 for place in places)
        assert all(a.time < b.time for a, b in pairwise(places))


@pytest.mark.parametrize("walk", [WAYPOINT, GAUSS_MARKOV], ids=["waypoint", "gauss-markov"])
def test_a_walk_depends_on_seed_and_host_alone(walk: RandomWaypoint | GaussMarkov) -> None:
    def first(walk: Walk, host: int) -> list[Place]:
        return list(islice(walk.places(host), 20))

    assert first(walk, 7) == first(walk, 7)
    assert first(walk, 7) != first(walk, 8)
    assert first(walk, 7) != first(msgspec.structs.replace(walk, seed=2), 7)


def test_waypoints_are_walked_to_at_speeds_between_slow_and_fast() -> None:
    speeds = []
    for host in range(6, 56):
        for a, b in pairwise(islice(WAYPOINT.places(host), 50)):
            speeds.append(hypot(b.x - a.x, b.y - a.y) / (b.time - a.time) * 1e9)
    assert 0.99 < min(speeds) < 1.05
    assert 2.95 < max(speeds) < 3.01
    mean = sum(speeds) / len(speeds)
    assert abs(mean - 2) < 4 * sqrt(4 / 12 / len(speeds))


def test_a_pause_keeps_a_host_where_it_has_arrived() -> None:
    resting = msgspec.structs.replace(WAYPOINT, pause=Uniform(SECOND, 2 * SECOND))
    places = list(islice(resting.places(7), 101))
    for arrived, left in zip(places[1::2], places[2::2], strict=True):
        assert (arrived.x, arrived.y) == (left.x, left.y)
        assert SECOND <= left.time - arrived.time <= 2 * SECOND


def test_gauss_markov_walkers_remember_their_speed() -> None:
    """Away from the border, speeds one step apart correlate by the memory."""
    wide = msgspec.structs.replace(GAUSS_MARKOV, width=1e6, height=1e6, speed=3.0)
    pairs = []
    for host in range(6, 16):
        places = list(islice(wide.places(host), 1000))
        speeds = [hypot(b.x - a.x, b.y - a.y) for a, b in pairwise(places)]
        pairs += list(pairwise(speeds[20:]))
    n = len(pairs)
    mean = sum(a for a, _ in pairs) / n
    variance = sum((a - mean) ** 2 for a, _ in pairs) / n
    covariance = sum((a - mean) * (b - mean) for a, b in pairs) / n
    blocks = n * (1 - 0.75) / (1 + 0.75)  # as many independent values tell as much
    assert abs(mean - 3.0) < 4 * 0.3 / sqrt(blocks)
    assert abs(variance / 0.09 - 1) < 4 * sqrt(2 / blocks)
    assert abs(covariance / variance - 0.75) < 4 * sqrt((1 - 0.75**2) / n)


def test_gauss_markov_without_noise_goes_straight_until_the_border_is_near() -> None:
    straight = msgspec.structs.replace(
        GAUSS_MARKOV, deviation=0.0, turn=0.0, width=1e4, height=1e4, margin=0.0
    )
    a, b, c = islice(straight.places(7), 3)
    assert hypot(b.x - a.x, b.y - a.y) == pytest.approx(1.4)
    assert c.x - b.x == pytest.approx(b.x - a.x)
