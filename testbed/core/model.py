"""The words everybody uses: node, role, message, destination set.

A *message* is what an application sends; a *packet* is what an algorithm sends; a *frame* is a
packet's bytes. This file knows nothing of algorithms, engines or traces.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Annotated, NamedTuple

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
"""An integer of the wire: not negative, and small enough for the trace; others are refused."""

NodeId = int
"""Unique over all roles of one experiment; processes are numbered from 0."""

Nanos = int
"""Emulated nanoseconds since the start of the run."""

MessageId = tuple[NodeId, int]
"""(origin, number): who sent the message, and its how-manieth it was, from 1."""

DestSet = int
"""A set of nodes as a bit mask: bit d is set when node d belongs to it."""


class Role(enum.StrEnum):
    """What kind of participant a node is, as written in the trace."""

    PROCESS = "process"
    STATION = "mss"
    HOST = "mh"


class Message(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """An application message as it travels inside a packet."""

    origin: Count
    number: Count
    payload: bytes
    deadline: Count | None = None
    """Clock value, of any node's own clock, from which on the message is worthless."""

    @property
    def id(self) -> MessageId:
        return (self.origin, self.number)


class Submission(NamedTuple):
    """The application at `node` sends `payload_bytes` to `dests` at `time`."""

    time: Nanos
    node: NodeId
    dests: tuple[NodeId, ...]
    payload_bytes: int
    lifetime: Nanos | None = None
    """How long after its sending, by the sender's clock, the message is of use; None: for ever."""


def dest_set(nodes: Iterable[NodeId]) -> DestSet:
    """The set of these nodes."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


def members(dests: DestSet) -> list[NodeId]:
    """The nodes of a set, in ascending order."""
    nodes = []
    while dests:
        lowest = dests & -dests
        nodes.append(lowest.bit_length() - 1)
        dests ^= lowest
    return nodes


WireSet = Count | bytes
"""A DestSet on the wire: an integer up to 63 nodes, else its little-endian bytes."""

INTEGER_SET_NODES = 63
_LARGEST_INTEGER_SET = (1 << INTEGER_SET_NODES) - 1


def set_to_wire(dests: DestSet) -> WireSet:
    """MessagePack integers end at 64 bits; a larger set travels as bytes without trailing zeros."""
    if dests <= _LARGEST_INTEGER_SET:
        return dests
    return dests.to_bytes((dests.bit_length() + 7) // 8, "little")


def set_from_wire(dests: WireSet) -> DestSet:
    return dests if isinstance(dests, int) else int.from_bytes(dests, "little")
