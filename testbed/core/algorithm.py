"""What a published algorithm is to the testbed: one record at the end of its file."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, NamedTuple

import msgspec

from testbed.core.model import NodeId, Role
from testbed.core.node import Node, Packet, View


class Guarantee(enum.StrEnum):
    """What the audit must expect of an algorithm."""

    NONE = "none"
    FIFO = "fifo"
    CAUSAL = "causal"
    DEADLINE = "deadline-causal"
    """What is delivered is in causal order and before its deadline; what is not was discarded."""


class ControlSize(NamedTuple):
    """Control information of one copy, counted from the decoded packet."""

    ints: int
    """Integers that travel, by the rule that the algorithm's page states."""
    units: int = 0
    """Independent units of ordering information by the paper's own rule."""
    entries: int = 0
    """Records that these units come in: log entries (KS), rows of the barrier (PRS)."""
    empty: int = 0
    """Records that hold no unit (KS keeps the newest of each sender)."""


def packet_name(packet: type[Packet]) -> str:
    """What the trace calls it: `HandoffBegin` is `handoff_begin`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", packet.__name__).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """Found by discovery: the value named ALGORITHM in a module of `testbed.algorithms`."""

    name: str
    title: str
    paper: str
    roles: Mapping[Role, Callable[[View], Node[Any, Any]]]
    packets: tuple[type[Packet], ...]
    params: type[msgspec.Struct] | None = None
    """What may be set in `name[key=value]`; every field has a default."""
    own: Any = NoneType
    """Type of the part of a packet that belongs to one destination alone."""
    bare: tuple[type[Packet], ...] = ()
    """Packets that carry no application message; a frame of any other must have one."""
    size: Callable[[Any, Any], ControlSize]
    well_formed: Callable[[Any, Any, int], bool] | None = None
    """Whether a decoded packet can have come from a system of n nodes; what types cannot say."""
    is_possible: Callable[[Any, int, int], bool] | None = None
    """The same for a mobile algorithm with stations: the packet, nodes in all, stations."""
    possible_with: Callable[[Any], Callable[[Any, int, int], bool]] | None = None
    """From the parameters to `is_possible`, where they decide what is possible."""
    handoff: tuple[type[Packet], ...] = ()
    """Packets by which stations hand a host over: what AV's table 1 counts."""
    repair: tuple[type[Packet], ...] = ()
    """Packets by which a group makes up for lost messages: solicitation first, then the answers."""
    stations_send: bool = False
    """The application may also send from stations."""
    guarantee: Guarantee = Guarantee.CAUSAL
    uses_deadlines: bool = False
    """It needs a deadline on every message, and gives up what cannot meet it."""
    uses_detector: bool = False
    """It acts on suspicions; the planner puts a failure detector under it."""
    needs_reliable: bool = True
    """Channels must neither lose nor duplicate; the planner puts a reliable link under it."""
    needs_fifo: bool = False
    """Channels must be FIFO; the planner refuses others."""
    broadcast_only: bool = False
    """Every message must go to all other processes."""
    refuses_self: str | None = None
    """Why a message to its own sender is refused; None where it works."""

    @property
    def is_mobile(self) -> bool:
        """Whether it runs on mobile hosts instead of processes."""
        return Role.HOST in self.roles

    @property
    def is_on_hosts_alone(self) -> bool:
        """Whether hosts talk to each other over the air, and stations have no part in it.

        The air loses what is under way when a host leaves, whatever else the network does, and no
        station sends it again: the planner must put a reliable link under such an algorithm.
        """
        return self.is_mobile and Role.STATION not in self.roles

    @property
    def packet_names(self) -> tuple[str, ...]:
        """What the trace calls its packets, by their place in `packets`."""
        return tuple(packet_name(packet) for packet in self.packets)

    def refusal(self, sender: NodeId, dests: tuple[NodeId, ...], n: int) -> str | None:
        """Why this destination set cannot be sent, or None if it can."""
        if self.refuses_self and sender in dests:
            return f"{self.name} refuses a message to its own sender: {self.refuses_self}"
        if self.broadcast_only and len(set(dests) - {sender}) != n - 1:
            return f"{self.name} only broadcasts: a message must go to all {n - 1} other processes"
        return None
