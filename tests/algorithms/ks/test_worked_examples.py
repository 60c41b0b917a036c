"""KS section 4.4, message by message: what travels to whom, and what is left in the logs.

States are set as the examples give them; inputs are real, and copies go through the codec.
Numbers of nodes are the paper's own; i, j and k are nodes that the examples leave open.
"""

from __future__ import annotations

from typing import Any

import pytest

from testbed.algorithms.static import ks, ks_printed
from testbed.core.algorithm import Algorithm
from testbed.core.model import NodeId, dest_set, members
from testbed.core.node import View
from tests.algorithms.ks import literal
from tests.algorithms.ks.watch import Stamp, carried
from tests.algorithms.ks.world import Copy, Watcher, World

SRC, AT, VIA = 1, 5, 9  # nodes i, j and k
A, B = 6, 3  # M_{i,a} and M_{j,b}


class Copies(Watcher):
    """O_M of each copy, as its destination reconstructs it."""

    def __init__(self) -> None:
        self.to: dict[NodeId, dict[Stamp, frozenset[NodeId]]] = {}
        self.dests: dict[NodeId, frozenset[NodeId]] = {}

    def copied(self, copy: Copy, arrival: Any) -> None:
        self.to[copy.target] = carried(arrival, copy.target)
        self.dests[copy.target] = frozenset(members(arrival.packet.dests))


def _send_example(log_of_i: dict[int, set[NodeId]]) -> tuple[Any, Copies]:
    copies = Copies()
    world = World(ks.ALGORITHM, 12, watchers=[copies])
    sender = world.nodes[AT]
    sender.clock = B - 1
    sender.replace_entries(SRC, {time: dest_set(left) for time, left in log_of_i.items()})
    world.send(AT, 3, 4, 7, 8, 11)
    return sender, copies


# --- SEND M_{j,b}: l_{i,a}.Dests = {2,3,4,6,8}, M_{j,b}.Dests = {3,4,7,8,11} ---


@pytest.mark.parametrize(
    ("to", "dests"),
    [(3, {2, 3, 6}), (4, {2, 4, 6}), (8, {2, 6, 8}), (7, {2, 6}), (11, {2, 6})],
)
def test_snd_2_tells_each_destination_of_itself_and_of_those_that_get_no_copy(
    to: NodeId, dests: set[NodeId]
) -> None:
    _, copies = _send_example({A: {2, 3, 4, 6, 8}})
    assert copies.to[to][SRC, A] == dests
    assert copies.dests[to] == {3, 4, 7, 8, 11}


def test_snd_3_takes_the_destinations_of_the_message_from_the_log() -> None:
    sender, _ = _send_example({A: {2, 3, 4, 6, 8}})
    assert members(sender.entries(SRC)[A]) == [2, 6]


def test_snd_4_logs_the_message_with_all_its_destinations() -> None:
    sender, _ = _send_example({A: {2, 3, 4, 6, 8}})
    assert sender.clock == B
    assert members(sender.entries(AT)[B]) == [3, 4, 7, 8, 11]


def test_snd_2_carries_an_older_entry_that_becomes_empty_to_the_one_it_names_alone() -> None:
    _, copies = _send_example({A: {3}, A + 1: {2, 6}})
    assert {to: o_m.get((SRC, A)) for to, o_m in copies.to.items()} == {
        3: {3}, 4: None, 7: None, 8: None, 11: None,
    }  # fmt: skip
    assert all(o_m[SRC, A + 1] == {2, 6} for o_m in copies.to.values())


def test_snd_2_carries_the_newest_entry_of_a_sender_even_when_it_is_empty() -> None:
    _, copies = _send_example({A: {3, 4}})
    assert {to: o_m[SRC, A] for to, o_m in copies.to.items()} == {
        3: {3}, 4: {4}, 7: set(), 8: set(), 11: set(),
    }  # fmt: skip
    assert copies.to[7][AT, 0] == set()


def test_snd_5_drops_an_empty_entry_unless_it_is_the_newest_of_its_sender() -> None:
    sender, _ = _send_example({A: {3, 4}, A + 1: {2, 6}, A + 2: {7, 8}})
    assert {time: members(left) for time, left in sender.entries(SRC).items()} == {
        A + 1: [2, 6],
        A + 2: [],
    }


# --- RECEIVE M at j: o_{i,7}, o_{i,9}, o_{i,12}, o_{i,20} against l_{i,9} ... l_{i,21} ---

