"""Sizes of algorithm 2's packets by its rule, and packets that no system can have sent."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.algorithms import find
from testbed.algorithms.mobile import av2
from testbed.algorithms.mobile.air import Register, Up
from testbed.core.errors import MalformedFrame
from testbed.core.model import Message
from testbed.core.wire import Codec
from tests.algorithms.av2.stage import Stage

STATIONS, NODES = 3, 6
MATRIX = [0] * 9
NOTE = Message(4, 1, b"")

BESIDE = (
    (av2.Data(MATRIX, [], [3, 4]), 2),
    (av2.Old(MATRIX, [], 3), 1),
    (av2.HandoffBegin(MATRIX, [], 3, 1, 0, 2), 4),
    (av2.Enable(MATRIX, [], 3, 1, 2, []), 3),
    (av2.Enable(MATRIX, [], 3, 1, 2, [(1, NOTE), (2, NOTE)]), 5),
    (av2.Notify(MATRIX, [], 3, 0, 1), 3),
    (av2.Last(MATRIX, [], 3), 1),
    (av2.HandoffOver(MATRIX, [], 3), 1),
)

IMPOSSIBLE = (
    av2.Data(MATRIX, [], []),
    av2.Data(MATRIX, [], [2]),
    av2.Data(MATRIX, [], [3, 6]),
    av2.Data(MATRIX[:-1], [], [3]),
    av2.Data([0] * 16, [], [3]),
    av2.Data(MATRIX, [0, 0], [3]),
    av2.Old(MATRIX, [], 2),
    av2.HandoffBegin(MATRIX, [], 3, 1, 0, 3),
    av2.HandoffBegin(MATRIX, [], 6, 1, 0, 2),
    av2.Enable(MATRIX, [], 0, 1, 2, []),
    av2.Enable(MATRIX, [], 3, 1, 2, [(1, Message(6, 1, b""))]),
    av2.Notify(MATRIX, [], 3, 3, 1),
    av2.Notify(MATRIX, [], 3, 0, 3),
    av2.Notify(MATRIX, [], 1, 0, 1),
    av2.Last(MATRIX, [], 6),
    av2.HandoffOver(MATRIX, [1], 3),
    Register(1, 3, 0),
    Up(1, [2]),
)


def through_the_codec(packet: Any) -> Any:
    codec = Codec(av2.ALGORITHM, NODES, stations=STATIONS)
    message = None if type(packet) in av2.ALGORITHM.bare else NOTE
    frame = codec.shared_part(1, message, packet) + codec.own_part(None)
    return codec.decode(frame).packet


@pytest.mark.parametrize(("packet", "beside"), BESIDE)
def test_a_packet_counts_the_matrix_of_stations_and_what_goes_with_it(
    packet: av2.Ordered, beside: int
) -> None:
    assert through_the_codec(packet) == packet
    size = av2.size(packet, None)
    assert (size.ints, size.units) == (STATIONS * STATIONS + beside, STATIONS * STATIONS)


@pytest.mark.parametrize("packet", IMPOSSIBLE, ids=str)
def test_a_packet_that_no_station_can_have_sent_is_refused(packet: Any) -> None:
    with pytest.raises(MalformedFrame, match="impossible content"):
        through_the_codec(packet)


def test_every_packet_of_the_record_has_a_size_that_is_stated_above() -> None:
    ordered = {packet for packet in av2.ALGORITHM.packets if issubclass(packet, av2.Ordered)}
    assert {type(packet) for packet, _ in BESIDE} == ordered


@pytest.mark.parametrize("hosts", [2, 40])
def test_the_matrix_does_not_grow_with_the_number_of_hosts(hosts: int) -> None:
    stage = Stage("av2", (0, 1) * (hosts // 2), stations=2)
    stage.send(2, 3)
    (data,) = stage.flying
    assert find("av2").size(data.arrival.packet, None).ints == 2 * 2 + 1


def test_a_station_counts_its_two_arrays_and_the_matrices_that_wait() -> None:
    stage = Stage("av2", (0, 1, 2), stations=3)
    node = stage.node(1)
    assert node.state_ints() == 3 + 9
    stage.send(3, 4)
    stage.send(3, 4)
    first, second = stage.flying
    stage.flying.remove(first)
    stage.pass_on("Data", 0, 1)
    assert (node.held(), node.state_ints()) == (1, 3 + 9 + 9)
    stage.flying.append(first)
    stage.settle()
    assert (node.held(), node.state_ints()) == (0, 3 + 9)
    assert second.arrival.packet.sent[1] == 2
