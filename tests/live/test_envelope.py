"""The bytes between actors: any batch is envelopes or is refused, never anything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.envelope import HEADER_BYTES, HELLO, hello, pack, unpack
from testbed.core.errors import MalformedFrame

u32 = st.integers(0, 2**32 - 1)
envelopes = st.tuples(
    u32, u32, st.integers(0, 2**63 - 1), st.integers(0, 2**64 - 1), st.binary(max_size=64)
)


@given(st.lists(envelopes, max_size=8))
def test_a_batch_gives_back_its_envelopes_in_order(batch):
    assert list(unpack(b"".join(pack(*envelope) for envelope in batch))) == batch


@given(st.binary(max_size=200))
def test_any_bytes_are_envelopes_or_malformed(data):
    try:
        found = list(unpack(data))
    except MalformedFrame:
        return
    assert b"".join(pack(*envelope) for envelope in found) == data


@given(envelopes, st.data())
def test_a_truncated_batch_is_malformed(envelope, data):
    whole = pack(*envelope)
    cut = data.draw(st.integers(1, len(whole) - 1))

    with pytest.raises(MalformedFrame):
        list(unpack(whole[:cut]))


def test_a_due_time_before_the_start_is_malformed():
    with pytest.raises(MalformedFrame):
        list(unpack(pack(0, 1, -1, 0, b"")))


def test_a_hello_is_addressed_to_no_node():
    ((to, source, _, _, frame),) = unpack(hello(5))

    assert (to, source, frame) == (HELLO, 5, b"")
    assert len(hello(5)) == HEADER_BYTES
