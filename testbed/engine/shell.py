"""The sole interpreter of effects, one per node, in both engines.

A shell hands its node one input, takes the effects, and does three things with them: it measures
(sizes, waits, buffers, equally for all algorithms), it records (one row per event), and it hands
frames and timers to the port. It knows no algorithm by name and no engine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.errors import BadInput, ContractViolation, MalformedFrame
from testbed.core.model import Message, Nanos, NodeId, Role
from testbed.core.node import (
    Arrival,
    CancelTimer,
    Deliver,
    Discard,
    Effect,
    Node,
    SetTimer,
    Timer,
    Transmit,
    Turn,
)
from testbed.core.wire import Codec
from testbed.engine.port import Port
from testbed.engine.reliable import TIMER_PREFIX, ReliableLink
from testbed.trace.recorder import Sink
from testbed.trace.schema import ABSENT, REASONS, ROLES, Event

_LOSS = REASONS.index("loss")
_MALFORMED = REASONS.index("malformed")
_OVERSIZED = REASONS.index("oversized")
_NO_CONTROL = ControlSize(ABSENT, ABSENT, ABSENT, ABSENT)
_NO_MESSAGE = Message(ABSENT, ABSENT, b"")


class Batch(NamedTuple):
    """All copies of one packet, encoded and measured, on their way out."""

    message: Message | None
    dests: tuple[NodeId, ...]
    frames: list[bytes]
    sizes: list[ControlSize]
    """One per copy; empty when nothing is recorded."""


class Shell:
    """Drives one node: `start`, `submit`, `arrive`, `fire` are its whole life."""

    def __init__(
        self,
        me: NodeId,
        role: Role,
        node: Node[Any, Any],
        *,
        algorithm: Algorithm,
        n: int,
        codec: Codec,
        port: Port,
        sink: Sink | None,
        link: ReliableLink | None = None,
    ) -> None:
        self.me = me
        self.node = node
        self.delivered = 0
        self.malformed = 0
        self._role = ROLES.index(role.value)
        self._algorithm = algorithm
        self._n = n
        self._codec = codec
        self._port = port
        self._sink = sink
        self._link = link
        self._submitted = 0
        self._seq = 0
        self._state_ints = node.state_ints()

    # --- inputs -------------------------------------------------------------------------------

    def start(self, now: Nanos) -> None:
        turn = Turn(self._port.clock(self.me, now))
        self.node.on_started(turn)
        self._interpret_all(turn.effects, now)

    def submit(
        self, now: Nanos, dests: tuple[NodeId, ...], payload: bytes, deadline: Nanos | None = None
    ) -> Message:
        """The application sends: the shell issues the number, the algorithm does the rest."""
        refusal = self._algorithm.refusal(self.me, dests, self._n)
        if refusal is not None:
            raise BadInput(refusal)
        self._submitted += 1
        message = Message(self.me, self._submitted, payload, deadline)
        turn = Turn(self._port.clock(self.me, now))
        started = self._port.cpu_ns()
        self.node.on_submitted(message, dests, turn)
        cpu_ns = self._port.cpu_ns() - started
        if self._sink is not None:
            self._state_ints = self.node.state_ints()
        batches = [self._encode(e) if type(e) is Transmit else None for e in turn.effects]
        if self._sink is not None:
            self._record_send(message, dests, batches, now, cpu_ns)
        for effect, batch in zip(turn.effects, batches, strict=True):
            if batch is not None:
                self._transmit(batch, now)
            else:
                self._interpret(effect, now)
        return message

    def arrive(self, now: Nanos, frame: bytes) -> None:
        """Bytes came in: unwrap, decode, step; what is no packet is counted and refused."""
        if self._link is not None:
            inner = self._unwrap(now, frame)
            if inner is None:
                return
            frame = inner
        try:
            arrival = self._codec.decode(frame)
        except MalformedFrame:
            self._refuse(now, frame)
            return
        turn = Turn(self._port.clock(self.me, now))
        if self._sink is None:
            self.node.on_received(arrival, turn)
        else:
            started = self._port.cpu_ns()
            self.node.on_received(arrival, turn)
            cpu_ns = self._port.cpu_ns() - started
            if turn.effects:
                self._state_ints = self.node.state_ints()
            self._record_receive(arrival, len(frame), now, cpu_ns)
        if turn.effects:
            self._interpret_all(turn.effects, now)

    def fire(self, now: Nanos, timer: Timer) -> None:
        """A timer that was armed has come due."""
        if timer.startswith(TIMER_PREFIX):
            self._retransmit(now, timer)
            return
        turn = Turn(self._port.clock(self.me, now))
        self.node.on_timer(timer, turn)
        if self._sink is not None and turn.effects:
            self._state_ints = self.node.state_ints()
        self._interpret_all(turn.effects, now)

    def held(self) -> int:
        return self.node.held()

    def unacknowledged(self) -> int:
        """Copies that the reliable link still has to see through."""
        return 0 if self._link is None else self._link.unacknowledged

    # --- effects ------------------------------------------------------------------------------

    def _interpret_all(self, effects: list[Effect], now: Nanos) -> None:
        for effect in effects:
            if type(effect) is Deliver:
                self._deliver(effect.message, now)
            else:
                self._interpret(effect, now)

    def _interpret(self, effect: Effect, now: Nanos) -> None:
        match effect:
            case Transmit():
                self._transmit(self._encode(effect), now)
            case Deliver(message):
                self._deliver(message, now)
            case Discard():
                self._discard(effect, now)
            case SetTimer(timer, at):
                self._port.arm(self.me, timer, at)
            case CancelTimer(timer):
                self._port.disarm(self.me, timer)

    def _deliver(self, message: Message, now: Nanos) -> None:
        self.delivered += 1
        if self._sink is not None:
            self._record(Event.DELIVER, now, message)

    def _discard(self, effect: Discard, now: Nanos) -> None:
        if effect.reason not in REASONS:
            raise ContractViolation(
                self._algorithm.name, self.me, f"unknown reason '{effect.reason}' for a discard"
            )
        if self._sink is not None:
            self._record(Event.DISCARD, now, effect.message, reason=REASONS.index(effect.reason))

    def _encode(self, effect: Transmit) -> Batch:
        """What all copies share is encoded, and measured, once; then each copy's own part."""
        codec, own = self._codec, effect.own
        shared = codec.shared_part(self.me, effect.message, effect.packet)
        whole = shared + codec.own_part(None)
        if len(whole) > codec.bytes_max:
            rule = f"packet of {len(whole)} bytes, at most {codec.bytes_max} allowed"
            raise ContractViolation(self._algorithm.name, self.me, rule)
        parts = [own.get(to) for to in effect.dests] if own else None
        if parts is None:
            frames = [whole] * len(effect.dests)
        else:
            frames = [shared + codec.own_part(part) for part in parts]
        sizes: list[ControlSize] = []
        if self._sink is not None:
            size = self._algorithm.size
            if parts is None:
                sizes = [size(effect.packet, None)] * len(frames)
            else:
                sizes = [size(effect.packet, part) for part in parts]
        return Batch(effect.message, effect.dests, frames, sizes)

    def _transmit(self, batch: Batch, now: Nanos) -> None:
        transmit, me = self._port.transmit, self.me
        for position, to in enumerate(batch.dests):
            frame = batch.frames[position]
            if self._link is not None:
                frame, timer = self._link.wrap(to, frame)
                self._port.arm(me, timer, now + self._link.wait())
            arrivals = transmit(me, to, frame, now)
            if len(arrivals) != 1 and self._sink is not None:
                self._record_fate(batch, position, len(arrivals), now)

    # --- the reliable link --------------------------------------------------------------------

    def _unwrap(self, now: Nanos, wrapped: bytes) -> bytes | None:
        assert self._link is not None
        try:
            peer, frame, acknowledgement, timer = self._link.unwrap(wrapped)
        except MalformedFrame:
            self._refuse(now, wrapped)
            return None
        if timer is not None:
            self._port.disarm(self.me, timer)
        if acknowledgement is not None and 0 <= peer < self._n:
            self._port.transmit(self.me, peer, acknowledgement, now)
            if self._sink is not None:
                self._record(
                    Event.ACKNOWLEDGE, now, _NO_MESSAGE, peer=peer, overhead=len(acknowledgement)
                )
        return frame

    def _retransmit(self, now: Nanos, timer: Timer) -> None:
        assert self._link is not None
        due = self._link.retry(timer)
        if due is None:
            return
        to, wrapped, wait = due
        self._port.arm(self.me, timer, now + wait)
        arrivals = self._port.transmit(self.me, to, wrapped, now)
        if self._sink is not None:
            self._record(Event.RETRANSMIT, now, _NO_MESSAGE, peer=to, overhead=len(wrapped))
            if not arrivals:
                self._record(
                    Event.DROP, now, _NO_MESSAGE, peer=to, overhead=len(wrapped), reason=_LOSS
                )

    def _refuse(self, now: Nanos, frame: bytes) -> None:
        self.malformed += 1
        if self._sink is not None:
            reason = _OVERSIZED if len(frame) > self._codec.bytes_max else _MALFORMED
            self._record(Event.MALFORMED, now, _NO_MESSAGE, overhead=len(frame), reason=reason)

    # --- rows ---------------------------------------------------------------------------------

    def _record_send(
        self,
        message: Message,
        dests: tuple[NodeId, ...],
        batches: list[Batch | None],
        now: Nanos,
        cpu_ns: int,
    ) -> None:
        """One row per message: the control information of all copies that leave in this turn."""
        mine = [batch for batch in batches if batch is not None and batch.message is message]
        sizes = [size for batch in mine for size in batch.sizes]
        total = ControlSize(*map(sum, zip(*sizes, strict=True))) if sizes else ControlSize(0)
        carried = sum(len(frame) for batch in mine for frame in batch.frames)
        overhead = carried - len(sizes) * len(message.payload)
        self._record(
            Event.SEND, now, message, size=total, overhead=overhead, copies=len(sizes),
            cpu_ns=cpu_ns, dests=dests,
        )  # fmt: skip

    def _record_receive(
        self, arrival: Arrival[Any, Any], frame_bytes: int, now: Nanos, cpu_ns: int
    ) -> None:
        message = arrival.message or _NO_MESSAGE
        size = self._algorithm.size(arrival.packet, arrival.own)
        overhead = frame_bytes - len(message.payload)
        self._record(Event.RECEIVE, now, message, arrival.source, size, overhead, ABSENT, cpu_ns)

    def _record_fate(self, batch: Batch, position: int, arrivals: int, now: Nanos) -> None:
        message = batch.message or _NO_MESSAGE
        overhead = len(batch.frames[position]) - len(message.payload)
        event, reason = (Event.DUPLICATE, ABSENT) if arrivals else (Event.DROP, _LOSS)
        self._record(
            event, now, message, batch.dests[position], batch.sizes[position], overhead,
            reason=reason,
        )  # fmt: skip

    def _record(
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
        dests: tuple[NodeId, ...] | None = None,
    ) -> None:
        sink = self._sink
        assert sink is not None
        if dests is not None:
            sink.destinations(dests)
        sink.row(
            self.me, self._role, self._seq, now, event, message.origin, message.number, peer,
            size[0], overhead, size[1], size[2], size[3], copies,
            len(message.payload), self._state_ints, self.node.held(),
            ABSENT if message.deadline is None else message.deadline, cpu_ns, reason,
        )  # fmt: skip
        self._seq += 1