N = 17
CARRIED = {7: {2, 3}, 9: {7, 11}, 12: {4}, 20: {15, 16}}
LOGGED = {9: {2, 7, 13}, 10: {3, 4}, 14: {6}, 20: {3}, 21: {8, 12}}


def _receive_example(algorithm: Algorithm, logged: dict[int, set[NodeId]]) -> Any:
    """k, whose log gives O_M, sends M to j; j after RCV."""
    world = World(algorithm, N)
    world.nodes[VIA].replace_entries(SRC, {time: dest_set(left) for time, left in CARRIED.items()})
    receiver = world.nodes[AT]
    receiver.replace_entries(SRC, {time: dest_set(left) for time, left in logged.items()})
    message = world.send(VIA, AT)
    assert world.arrive(message, AT) == [message]
    return receiver


def _about_i(receiver: Any) -> dict[int, set[NodeId]]:
    return {time: set(members(left)) for time, left in receiver.entries(SRC).items()}


def test_rcv_4_and_5_leave_what_the_example_leaves() -> None:
    """Gone: o7, o12, l10, l14 (loop 1); l9 becomes {7}, l20 empty (loop 2); l20 goes (RCV(5))."""
    receiver = _receive_example(ks.ALGORITHM, LOGGED)
    assert _about_i(receiver) == {9: {7}, 21: {8, 12}}


def test_rcv_2_and_3_store_the_time_stamp_and_log_the_message_without_its_receiver() -> None:
    receiver = _receive_example(ks.ALGORITHM, LOGGED)
    assert receiver.sr[VIA] == 1
    assert receiver.entries(VIA) == {1: 0}


def test_rcv_5_keeps_the_empty_entry_as_long_as_it_is_the_newest() -> None:
    receiver = _receive_example(ks.ALGORITHM, {t: left for t, left in LOGGED.items() if t < 21})
    assert _about_i(receiver) == {9: {7}, 20: set()}


def test_rcv_4_takes_what_is_newer_than_everything_known_as_it_comes() -> None:
    receiver = _receive_example(ks.ALGORITHM, {8: {3}, 9: {2, 7, 13}})
    assert _about_i(receiver) == {9: {7}, 12: {4}, 20: {15, 16}}


def test_the_print_contradicts_its_own_example() -> None:
    """With the printed index loop 1 deletes neither o7 nor o12, which the example says it does."""
    receiver = _receive_example(ks_printed.ALGORITHM, LOGGED)
    assert _about_i(receiver) == {7: {2, 3}, 9: {7}, 12: {4}, 21: {8, 12}}


def test_the_loops_of_rcv_4_one_by_one_in_the_words_of_the_paper() -> None:
    node = literal.Process(View(AT, tuple(range(N))))
    node.log = {(SRC, time): set(left) for time, left in LOGGED.items()}
    o_m = {(SRC, time): set(left) for time, left in CARRIED.items()}
    assert node.rcv4_loop_1(o_m) == ({(SRC, 7), (SRC, 12)}, {(SRC, 10), (SRC, 14)})
    assert set(o_m) == {(SRC, 9), (SRC, 20)}
    node.rcv4_loop_2(o_m)
    assert o_m == {}
    assert node.log == {(SRC, 9): {7}, (SRC, 20): set(), (SRC, 21): {8, 12}}
    literal.purge_null_entries(node.log)
    assert node.log == {(SRC, 9): {7}, (SRC, 21): {8, 12}}


# --- RCV(1) ---


@pytest.mark.parametrize("newer", [{}, {A + 1: {2}}], ids=["newest entry", "older entry"])
def test_rcv_1_waits_for_every_message_that_the_copy_says_was_sent_to_me(
    newer: dict[int, set[NodeId]],
) -> None:
    world = World(ks.ALGORITHM, 12)
    world.nodes[SRC].clock = A - 1
    awaited = world.send(SRC, 3)
    known = {A: {3}} | newer
    world.nodes[AT].replace_entries(SRC, {t: dest_set(left) for t, left in known.items()})
    early = world.send(AT, 3, 4)
    assert world.arrive(early, 4) == [early]
    assert world.arrive(early, 3) == []
    assert world.nodes[3].held() == 1
    assert world.arrive(awaited, 3) == [awaited, early]
    assert world.nodes[3].sr[SRC] == A
