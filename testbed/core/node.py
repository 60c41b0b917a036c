"""The narrow waist: an algorithm gets one input and answers with effects.

Inputs are past tense and arrive as method calls (`on_submitted`, `on_received`, `on_timer`, and
for mobile hosts `on_entered`, `on_left`, `on_disconnecting`; where a failure detector runs,
`on_suspected` and `on_trusted`); effects are imperative and recorded
on the Turn. A Node knows no clock, no randomness, no engine;
it runs to completion, and everything it does to the world is on its Turn. Rules for a Node:

* absorb, then settle: store the input, then fire what is enabled until nothing moves;
* never hand out a live structure: what is put on the Turn is not changed afterwards;
* never measure yourself: the Shell takes sizes, waits and buffers, equally for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from testbed.core.model import Count, Message, Nanos, NodeId

Timer = str
"""A timer's name; setting a timer that is set moves it."""


class Packet(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """Base of what algorithms send; a subclass has an integer `tag`, unique in its algorithm."""


P = TypeVar("P", bound=Packet)
O = TypeVar("O")  # noqa: E741 - the part of a packet that belongs to one destination alone


class Arrival(
    msgspec.Struct, Generic[P, O], frozen=True, array_like=True, forbid_unknown_fields=True
):
    """One copy of a packet as its receiver sees it, decoded from its frame."""

    source: Count
    message: Message | None
    packet: P
    own: O


class Transmit(msgspec.Struct, frozen=True, gc=False):
    """Send one packet to each destination; `own` holds what differs between the copies."""

    dests: tuple[NodeId, ...]
    packet: Packet
    message: Message | None
    own: Mapping[NodeId, Any] | None
    again: bool = False
    """The algorithm has sent this before and repeats it; the trace says so."""


class Deliver(msgspec.Struct, frozen=True, gc=False):
    """Hand a message to the application."""

    message: Message


class Discard(msgspec.Struct, frozen=True, gc=False):
    """Give a message up, for a reason that the trace records."""

    message: Message
    reason: str
    host: NodeId | None = None
    """At a station: the host that the message would have been for."""


class SetTimer(msgspec.Struct, frozen=True, gc=False):
    """Call `on_timer` when the node's own clock shows `at`."""

    timer: Timer
    at: Nanos


class CancelTimer(msgspec.Struct, frozen=True, gc=False):
    """Forget a timer; it is no error if it is not set."""

    timer: Timer


class BeginHandoff(msgspec.Struct, frozen=True, gc=False):
    """For the trace: this station has begun to take over a host."""

    host: NodeId


class EndHandoff(msgspec.Struct, frozen=True, gc=False):
    """For the trace: this station has taken over a host, and nothing is left to do for it."""

    host: NodeId


Effect = Transmit | Deliver | Discard | SetTimer | CancelTimer | BeginHandoff | EndHandoff


class Turn(msgspec.Struct):
    """One reaction of one node: its local time, and the effects it asks for, in order."""

    now: Nanos
    effects: list[Effect] = []

    def send(
        self, to: NodeId, packet: Packet, *, message: Message | None = None, again: bool = False
    ) -> None:
        self.effects.append(Transmit((to,), packet, message, None, again))

    def multicast(
        self,
        dests: tuple[NodeId, ...],
        packet: Packet,
        *,
        message: Message | None = None,
        own: Mapping[NodeId, Any] | None = None,
    ) -> None:
        self.effects.append(Transmit(dests, packet, message, own))

    def deliver(self, message: Message) -> None:
        self.effects.append(Deliver(message))

    def discard(self, message: Message, reason: str, *, host: NodeId | None = None) -> None:
        self.effects.append(Discard(message, reason, host))

    def set_timer(self, timer: Timer, at: Nanos) -> None:
        self.effects.append(SetTimer(timer, at))

    def cancel_timer(self, timer: Timer) -> None:
        self.effects.append(CancelTimer(timer))

    def begin_handoff(self, host: NodeId) -> None:
        self.effects.append(BeginHandoff(host))

    def end_handoff(self, host: NodeId) -> None:
        self.effects.append(EndHandoff(host))


class View(msgspec.Struct, frozen=True):
    """What a node may know of the world when it is made."""

    me: NodeId
    processes: tuple[NodeId, ...] = ()
    stations: tuple[NodeId, ...] = ()
    hosts: tuple[NodeId, ...] = ()
    cells: Mapping[NodeId, NodeId] = {}
    """The station of each host at the start, which everybody knows (AV section 5.1)."""
    keeps: bool = True
    """What reaches the station of a disconnected host is kept for it; else it is dropped."""
    buffer_bytes: int | None = None
    """How many payload bytes a node may keep; None: as many as it likes."""
    params: Any = None
    """The algorithm's own parameters, of its record's type `params`."""

    @property
    def n(self) -> int:
        return len(self.processes) + len(self.stations) + len(self.hosts)


class Node(Generic[P, O]):
    """The state of one role of one algorithm; subclass it, one class per role."""

    def __init__(self, view: View) -> None:
        self.me = view.me
        self.n = view.n

    def on_started(self, turn: Turn) -> None:
        """The run begins; most algorithms have nothing to do."""

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        """The application sends `message` to `dests` (sorted, no duplicates, not empty)."""
        raise ContractGap(self, "a submitted message")

    def on_received(self, arrival: Arrival[P, O], turn: Turn) -> None:
        """One copy arrived from `arrival.source`."""
        raise ContractGap(self, "a received packet")

    def on_timer(self, timer: Timer, turn: Turn) -> None:
        """A timer that was set has come due."""
        raise ContractGap(self, "a timer")

    def on_entered(self, station: NodeId, turn: Turn) -> None:
        """A host hears the beacon of this station: it is in its cell from now on."""
        raise ContractGap(self, "a move")

    def on_left(self, turn: Turn) -> None:
        """A host has left its cell; what it sends before it enters one is lost."""
        raise ContractGap(self, "a move")

    def on_disconnecting(self, turn: Turn) -> None:
        """A host will leave by its own will, soon: the last chance to tell its station."""
        raise ContractGap(self, "a disconnection")

    def on_suspected(self, node: NodeId, turn: Turn) -> None:
        """The failure detector believes that this node has crashed; it may be wrong."""

    def on_trusted(self, node: NodeId, turn: Turn) -> None:
        """The failure detector heard of a suspected node again: it was wrong."""

    def buffered_bytes(self) -> int:
        """Payload bytes of all messages that are kept now; the Shell asks, and enforces a limit."""
        return 0

    def held(self) -> int:
        """How many received messages wait for their causal past."""
        return 0

    def state_ints(self) -> int:
        """Integers of ordering state kept now, by the paper's own rule; the Shell asks."""
        return 0


class ContractGap(TypeError):
    """A node got an input that its algorithm has no handler for."""

    def __init__(self, node: Node[Any, Any], what: str) -> None:
        super().__init__(f"{type(node).__module__}.{type(node).__name__} cannot take {what}")
