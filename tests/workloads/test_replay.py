"""Movement files: what BonnMotion and ns-2 write is walked, and each mistake names its line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from workloads.mobility.bonnmotion import bonnmotion
from workloads.mobility.ns2 import ns2
from workloads.mobility.place import Place
from workloads.mobility.replay import BadMovements, Ground, Replay, Track

SECOND = 10**9
GROUND = Ground(hosts=2, width=100, height=50)

MOVEMENTS = """
0.0 10 20 4.5 30.5 20 10.0 30.5 40
2.0 0 0 3.0 100 50   # a late start
"""

SCRIPT = """
# nodes: 2
set opt(nn) 2
$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 0
$node_(1) set Y_ 0
$god_ set-dist 0 1 1
$ns_ at 1.0 "$node_(0) setdest 40.0 20.0 10.0"
$ns_ at 2.0 "$god_ set-dist 0 1 2"
$ns_ at 9.0 "$node_(0) setdest 40.0 50.0 1e1"
"""


def test_a_bonnmotion_line_is_the_walk_of_one_host() -> None:
    first, second = bonnmotion(MOVEMENTS, GROUND)
    assert first == (
        Place(0, 10, 20), Place(4_500_000_000, 30.5, 20), Place(10 * SECOND, 30.5, 40),
    )  # fmt: skip
    assert second == (Place(0, 0, 0), Place(2 * SECOND, 0, 0), Place(3 * SECOND, 100, 50))


def test_an_ns2_script_is_walked_and_what_is_beside_it_passed_over() -> None:
    first, second = ns2(SCRIPT, GROUND)
    assert first == (
        Place(0, 10, 20), Place(1 * SECOND, 10, 20), Place(4 * SECOND, 40, 20),
        Place(9 * SECOND, 40, 20), Place(12 * SECOND, 40, 50),
    )  # fmt: skip
    assert second == (Place(0, 0, 0),)


def way_of(*lines: str) -> Track:
    start = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n"
    return ns2(start + "\n".join(lines), Ground(1, 100, 50))[0]


def test_a_new_destination_of_ns2_ends_the_walk_to_the_one_before() -> None:
    assert way_of(
        '$ns_ at 0.0 "$node_(0) setdest 40 0 10"', '$ns_ at 2.0 "$node_(0) setdest 20 30 10"'
    ) == (Place(0, 0, 0), Place(2 * SECOND, 20, 0), Place(5 * SECOND, 20, 30))


def test_speed_zero_of_ns2_stops_a_node_where_it_is() -> None:
    assert way_of(
        '$ns_ at 0.0 "$node_(0) setdest 40 0 10"',
        '$ns_ at 1.0 "$node_(0) setdest 90 0 0"',
        '$ns_ at 3.0 "$node_(0) setdest 10 20 20"',
    ) == (
        Place(0, 0, 0), Place(1 * SECOND, 10, 0), Place(3 * SECOND, 10, 0),
        Place(4 * SECOND, 10, 20),
    )  # fmt: skip


def test_two_destinations_at_one_moment_mean_the_later_one() -> None:
    assert way_of(
        '$ns_ at 1.0 "$node_(0) setdest 40 0 10"', '$ns_ at 1.0 "$node_(0) setdest 0 30 10"'
    ) == (Place(0, 0, 0), Place(1 * SECOND, 0, 0), Place(4 * SECOND, 0, 30))


def test_each_host_of_a_group_walks_its_own_track() -> None:
    replay = Replay(17, ((Place(0, 1, 1),), (Place(0, 2, 2),)))
    assert [next(replay.places(host)).x for host in (17, 18)] == [1, 2]


NODE_1 = "$node_(1) set X_ 1\n$node_(1) set Y_ 1\n"
MISTAKES: list[tuple[Callable[[str, Ground], tuple[Track, ...]], str, str]] = [
    (bonnmotion, "0 1 1\n0 2 2\n\n0 3 3\n", "line 4: got host 2, takes 0 to 1: there are no more"),
    (bonnmotion, "0 1 1\n", "got 1 hosts, takes a line for each of the 2"),
    (bonnmotion, "", "got 0 hosts, takes a line for each of the 2"),
    (bonnmotion, "0 1 1 5 2 2 4 3 3\n", "line 1: times out of order: 4 s after 5 s"),
    (bonnmotion, "0 1 1\n3 1 1 3 2 2\n", "line 2: times out of order: 3 s after 3 s"),
    (bonnmotion, "0 1 1 2\n", "line 1: got 4 numbers, takes `time x y`, over and over"),
    (bonnmotion, "0 1 one\n", "line 1: got 'one', takes a number"),
    (bonnmotion, "0 1 nan\n", "line 1: got 'nan', takes a number"),
    (bonnmotion, "0 1 51\n", "line 1: got the position 1 51, takes 0 to 100 and 0 to 50 metres"),
    (bonnmotion, "-1 1 1\n", "line 1: got the time -1 s, takes no time before 0"),
    (bonnmotion, "#3D\n0 1 1 1\n", "line 1: got three dimensions"),
    (ns2, "$node_(2) set X_ 1\n", "line 1: got host 2, takes 0 to 1: there are no more"),
    (ns2, '\n$ns_ at 1 "$node_(7) setdest 1 1 1"\n', "line 2: got host 7, takes 0 to 1"),
    (ns2, NODE_1, "node 0 has no X_, takes one for each of 2"),
    (
        ns2,
        SCRIPT + '$ns_ at 3 "$node_(0) setdest 1 1 1"\n',
        "line 13: times out of order: 3 s ",
    ),
    (ns2, SCRIPT + '$ns_ at 10 "$node_(0) setdest 101 1 1"\n', "line 13: got the position 101 1"),
    (
        ns2,
        SCRIPT + '$ns_ at 10 "$node_(0) setdest 1 1 -1"\n',
        "line 13: got the speed -1, takes ",
    ),
    (ns2, SCRIPT + '$ns_ at ten "$node_(0) setdest 1 1 1"\n', "line 13: got 'ten', takes a number"),
    (ns2, "0 1 1 5 2 2\n", "line 1: got '0 1 1 5 2 2', takes `set X_` or `setdest` of a node"),
    (ns2, "$node_(0) set X_ 400\n$node_(0) set Y_ 3\n", "line 2: got the position 400 3"),
]


@pytest.mark.parametrize(("read", "text", "sentence"), MISTAKES)
def test_a_mistake_in_a_movement_file_names_its_line(
    read: Callable[[str, Ground], tuple[Track, ...]], text: str, sentence: str
) -> None:
    with pytest.raises(BadMovements) as caught:
        read(text, GROUND)
    assert str(caught.value).startswith(sentence)
