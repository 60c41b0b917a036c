"""RST: the matrix counts the current message once, for all destinations; self-messages work."""

from __future__ import annotations

from testbed.algorithms import find
from tests.scene import Scene

RST = find("rst")


def matrix(scene: Scene, message: tuple[int, int]) -> list[list[int]]:
    sent, n = scene.packet(message).sent, scene.n
    return [sent[k * n : (k + 1) * n] for k in range(n)]


def test_the_matrix_that_travels_counts_the_current_message_for_each_destination() -> None:
    scene = Scene(RST, 3)
    message = scene.send(0, 1, 2)
    assert matrix(scene, message) == [[0, 1, 1], [0, 0, 0], [0, 0, 0]]


def test_a_receiver_passes_on_the_largest_count_it_knows_of_each_channel() -> None:
    scene = Scene(RST, 3)
    scene.arrive(scene.send(0, 1), 1)
    scene.arrive(scene.send(0, 1), 1)
    scene.arrive(scene.send(2, 1), 1)
    assert matrix(scene, scene.send(1, 0)) == [[0, 2, 0], [1, 0, 0], [0, 1, 0]]


def test_a_message_waits_for_what_its_sender_knew_was_sent_to_the_receiver() -> None:
    scene = Scene(RST, 3)
    slow = scene.send(0, 2)
    scene.arrive(scene.send(0, 1), 1)
    quick = scene.send(1, 2)
    assert scene.arrive(quick, 2) == []
    assert scene.arrive(slow, 2) == [slow, quick]


def test_channels_need_not_be_fifo() -> None:
    scene = Scene(RST, 2)
    first, second = scene.send(0, 1), scene.send(0, 1)
    assert scene.arrive(second, 1) == []
    assert scene.arrive(first, 1) == [first, second]


def test_a_message_to_oneself_is_delivered_and_does_not_block_others() -> None:
    scene = Scene(RST, 3)
    to_all = scene.send(0, 0, 1, 2)
    scene.arrive(to_all, 1)
    answer = scene.send(1, 0)
    assert scene.arrive(answer, 0) == [], "the answer depends on the copy to node 0"
    assert scene.arrive(to_all, 0) == [to_all, answer]
    after = scene.send(0, 1)
    assert scene.arrive(after, 1) == [after]


def test_control_integers_are_n_squared() -> None:
    scene = Scene(RST, 5)
    assert RST.size(scene.packet(scene.send(0, 1)), None).ints == 25
