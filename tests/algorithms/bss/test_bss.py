"""BSS: vector clocks on broadcasts; multicasts are refused."""

from __future__ import annotations

import pytest

from testbed.algorithms import find
from testbed.core.errors import BadInput
from tests.scene import Scene

BSS = find("bss")


def test_the_vector_counts_the_send_and_what_was_delivered_before_it() -> None:
    scene = Scene(BSS, 3)
    scene.arrive(scene.send(0, 1, 2), 1)
    assert scene.packet(scene.send(1, 0, 2)).vector == [1, 1, 0]


def test_an_answer_waits_for_the_question() -> None:
    scene = Scene(BSS, 3)
    question = scene.send(0, 1, 2)
    scene.arrive(question, 1)
    answer = scene.send(1, 0, 2)
    assert scene.arrive(answer, 2) == []
    assert scene.arrive(question, 2) == [question, answer]


def test_channels_need_not_be_fifo() -> None:
    scene = Scene(BSS, 2)
    first, second = scene.send(0, 1), scene.send(0, 1)
    assert scene.arrive(second, 1) == []
    assert scene.arrive(first, 1) == [first, second]


def test_a_broadcast_that_names_its_sender_is_delivered_to_it_at_once() -> None:
    scene = Scene(BSS, 3)
    message = scene.send(0, 0, 1, 2)
    assert scene.delivered_at(0) == [message]
    assert [copy.to for copy in scene.flying] == [1, 2]


def test_a_multicast_is_refused_with_its_reason() -> None:
    scene = Scene(BSS, 4)
    with pytest.raises(BadInput, match="bss only broadcasts: a message must go to all 3 other"):
        scene.send(0, 1, 2)


def test_control_integers_are_n() -> None:
    scene = Scene(BSS, 5)
    assert BSS.size(scene.packet(scene.send(0, 1, 2, 3, 4)), None).ints == 5
