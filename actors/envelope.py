"""What travels between actors: a batch of envelopes, each a header and one frame.

    to, source   u32   nodes, not actors
    due          i64   emulated nanoseconds: when the receiver may look at it, fixed by the sender
    number       u64   the sender's count, so that equal due times on a link keep their order
    length       u32   bytes of the frame that follows

No pickle, no object of Python: any bytes give envelopes or MalformedFrame. Knows no transport.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from testbed.core.errors import MalformedFrame
from testbed.core.model import Nanos, NodeId

_HEADER = struct.Struct("<IIqQI")
HEADER_BYTES = _HEADER.size
HELLO = 0xFFFF_FFFF
"""Addressed to no node: an actor says to a peer that its connection stands."""

pack_header = _HEADER.pack
_unpack_from = _HEADER.unpack_from

Envelope = tuple[NodeId, NodeId, Nanos, int, bytes]
"""(to, source, due, number, frame)"""


def pack(to: NodeId, source: NodeId, due: Nanos, number: int, frame: bytes) -> bytes:
    """One envelope; a batch is envelopes one after the other."""
    return pack_header(to, source, due, number, len(frame)) + frame


def hello(actor: int) -> bytes:
    """What an actor sends to each peer before the run, instead of frames."""
    return pack(HELLO, actor, 0, 0, b"")


def unpack(batch: bytes) -> Iterator[Envelope]:
    """The envelopes of a batch; raises MalformedFrame at the first that is none."""
    offset, end = 0, len(batch)
    while offset < end:
        body = offset + HEADER_BYTES
        if body > end:
            raise MalformedFrame(f"batch ends after {end - offset} bytes of a header")
        to, source, due, number, length = _unpack_from(batch, offset)
        offset = body + length
        if offset > end or due < 0:
            raise MalformedFrame(f"envelope of {length} bytes, due {due}, in {end - body} bytes")
        yield to, source, due, number, batch[body:offset]
