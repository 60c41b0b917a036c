"""A reliable link: acknowledge, retransmit, deduplicate. It does not order.

It sits between a shell and its port, one per node, under algorithms that assume reliable channels
when the network loses or duplicates. Frames get a five-byte header: kind and number on the link.
Its cost is its own: `retransmit` and `acknowledge` rows, never the algorithm's control bytes.
"""

from __future__ import annotations

import struct

from testbed.core.errors import MalformedFrame
from testbed.core.model import Nanos, NodeId

_HEADER = struct.Struct("<BI")
_SOURCE = struct.Struct("<I")
_DATA, _ACK = 0, 1

HEADER_BYTES = _HEADER.size
TIMER_PREFIX = "link:"
BACKOFF_MAX = 6
"""The wait doubles with each try, this many times at most."""


class ReliableLink:
    """The sending and receiving ends of all links of one node."""

    def __init__(self, me: NodeId, retry_after: Nanos) -> None:
        self._me = me
        self._retry_after = retry_after
        self._next_number: dict[NodeId, int] = {}
        self._unacknowledged: dict[tuple[NodeId, int], tuple[bytes, int]] = {}
        self._seen_below: dict[NodeId, int] = {}
        self._seen_beyond: dict[NodeId, set[int]] = {}

    @property
    def unacknowledged(self) -> int:
        return len(self._unacknowledged)

    def wrap(self, to: NodeId, frame: bytes) -> tuple[bytes, str]:
        """The frame with its header, and the timer to arm for it."""
        number = self._next_number.get(to, 0)
        self._next_number[to] = number + 1
        wrapped = _HEADER.pack(_DATA, number) + _SOURCE.pack(self._me) + frame
        self._unacknowledged[to, number] = (wrapped, 0)
        return wrapped, f"{TIMER_PREFIX}{to}:{number}"

    def retry(self, timer: str) -> tuple[NodeId, bytes, Nanos] | None:
        """A timer fired: whom to send what again, and how long to wait then; None if settled."""
        to, number = (int(part) for part in timer[len(TIMER_PREFIX) :].split(":"))
        waiting = self._unacknowledged.get((to, number))
        if waiting is None:
            return None
        wrapped, tries = waiting
        tries = min(tries + 1, BACKOFF_MAX)
        self._unacknowledged[to, number] = (wrapped, tries)
        return to, wrapped, self.wait(tries)

    def wait(self, tries: int = 0) -> Nanos:
        return self._retry_after << tries

    def unwrap(self, wrapped: bytes) -> tuple[NodeId, bytes | None, bytes | None, str | None]:
        """What arrived: (peer, frame if new, acknowledgement to send, timer to disarm)."""
        header = HEADER_BYTES + _SOURCE.size
        if len(wrapped) < header:
            raise MalformedFrame(f"link frame of {len(wrapped)} bytes, at least {header} expected")
        kind, number = _HEADER.unpack_from(wrapped)
        (peer,) = _SOURCE.unpack_from(wrapped, HEADER_BYTES)
        if kind == _ACK:
            self._unacknowledged.pop((peer, number), None)
            return peer, None, None, f"{TIMER_PREFIX}{peer}:{number}"
        if kind != _DATA:
            raise MalformedFrame(f"link frame of kind {kind}, known are {_DATA} and {_ACK}")
        acknowledgement = _HEADER.pack(_ACK, number) + _SOURCE.pack(self._me)
        frame = wrapped[header:] if self._is_new(peer, number) else None
        return peer, frame, acknowledgement, None

    def _is_new(self, peer: NodeId, number: int) -> bool:
        below = self._seen_below.get(peer, 0)
        beyond = self._seen_beyond.setdefault(peer, set())
        if number < below or number in beyond:
            return False
        beyond.add(number)
        while below in beyond:
            beyond.remove(below)
            below += 1
        self._seen_below[peer] = below
        return True
