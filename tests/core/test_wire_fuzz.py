"""Any bytes at all: a decoder answers MalformedFrame or a packet that the node can take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.algorithms import algorithms
from testbed.core.errors import MalformedFrame
from testbed.core.wire import Codec
from testbed.trace.schema import PACKED, REASONS, Event, to_batch
from tests.frames import NAMES, NODES, bent, damaged, real_copies
from tests.scene import FIELDS, Scene

each_algorithm = pytest.mark.parametrize("name", NAMES)


def survives(name: str, frame: bytes) -> None:
    """Whatever it makes of the frame, the node raises nothing, now or later."""
    scene = Scene(algorithms()[name], NODES)
    copies = [copy for copy in real_copies(name) if copy.to == 0]
    for copy in copies[: len(copies) // 2]:
        scene.inject(0, copy.frame)
    scene.inject(0, frame)
    for copy in copies[len(copies) // 2 :]:
        scene.inject(0, copy.frame)
    scene.send(0, 1, 2, 3)
    assert_rows_can_be_packed(scene)


def assert_rows_can_be_packed(scene: Scene) -> None:
    """Numbers of a hostile frame must fit the trace's columns."""
    limits = {"i1": 1 << 7, "i4": 1 << 31, "i8": 1 << 63}
    for row in scene.rows.rows:
        for value, column in zip(row, PACKED, strict=True):
            assert -1 <= value < limits[column.packed], column.name


@each_algorithm
@given(data=st.data())
def test_random_bytes_do_no_harm(name: str, data: st.DataObject) -> None:
    survives(name, data.draw(st.binary(max_size=60)))


@each_algorithm
@given(data=st.data())
def test_cut_flipped_and_lengthened_frames_do_no_harm(name: str, data: st.DataObject) -> None:
    survives(name, data.draw(damaged(name)))


@each_algorithm
@given(data=st.data())
def test_frames_of_another_structure_do_no_harm(name: str, data: st.DataObject) -> None:
    survives(name, data.draw(bent(name)))


@each_algorithm
def test_every_truncation_of_a_frame_is_malformed(name: str) -> None:
    codec = Codec(algorithms()[name], NODES)
    frame = max(real_copies(name), key=lambda copy: len(copy.frame)).frame
    for length in range(len(frame)):
        with pytest.raises(MalformedFrame, match=f"frame of {length} bytes refused"):
            codec.decode(frame[:length])


@each_algorithm
def test_a_refused_frame_is_counted_and_traced_and_the_node_lives_on(name: str) -> None:
    scene = Scene(algorithms()[name], NODES)
    assert scene.inject(1, b"no packet") == []
    assert scene.shells[1].malformed == 1
    (row,) = scene.rows.named(Event.MALFORMED)
    assert (row["node"], row["seq"], row["control_bytes"]) == (1, 0, 9)
    assert REASONS[row["reason"]] == "malformed"
    assert (row["origin"], row["number"], row["peer"]) == (-1, -1, -1)
    message = scene.send(0, 1, 2, 3)
    assert scene.arrive(message, 1) == [message]


@each_algorithm
def test_an_oversized_frame_is_refused_before_it_is_decoded(name: str) -> None:
    algorithm = algorithms()[name]
    frame = real_copies(name)[0].frame
    exact, small = (Codec(algorithm, NODES, bytes_max=len(frame) - cut) for cut in (0, 1))
    assert exact.decode(frame).source == real_copies(name)[0].source
    with pytest.raises(MalformedFrame, match=rf"{len(frame)} bytes, at most {len(frame) - 1}"):
        small.decode(frame)
    scene = Scene(algorithm, NODES)
    scene.codec.bytes_max = len(frame) - 1
    scene.inject(1, frame)
    (row,) = scene.rows.named(Event.MALFORMED)
    assert REASONS[row["reason"]] == "oversized"


def test_the_row_of_a_refused_frame_has_no_message_in_the_trace() -> None:
    import numpy as np

    from testbed.trace.schema import ROW

    scene = Scene(algorithms()["rst"], 2)
    scene.inject(1, b"")
    (row,) = to_batch("run", np.array(scene.rows.rows, dtype=ROW), {}, ("data",)).to_pylist()
    assert (row["event"], row["reason"], row["origin"], row["number"], row["dests"]) == (
        "malformed", "malformed", None, None, None,
    )  # fmt: skip
    assert set(FIELDS) < set(row)
