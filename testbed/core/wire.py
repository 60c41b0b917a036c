"""Packets to bytes and back: one MessagePack array of four, `[source, message, packet, own]`.

    source    integer, the sending node
    message   nil, or [origin, number, payload, deadline or nil]
    packet    [tag, field, field, ...], the fields of the algorithm's packet in order
    own       nil, or what belongs to this destination alone

The first three are equal for all copies of a multicast and are encoded once; a copy is that
prefix plus its own part. Node sets are bit masks: an integer up to 63 nodes, else bytes.
Decoding is typed and total: any bytes give a packet of this algorithm or MalformedFrame.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Union, cast

import msgspec

from testbed.core.algorithm import Algorithm
from testbed.core.errors import MalformedFrame
from testbed.core.model import Message, NodeId
from testbed.core.node import Arrival, Packet

FRAME_BYTES_MAX = 16 * 1024 * 1024
"""A frame larger than this is refused, by sender and receiver alike."""

FRAME_START = b"\x94"
"""An array of four: how every frame begins."""
_NIL = b"\xc0"


@cache
def _decoder(packets: tuple[type[Packet], ...], own: Any) -> msgspec.msgpack.Decoder[Any]:
    """Made once: it has no state, and making one costs as much as decoding fifty frames."""
    either: Any = Union[packets]  # noqa: UP007 - built from a runtime tuple
    arrival: Any = cast(Any, Arrival)[either, own | None]
    return msgspec.msgpack.Decoder(arrival)


class Codec:
    """Encodes and decodes the packets of one algorithm."""

    __slots__ = (
        "_bare", "_decode", "_encode", "_first_origin", "_first_source", "_is_possible", "_n",
        "_size", "_stations", "_well_formed", "bytes_max",
    )  # fmt: skip

    def __init__(
        self,
        algorithm: Algorithm,
        n: int,
        *,
        stations: int = 0,
        params: Any = None,
        bytes_max: int = FRAME_BYTES_MAX,
    ) -> None:
        """`n` is the number of nodes: an identifier beyond it is malformed."""
        self._encode: Callable[[Any], bytes] = msgspec.msgpack.Encoder().encode
        self._decode: Callable[[bytes], Any] = _decoder(algorithm.packets, algorithm.own).decode
        self._well_formed = algorithm.well_formed
        self._is_possible = algorithm.is_possible
        if algorithm.possible_with is not None and params is not None:
            self._is_possible = algorithm.possible_with(params)
        self._stations = stations
        self._bare = algorithm.bare
        self._n = n
        # An algorithm that runs on the hosts alone knows nothing of stations.
        self._size = n - stations if algorithm.is_on_hosts_alone else n
        self._first_source = stations if algorithm.is_on_hosts_alone else 0
        is_from_hosts = algorithm.is_mobile and not algorithm.stations_send
        self._first_origin = stations if is_from_hosts else 0
        self.bytes_max = bytes_max

    def shared_part(self, source: NodeId, message: Message | None, packet: Packet) -> bytes:
        """What all copies of one multicast have in common, encoded once."""
        three = self._encode((source, message, packet))
        return FRAME_START + three[1:]

    def own_part(self, own: Any) -> bytes:
        """What one destination alone gets, to be put behind the shared part."""
        return _NIL if own is None else self._encode(own)

    def decode(self, frame: bytes) -> Arrival[Any, Any]:
        """The copy in these bytes; raises MalformedFrame, never anything else."""
        if len(frame) > self.bytes_max:
            raise MalformedFrame(f"frame of {len(frame)} bytes, at most {self.bytes_max} allowed")
        try:
            arrival: Arrival[Any, Any] = self._decode(frame)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise MalformedFrame(f"frame of {len(frame)} bytes refused: {error}") from error
        message, n = arrival.message, self._n
        if (
            not self._first_source <= arrival.source < n
            or (
                type(arrival.packet) not in self._bare
                if message is None
                else not self._first_origin <= message.origin < n
            )
            or (
                self._well_formed is not None
                and not self._well_formed(arrival.packet, arrival.own, self._size)
            )
            or (
                self._is_possible is not None
                and not self._is_possible(arrival.packet, n, self._stations)
            )
        ):
            raise MalformedFrame(f"frame of {len(frame)} bytes refused: impossible content")
        return arrival
