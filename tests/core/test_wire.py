"""The frame: what it holds, what is encoded once, and which well-typed content is impossible."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.algorithms import algorithms, find
from testbed.core.errors import ContractViolation, MalformedFrame
from testbed.core.model import dest_set, members, set_from_wire, set_to_wire
from testbed.core.wire import Codec
from tests.frames import NAMES, NODES
from tests.scene import Scene

MESSAGE = [0, 1, b""]


def refused(name: str, tree: Any, n: int = NODES) -> bool:
    try:
        Codec(find(name), n).decode(msgspec.msgpack.encode(tree))
    except MalformedFrame:
        return True
    return False


def test_a_frame_is_an_array_of_source_message_packet_and_own_part() -> None:
    scene = Scene(find("fifo"), 3)
    scene.send(2, 0, 1)
    frame = scene.flying[0].frame
    assert msgspec.msgpack.decode(frame) == [2, [2, 1, b"", None], [0], 1]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_equal_for_all_copies_is_encoded_once(name: str) -> None:
    scene = Scene(find(name), 8)
    encode, encoded = scene.codec._encode, []

    def counting(value: Any) -> bytes:
        encoded.append(value)
        return encode(value)

    scene.codec._encode = counting
    message = scene.send(0, *range(1, 8))
    own_parts = [a.own for (m, _), a in scene.packets.items() if m == message and a.own is not None]
    packet = scene.packet(message)
    holding = [e for e in encoded if e == packet or (isinstance(e, tuple) and packet in e)]
    assert len(holding) == 1, "the packet is encoded once for seven copies"
    assert len(encoded) <= 3 + len(own_parts), "and so are source and message; own parts each"
    assert len(scene.flying) == 7


SOUND = {
    "bss": [0, MESSAGE, [0, [1, 0, 0, 0]], None],
    "fifo": [0, MESSAGE, [0], 1],
    "immediate": [0, MESSAGE, [0], None],
    "ks": [0, MESSAGE, [0, 1, 2, [1, 0, 0, 3], [0] * 4, [0, 1, 4]], None],
    "prs": [0, MESSAGE, [0, 1, 2, [[1, 0, 1]]], None],
    "rst": [0, MESSAGE, [0, [1] * 16], None],
}


@pytest.mark.parametrize("name", SOUND)
def test_a_frame_written_by_hand_is_understood(name: str) -> None:
    assert not refused(name, SOUND[name])


@pytest.mark.parametrize("name", SOUND)
def test_a_sender_or_origin_beyond_the_system_is_refused(name: str) -> None:
    _, _, packet, own = SOUND[name]
    assert refused(name, [NODES, MESSAGE, packet, own])
    assert refused(name, [0, [NODES, 1, b""], packet, own])
    assert refused(name, [-1, MESSAGE, packet, own])


@pytest.mark.parametrize("name", SOUND)
def test_a_frame_without_its_message_is_refused(name: str) -> None:
    _, _, packet, own = SOUND[name]
    assert refused(name, [0, None, packet, own])


@pytest.mark.parametrize("name", SOUND)
def test_numbers_that_the_trace_cannot_hold_are_refused(name: str) -> None:
    _, _, packet, own = SOUND[name]
    assert refused(name, [0, [0, 1 << 63, b""], packet, own])
    assert refused(name, [0, [0, 1, b"", 1 << 63], packet, own])
    assert refused(name, [0, [0, 1, b"", -5], packet, own])


@pytest.mark.parametrize("name", SOUND)
def test_more_fields_than_a_sender_writes_are_refused(name: str) -> None:
    source, message, packet, own = SOUND[name]
    assert refused(name, [source, message, packet, own, 0])
    assert refused(name, [source, message, [*packet, 0], own])
    assert refused(name, [source, [*message, None, 0], packet, own])


IMPOSSIBLE = (
    ("bss", [0, [1, 0, 0]], None, "a vector that is too short"),
    ("bss", [0, [1, 0, 0, 0, 0]], None, "a vector that is too long"),
    ("bss", [0, [1, -1, 0, 0]], None, "a negative component"),
    ("fifo", [0], None, "no number on the channel"),
    ("fifo", [0], -1, "a negative number on the channel"),
    ("immediate", [0], 1, "an own part where there is none"),
    ("rst", [0, [1] * 15], None, "a matrix that is no square"),
    ("rst", [0, [1] * 9], None, "a matrix of another system"),
    ("prs", [0, 1, 2, [[1, 0]]], None, "a row of even length"),
    ("prs", [0, 1, 2, [[]]], None, "an empty row"),
    ("prs", [0, 1, 2, [[4, 0, 1]]], None, "a row of no process"),
    ("prs", [0, 1, 2, [[1, 4, 1]]], None, "a constraint on no process"),
    ("prs", [0, 1, 16, []], None, "a destination beyond the system"),
    ("prs", [0, 1, b"\x00\x01", []], None, "a destination beyond the system, as bytes"),
    ("prs", [0, 1, -1, []], None, "a negative set"),
    ("prs", [1, 1, 2, []], None, "an unknown kind of packet"),
    ("ks", [0, 1, 2, [0] * 4, [0] * 4, [0, 0]], None, "older entries that are no triples"),
    ("ks", [0, 1, 2, [], [], []], None, "an empty log"),
    ("ks", [0, 1, 2, [0] * 3, [0] * 4, []], None, "no time stamp of somebody's newest entry"),
    ("ks", [0, 1, 2, [0] * 4, [0] * 5, []], None, "the newest entry of no process"),
    ("ks", [0, 1, 2, [0] * 4, [0, 0, 0, 16], []], None, "a newest set beyond the system"),
    ("ks", [0, 1, 2, [0] * 4, [0, b"", 0, 0], []], None, "a set that should be a number"),
    ("ks", [0, 1, 2, [0] * 4, [0] * 4, [4, 0, 1]], None, "an older entry of no process"),
    ("ks", [0, 1, 2, [0] * 4, [0] * 4, [0, 0, 16]], None, "an older set beyond the system"),
    ("ks", [0, 1, 2, [0] * 4, [0] * 4, [b"", 0, 1]], None, "a sender that is bytes"),
    ("ks", [0, 1, 2, [0] * 4, [0] * 4, [0, b"", 1]], None, "a time that is bytes"),
    ("ks", SOUND["ks"][2], [[4], []], "an own part of no process"),
    ("ks", SOUND["ks"][2], [[], [0]], "half an older entry"),
    ("ks", SOUND["ks"][2], [[], [4, 1]], "an older own entry of no process"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "packet", "own"),
    [case[:3] for case in IMPOSSIBLE],
    ids=[f"{case[0]}: {case[3]}" for case in IMPOSSIBLE],
)
def test_well_typed_but_impossible_content_is_refused(name: str, packet: Any, own: Any) -> None:
    assert refused(name, [0, MESSAGE, packet, own])


@pytest.mark.parametrize("name", NAMES)
def test_a_sender_refuses_a_packet_that_receivers_would_refuse(name: str) -> None:
    scene = Scene(algorithms()[name], NODES)
    scene.send(0, 1, 2, 3)
    sent = max(len(copy.frame) for copy in scene.flying)
    second = Scene(algorithms()[name], NODES)
    second.codec.bytes_max = sent - 1
    with pytest.raises(ContractViolation, match=f"packet of {sent} bytes, at most {sent - 1}"):
        second.send(0, 1, 2, 3)


def test_own_parts_count_towards_the_largest_frame() -> None:
    scene = Scene(find("ks"), 3)
    for _ in range(40):
        scene.send(0, 1)
        scene.send(0, 2)
    probe = Scene(find("ks"), 3)
    for _ in range(40):
        probe.send(0, 1)
        probe.send(0, 2)
    probe.send(0, 1, 2)
    largest = max(len(copy.frame) for copy in probe.flying[-2:])
    scene.codec.bytes_max = largest - 1
    with pytest.raises(ContractViolation, match=f"packet of {largest} bytes"):
        scene.send(0, 1, 2)


@given(st.sets(st.integers(0, 200)))
def test_a_set_of_nodes_survives_the_wire(nodes: set[int]) -> None:
    wire = set_to_wire(dest_set(nodes))
    assert members(set_from_wire(wire)) == sorted(nodes)
    encoded = msgspec.msgpack.encode(wire)
    assert isinstance(wire, int) == (max(nodes, default=0) < 63)
    assert len(encoded) <= 9 or isinstance(wire, bytes)


def test_an_entry_that_is_restored_twice_does_not_make_a_count_negative() -> None:
    arrival = Codec(find("ks"), NODES).decode(
        msgspec.msgpack.encode([0, MESSAGE, SOUND["ks"][2], [[0, 0, 0, 0, 0], []]])
    )
    assert min(find("ks").size(arrival.packet, arrival.own)) >= 0
