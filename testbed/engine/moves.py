"""A host's itinerary as what happens to it: moves, in order, the same in both engines."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from testbed.core.model import Nanos, NodeId
from testbed.core.world import Itinerary
from testbed.engine.shell import Shell


class MoveKind(enum.IntEnum):
    """What happens to a host."""

    ANNOUNCE = 0
    """It is about to disconnect, and may still say so."""
    DISCONNECT = 1
    LEAVE = 2
    ENTER = 3


class Move(NamedTuple):
    """One step of one host."""

    time: Nanos
    kind: MoveKind
    station: NodeId
    """The one that it enters, or leaves."""


def moves(stays: Itinerary, notice: Nanos) -> Iterator[Move]:
    """The first stay begins before the run and the last never ends; all between happens."""
    for stay, following in pairwise(stays):
        if stay.disconnects:
            yield Move(max(stay.start, stay.end - notice), MoveKind.ANNOUNCE, stay.station)
            yield Move(stay.end, MoveKind.DISCONNECT, stay.station)
        else:
            yield Move(stay.end, MoveKind.LEAVE, stay.station)
        yield Move(following.start, MoveKind.ENTER, following.station)


def make_move(shell: Shell, move: Move, now: Nanos) -> None:
    """Tell the shell of the host."""
    match move.kind:
        case MoveKind.ANNOUNCE:
            shell.announce_disconnection(now)
        case MoveKind.DISCONNECT | MoveKind.LEAVE:
            shell.leave(now, disconnects=move.kind is MoveKind.DISCONNECT)
        case MoveKind.ENTER:
            shell.enter(now, move.station)
