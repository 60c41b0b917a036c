"""A reliable link: acknowledge, retransmit, deduplicate. It does not order.

It sits between a shell and its port, one per node, under algorithms that assume reliable channels
when the network loses or duplicates. Frames get a header of nine bytes: kind, number on the link,
sender. Its cost is its own: `retransmit` and `acknowledge` rows, never the algorithm's control
bytes.
"""

from __future__ import annotations

import struct

from testbed.core.errors import EngineError, MalformedFrame
from testbed.core.model import Nanos, NodeId
from testbed.core.wire import FRAME_START

_HEADER = struct.Struct("<BII")
_DATA, _ACK = 0, 1

HEADER_BYTES = _HEADER.size
TIMER_PREFIX = "link:"
BACKOFF_MAX = 6
"""The wait doubles with each try, this many times at most."""
TRIES_MAX = 60
"""A copy that was sent so often in vain will not get through; at 75 % loss one in 10^7 is."""


class ReliableLink:
    """The sending and receiving ends of all links of one node."""

    def __init__(
        self,
        me: NodeId,
        retry_after: Nanos,
        covered: int | None = None,
        *,
        tries_max: int | None = TRIES_MAX,
    ) -> None:
        """`covered`: only links to nodes below this one; a station's wires, not the air.

        `tries_max`: None never gives up; a host may be away for as long as it likes.
        """
        self._covered = covered
        self._tries_max = tries_max
        self._me = me
        self._retry_after = retry_after
        self._next_number: dict[NodeId, int] = {}
        self._unacknowledged: dict[tuple[NodeId, int], tuple[bytes, int]] = {}
        self._seen_below: dict[NodeId, int] = {}
        self._seen_beyond: dict[NodeId, set[int]] = {}
        self._gone: set[NodeId] = set()

    @property
    def unacknowledged(self) -> int:
        return len(self._unacknowledged)

    def covers(self, to: NodeId) -> bool:
        return self._covered is None or to < self._covered

    def wrapped(self, frame: bytes) -> bool:
        """Whether these bytes must be the link's own; a bare frame begins as no header does."""
        return self._covered is None or frame[:1] != FRAME_START

    def abandon(self, peer: NodeId) -> list[str]:
        """The peer is no more: the timers of all that waits for its acknowledgement."""
        self._gone.add(peer)
        numbers = [number for to, number in self._unacknowledged if to == peer]
        for number in numbers:
            del self._unacknowledged[peer, number]
        return [f"{TIMER_PREFIX}{peer}:{number}" for number in numbers]

    def wrap(self, to: NodeId, frame: bytes) -> tuple[bytes, str | None]:
        """The frame with its header, and the timer to arm for it; none if the peer is no more."""
        number = self._next_number.get(to, 0)
        self._next_number[to] = number + 1
        wrapped = _HEADER.pack(_DATA, number, self._me) + frame
        if to in self._gone:
            return wrapped, None
        self._unacknowledged[to, number] = (wrapped, 0)
        return wrapped, f"{TIMER_PREFIX}{to}:{number}"

    def retry(self, timer: str) -> tuple[NodeId, bytes, Nanos] | None:
        """A timer fired: whom to send what again, and how long to wait then; None if settled."""
        to, number = (int(part) for part in timer[len(TIMER_PREFIX) :].split(":"))
        waiting = self._unacknowledged.get((to, number))
        if waiting is None:
            return None
        wrapped, tries = waiting
        if tries == self._tries_max:
            raise EngineError(
                f"the link from node {self._me} to node {to} gave up after {tries} tries: "
                "the network loses too much, or network.retry is far too short"
            )
        self._unacknowledged[to, number] = (wrapped, tries + 1)
        return to, wrapped, self.wait(tries + 1)

    def wait(self, tries: int = 0) -> Nanos:
        return self._retry_after << min(tries, BACKOFF_MAX)

    def inside(self, wrapped: bytes) -> bytes | None:
        """The frame in a data frame of the link, looked at but not taken."""
        is_data = len(wrapped) >= HEADER_BYTES and wrapped[0] == _DATA
        return wrapped[HEADER_BYTES:] if is_data else None

    def unwrap(self, wrapped: bytes) -> tuple[NodeId, bytes | None, bytes | None, str | None]:
        """What arrived: (peer, frame if new, acknowledgement to send, timer to disarm)."""
        if len(wrapped) < HEADER_BYTES:
            raise MalformedFrame(f"link frame of {len(wrapped)} bytes, below {HEADER_BYTES}")
        kind, number, peer = _HEADER.unpack_from(wrapped)
        if kind == _ACK:
            self._unacknowledged.pop((peer, number), None)
            return peer, None, None, f"{TIMER_PREFIX}{peer}:{number}"
        if kind != _DATA:
            raise MalformedFrame(f"link frame of kind {kind}, known are {_DATA} and {_ACK}")
        acknowledgement = _HEADER.pack(_ACK, number, self._me)
        frame = wrapped[HEADER_BYTES:] if self._is_new(peer, number) else None
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
