"""Single steps of PRS 5.2 that readings of the print get wrong."""

from __future__ import annotations

import pytest

from testbed.algorithms import find
from testbed.core.errors import BadInput
from tests.algorithms.prs.barriers import barrier
from tests.scene import Scene

PRS = find("prs")


def test_the_barrier_that_travels_is_from_before_step_3() -> None:
    scene = Scene(PRS, 3)
    first, second = scene.send(0, 1), scene.send(0, 1, 2)
    assert barrier(scene.packet(first)) == {}
    assert barrier(scene.packet(second)) == {1: {(0, 1)}}


def test_a_channel_that_is_not_fifo_does_not_reorder_messages() -> None:
    scene = Scene(PRS, 2)
    first, second, third = (scene.send(0, 1) for _ in range(3))
    assert scene.arrive(third, 1) == []
    assert scene.arrive(second, 1) == []
    assert scene.node(1).held() == 2
    assert scene.arrive(first, 1) == [first, second, third]
    assert scene.node(1).held() == 0


def test_numbers_count_all_messages_of_a_sender_whatever_their_destination() -> None:
    scene = Scene(PRS, 3)
    scene.send(0, 1)
    to_2 = scene.send(0, 2)
    last = scene.send(0, 1)
    assert (scene.packet(to_2).number, scene.packet(last).number) == (2, 3)


def test_delivered_is_assigned_the_number_and_does_not_count() -> None:
    scene = Scene(PRS, 3)
    scene.send(0, 1)
    to_2 = scene.send(0, 2)
    scene.arrive(to_2, 2)
    assert scene.node(2).delivered[2][0] == 2


def test_a_message_to_its_own_sender_is_refused_with_the_papers_reason() -> None:
    scene = Scene(PRS, 3)
    with pytest.raises(
        BadInput, match=r"prs refuses a message to its own sender: PRS section 5\.1"
    ):
        scene.send(0, 0, 1)
    assert scene.flying == []
    assert scene.send(0, 1) == (0, 1), "a refused message must not use up a number"


def test_control_sizes_count_tuples_rows_and_everything_that_travels() -> None:
    scene = Scene(PRS, 4)
    scene.send(0, 1, 2)
    scene.send(1, 2)
    scene.arrive((0, 1), 2)
    message = scene.send(2, 0, 1, 3)
    packet = scene.packet(message)
    assert barrier(packet) == {1: {(0, 1)}, 2: {(0, 1)}}
    size = PRS.size(packet, None)
    # sender, number, |dests|, three destinations; two rows of process, length, one tuple.
    assert (size.units, size.entries, size.ints) == (2, 2, 3 + 3 + 2 * (2 + 2))
