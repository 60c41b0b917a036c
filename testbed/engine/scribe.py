"""What a shell writes down: rows of the trace with every size measured, or the bare events.

A shell tells its scribe what happened; no algorithm measures itself. `Rows` counts control
information, state and held messages and packs one row per event; `Glance` passes on who sent,
received and delivered what, for an audit that needs no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.clocks import Clock
from testbed.core.model import Message, Nanos, NodeId, Role
from testbed.core.node import Arrival, Node
from testbed.engine.batch import Batch
from testbed.trace.recorder import Sink, Witness
from testbed.trace.schema import ABSENT, REASONS, ROLES, Event

LOSS, LEFT_CELL = REASONS.index("loss"), REASONS.index("left_cell")
WAIVED = REASONS.index("disconnected")
"""A message dropped for this reason is no longer owed to the host."""
_NO_CONTROL = ControlSize(ABSENT, ABSENT, ABSENT, ABSENT)
_NO_MESSAGE = Message(ABSENT, ABSENT, b"")
_SEND, _RECEIVE, _DELIVER, _DISCARD = Event.SEND, Event.RECEIVE, Event.DELIVER, Event.DISCARD
_DROP, _DUPLICATE = Event.DROP, Event.DUPLICATE


def _nothing() -> int:
    return 0


class Scribe(Protocol):
    """What a shell tells of one node; the times are engine time."""

    def sent(
        self,
        message: Message,
        dests: tuple[NodeId, ...],
        batches: list[Batch],
        now: Nanos,
        cpu_ns: int,
    ) -> None:
        """The application sent; `batches` is all that the algorithm made of it at once."""

    def received(
        self, arrival: Arrival[Any, Any], frame_bytes: int, now: Nanos, cpu_ns: int, changed: bool
    ) -> None:
        """A copy arrived and the algorithm has seen it; `changed`: it did something."""

    def delivered(self, message: Message, now: Nanos) -> None: ...
    def discarded(self, message: Message, reason: int, host: NodeId | None, now: Nanos) -> None: ...
    def refused(
        self, arrival: Arrival[Any, Any], frame_bytes: int, reason: int, now: Nanos
    ) -> None:
        """A copy came to its end, but the node could not take it."""

    def fired(self) -> None:
        """Something other than a message made the algorithm do something."""

    def fated(self, batch: Batch, position: int, arrivals: int, reason: int, now: Nanos) -> None:
        """The network lost a copy, for this reason, or made it two."""

    def forwarded(self, event: Event, batch: Batch, position: int, now: Nanos) -> None:
        """A station passed a copy on, somebody sent one again, or something to mend a loss."""

    def moved(self, event: Event, peer: NodeId, now: Nanos) -> None:
        """A host changed its cell, a station took one over, or somebody is suspected."""

    def crashed(self, now: Nanos) -> None:
        """The node has stopped for good and has forgotten everything."""

    def link(self, event: Event, now: Nanos, peer: int, frame_bytes: int, reason: int) -> None:
        """Bytes that belong to no message: of the reliable link, or malformed."""


def scribe_for(
    sink: Sink | Witness | None,
    me: NodeId,
    role: Role,
    node: Node[Any, Any],
    algorithm: Algorithm,
    clock: Clock | None = None,
) -> Scribe | None:
    """Who writes into this sink; nobody into none. No `clock`: the node's is the engine's."""
    if sink is None:
        return None
    if isinstance(sink, Witness):
        return Glance(sink, me, clock)
    return Rows(sink, me, role, node, algorithm, clock)


class Glance:
    """The bare events."""

    def __init__(self, witness: Witness, me: NodeId, clock: Clock | None) -> None:
        self._witness = witness
        self._me = me
        self._clock = clock

    def sent(
        self,
        message: Message,
        dests: tuple[NodeId, ...],
        batches: list[Batch],
        now: Nanos,
        cpu_ns: int,
    ) -> None:
        self._witness.send(self._me, (message.origin, message.number), dests)
        if message.deadline is not None:
            self._witness.expire((message.origin, message.number), message.deadline)

    def received(
        self, arrival: Arrival[Any, Any], frame_bytes: int, now: Nanos, cpu_ns: int, changed: bool
    ) -> None:
        message = arrival.message
        if message is not None:
            self._witness.receive(self._me, (message.origin, message.number), now)

    def delivered(self, message: Message, now: Nanos) -> None:
        shown = now if self._clock is None else self._clock.show(now)
        self._witness.deliver(self._me, (message.origin, message.number), now, shown)

    def discarded(self, message: Message, reason: int, host: NodeId | None, now: Nanos) -> None:
        if host is None:
            self._witness.give_up(self._me, (message.origin, message.number))
        elif reason == WAIVED:
            self._witness.waive(host, (message.origin, message.number))

    def refused(
        self, arrival: Arrival[Any, Any], frame_bytes: int, reason: int, now: Nanos
    ) -> None:
        message = arrival.message
        if message is not None:
            self._witness.give_up(self._me, (message.origin, message.number))

    def forwarded(self, event: Event, batch: Batch, position: int, now: Nanos) -> None:
        message = batch.effect.message
        if message is not None and event is Event.FORWARD:
            to = batch.effect.dests[position]
            self._witness.forward(self._me, (message.origin, message.number), to, now)

    def fired(self) -> None: ...
    def fated(self, batch: Batch, position: int, arrivals: int, reason: int, now: Nanos) -> None:
        message = batch.effect.message
        if not arrivals and message is not None:
            to = batch.effect.dests[position]
            self._witness.give_up(to, (message.origin, message.number))

    def crashed(self, now: Nanos) -> None:
        self._witness.crash(self._me)

    def moved(self, event: Event, peer: NodeId, now: Nanos) -> None:
        self._witness.moved(self._me, event, peer, now)

    def link(self, event: Event, now: Nanos, peer: int, frame_bytes: int, reason: int) -> None: ...


class Rows:
    """One row per event, in the order of schema.PACKED."""

    def __init__(
        self,
        sink: Sink,
        me: NodeId,
        role: Role,
        node: Node[Any, Any],
        algorithm: Algorithm,
        clock: Clock | None,
    ) -> None:
        self._sink = sink
        self._row = sink.row
        self._me = me
        self._role = ROLES.index(role.value)
        self._node = node
        self._size = algorithm.size
        self._kinds = {packet: code for code, packet in enumerate(algorithm.packets)}
        self._seq = 0
        self._state_ints = node.state_ints()
        self._clock = clock
        self._held = node.held
        self._buffered: Callable[[], int] | None = None
        if type(node).buffered_bytes is not Node.buffered_bytes:
            self._buffered = node.buffered_bytes

    def sent(
        self,
        message: Message,
        dests: tuple[NodeId, ...],
        batches: list[Batch],
        now: Nanos,
        cpu_ns: int,
    ) -> None:
        """One row per message: the control information of all copies that leave in this turn."""
        self._state_ints = self._node.state_ints()
        mine = [batch for batch in batches if batch.effect.message is message]
        copies = sum(len(batch.frames) for batch in mine)
        carried = sum(len(frame) for batch in mine for frame in batch.frames)
        self._sink.destinations(dests)
        self._write(
            _SEND, now, message, ABSENT, self._size_of_all(mine),
            carried - copies * len(message.payload), copies, cpu_ns,
        )  # fmt: skip

    def received(
        self, arrival: Arrival[Any, Any], frame_bytes: int, now: Nanos, cpu_ns: int, changed: bool
    ) -> None:
        if changed:
            self._state_ints = self._node.state_ints()
        message = arrival.message or _NO_MESSAGE
        size = self._size(arrival.packet, arrival.own)
        overhead = frame_bytes - len(message.payload)
        kind = self._kinds[type(arrival.packet)]
        self._write(
            _RECEIVE, now, message, arrival.source, size, overhead, ABSENT, cpu_ns, packet=kind
        )

    def delivered(self, message: Message, now: Nanos) -> None:
        self._write(_DELIVER, now, message)

    def discarded(self, message: Message, reason: int, host: NodeId | None, now: Nanos) -> None:
        self._write(_DISCARD, now, message, ABSENT if host is None else host, reason=reason)

    def refused(
        self, arrival: Arrival[Any, Any], frame_bytes: int, reason: int, now: Nanos
    ) -> None:
        message = arrival.message or _NO_MESSAGE
        self._write(
            _DROP, now, message, arrival.source, self._size(arrival.packet, arrival.own),
            frame_bytes - len(message.payload),
            reason=reason, packet=self._kinds[type(arrival.packet)],
        )  # fmt: skip

    def crashed(self, now: Nanos) -> None:
        self._state_ints = 0
        self._held = _nothing
        if self._buffered is not None:
            self._buffered = _nothing
        self._write(Event.CRASH, now, _NO_MESSAGE)

    def fired(self) -> None:
        self._state_ints = self._node.state_ints()

    def fated(self, batch: Batch, position: int, arrivals: int, reason: int, now: Nanos) -> None:
        if arrivals:
            self._copy(_DUPLICATE, batch, position, now)
        else:
            self._copy(_DROP, batch, position, now, reason)

    def forwarded(self, event: Event, batch: Batch, position: int, now: Nanos) -> None:
        self._copy(event, batch, position, now)

    def moved(self, event: Event, peer: NodeId, now: Nanos) -> None:
        self._write(event, now, _NO_MESSAGE, peer)

    def _copy(
        self, event: Event, batch: Batch, position: int, now: Nanos, reason: int = ABSENT
    ) -> None:
        """A row about one copy that is on its way out."""
        effect = batch.effect
        message = effect.message or _NO_MESSAGE
        part = None if batch.parts is None else batch.parts[position]
        self._write(
            event, now, message, effect.dests[position], self._size(effect.packet, part),
            len(batch.frames[position]) - len(message.payload),
            reason=reason, packet=self._kinds[type(effect.packet)],
        )  # fmt: skip

    def link(self, event: Event, now: Nanos, peer: int, frame_bytes: int, reason: int) -> None:
        self._write(event, now, _NO_MESSAGE, peer, overhead=frame_bytes, reason=reason)

    def _size_of_all(self, batches: list[Batch]) -> ControlSize:
        """Copies that are equal are measured once."""
        total = [0, 0, 0, 0]
        for effect, frames, parts in batches:
            times = len(frames) if parts is None else 1
            for part in (None,) if parts is None else parts:
                size = self._size(effect.packet, part)
                total = [t + times * s for t, s in zip(total, size, strict=True)]
        return ControlSize(*total)

    def _write(
        self,
        event: Event,
        now: Nanos,
        message: Message,
        peer: int = ABSENT,
        size: ControlSize = _NO_CONTROL,
        overhead: int = ABSENT,
        copies: int = ABSENT,
        cpu_ns: int = 0,
        reason: int = ABSENT,
        packet: int = ABSENT,
    ) -> None:
        ints, units, entries, empty = size
        deadline = message.deadline
        clock, buffered = self._clock, self._buffered
        self._row(
            self._me, self._role, self._seq, now, event, message.origin, message.number, peer,
            ints, overhead, units, entries, empty, copies, len(message.payload),
            self._state_ints, self._held(), ABSENT if deadline is None else deadline,
            cpu_ns, reason, packet, now if clock is None else clock.show(now),
            ABSENT if buffered is None else buffered(),
        )  # fmt: skip
        self._seq += 1
