"""The sole interpreter of effects, one per node, in both engines.

A shell hands its node one input, takes the effects, tells its scribe what happened (sizes, waits
and buffers are measured there, equally for all algorithms), and hands frames and timers to the
port. It knows no algorithm by name and no engine.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from testbed.core.algorithm import Algorithm
from testbed.core.clocks import Clock
from testbed.core.errors import BadInput, ContractViolation, MalformedFrame
from testbed.core.model import Message, Nanos, NodeId, Role
from testbed.core.node import (
    Arrival,
    BeginHandoff,
    CancelTimer,
    Deliver,
    Discard,
    Effect,
    EndHandoff,
    Node,
    SetTimer,
    Timer,
    Transmit,
    Turn,
)
from testbed.core.wire import Codec
from testbed.engine.batch import Batch, encode
from testbed.engine.detector import BEAT_KIND, BEAT_TIMER, Detector
from testbed.engine.port import Port
from testbed.engine.reliable import HEADER_BYTES, TIMER_PREFIX, ReliableLink
from testbed.engine.scribe import LEFT_CELL, LOSS, scribe_for
from testbed.trace.recorder import Sink, Witness
from testbed.trace.schema import ABSENT, REASONS, Event

_MALFORMED = REASONS.index("malformed")
_OVERSIZED = REASONS.index("oversized")
_CRASHED = REASONS.index("crashed")
_NO_ROOM = REASONS.index("no_room")


class Shell:
    """Drives one node: `start`, `submit`, `arrive`, `fire` are its whole life, `crash` its end."""

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
        sink: Sink | Witness | None,
        link: ReliableLink | None = None,
        stations: int = 0,
        clock: Clock | None = None,
        buffer_bytes: int | None = None,
        detector: Detector | None = None,
    ) -> None:
        """Nodes from `stations` on are mobile hosts, if there are stations at all.

        `clock` is the node's own; None: it shows the engine's time.
        """
        self.me = me
        self.role = role
        self.node = node
        self.delivered = 0
        self.malformed = 0
        self._algorithm = algorithm
        self._n = n
        self._codec = codec
        self._port = port
        self._clock = clock
        self._buffer_bytes = buffer_bytes
        self._detector = detector
        self.is_down = False
        self._scribe = scribe_for(sink, me, role, node, algorithm, clock)
        self._link = link
        self._stations = stations
        self._first_peer = stations if algorithm.is_on_hosts_alone else 0
        self._is_station = role is Role.STATION
        self._cell: NodeId | None = None
        self._is_disconnected = False
        self._submitted = 0

    # --- inputs -------------------------------------------------------------------------------

    def start(self, now: Nanos) -> None:
        turn = Turn(self._local(now))
        self.node.on_started(turn)
        for effect in turn.effects:
            self._interpret(effect, now)
        if self._detector is not None:
            self._port.arm(self.me, BEAT_TIMER, self._detector.start(now))

    def submit(
        self, now: Nanos, dests: tuple[NodeId, ...], payload: bytes, lifetime: Nanos | None = None
    ) -> Message:
        """The application sends: the shell issues the number, the algorithm does the rest.

        The deadline is the sender's own clock now, and `lifetime` from then on.
        """
        refusal = self._algorithm.refusal(self.me, dests, self._n)
        if refusal is not None:
            raise BadInput(refusal)
        self._submitted += 1
        turn = Turn(self._local(now))
        deadline = None if lifetime is None else turn.now + lifetime
        message = Message(self.me, self._submitted, payload, deadline)
        started = self._port.cpu_ns()
        self.node.on_submitted(message, dests, turn)
        cpu_ns = self._port.cpu_ns() - started
        batches = [self._encode(e) for e in turn.effects if type(e) is Transmit]
        if self._scribe is not None:
            self._scribe.sent(message, dests, batches, now, cpu_ns)
        ready = iter(batches)
        for effect in turn.effects:
            if type(effect) is Transmit:
                self._transmit(next(ready), now)
            else:
                self._interpret(effect, now)
        return message

    def arrive(self, now: Nanos, frame: bytes) -> None:
        """Bytes came in: unwrap, decode, step; what is no packet is counted and refused."""
        if self.is_down:
            self._arrive_in_vain(now, frame)
            return
        if self._detector is not None and frame[:1] == BEAT_KIND:
            self._hear(now, frame)
            return
        if self._link is not None and self._link.wrapped(frame):
            inner = self._unwrap(now, frame)
            if inner is None:
                return
            frame = inner
        try:
            arrival = self._codec.decode(frame)
        except MalformedFrame:
            self._refuse(now, frame)
            return
        if self._buffer_bytes is not None and not self._has_room(arrival, len(frame), now):
            return
        port, scribe, clock = self._port, self._scribe, self._clock
        turn = Turn(now if clock is None else clock.show(now))
        effects = turn.effects
        if scribe is None:
            self.node.on_received(arrival, turn)
        else:
            started = port.cpu_ns()
            self.node.on_received(arrival, turn)
            cpu_ns = port.cpu_ns() - started
            scribe.received(arrival, len(frame), now, cpu_ns, bool(effects))
        for effect in effects:
            if type(effect) is Deliver:  # nearly all of them
                self.delivered += 1
                if scribe is not None:
                    scribe.delivered(effect.message, now)
            else:
                self._interpret(effect, now)

    def _has_room(self, arrival: Arrival[Any, Any], frame_bytes: int, now: Nanos) -> bool:
        """Whether the buffer takes one more message; a copy that it does not take is dropped."""
        assert self._buffer_bytes is not None
        message = arrival.message
        if message is None:
            return True
        if self.node.buffered_bytes() + len(message.payload) <= self._buffer_bytes:
            return True
        if self._scribe is not None:
            self._scribe.refused(arrival, frame_bytes, _NO_ROOM, now)
        return False

    def crash(self, now: Nanos) -> None:
        """The node stops for good; the engine has forgotten its timers."""
        self.is_down = True
        if self._scribe is not None:
            self._scribe.crashed(now)

    def _arrive_in_vain(self, now: Nanos, frame: bytes) -> None:
        """A copy reaches a node that is no more: the trace says which, and that is all."""
        if self._scribe is None:
            return
        if self._link is not None and self._link.wrapped(frame):
            frame = self._link.inside(frame) or b""
        with suppress(MalformedFrame):
            arrival = self._codec.decode(frame)
            self._scribe.refused(arrival, len(frame), _CRASHED, now)

    def abandon(self, peer: NodeId) -> None:
        """The connection to a node that has crashed is broken: nothing is sent again."""
        if self._link is not None and not self.is_down:
            for timer in self._link.abandon(peer):
                self._port.disarm(self.me, timer)

    def fire(self, now: Nanos, timer: Timer) -> None:
        """A timer that was armed has come due."""
        if timer.startswith(TIMER_PREFIX):
            self._retransmit(now, timer)
            return
        if timer == BEAT_TIMER:
            self._beat(now)
            return
        turn = Turn(self._local(now))
        self.node.on_timer(timer, turn)
        if self._scribe is not None and turn.effects:
            self._scribe.fired()
        for effect in turn.effects:
            self._interpret(effect, now)

    def place(self, station: NodeId) -> None:
        """A host's cell at the start, which everybody knows: no event."""
        self._cell = station

    def enter(self, now: Nanos, station: NodeId) -> None:
        """A host hears the beacon of a station."""
        event = Event.CONNECT if self._is_disconnected else Event.ENTER
        self._cell, self._is_disconnected = station, False
        turn = Turn(self._local(now))
        self.node.on_entered(station, turn)
        self._settle_move(turn, event, station, now)

    def leave(self, now: Nanos, *, disconnects: bool) -> None:
        """A host is out of reach from now on; if it `disconnects`, it has said so before."""
        assert self._cell is not None
        station, self._cell = self._cell, None
        self._is_disconnected = disconnects
        turn = Turn(self._local(now))
        self.node.on_left(turn)
        self._settle_move(turn, Event.DISCONNECT if disconnects else Event.LEAVE, station, now)

    def announce_disconnection(self, now: Nanos) -> None:
        """A host is about to disconnect and may still tell its station."""
        turn = Turn(self._local(now))
        self.node.on_disconnecting(turn)
        self._settle_move(turn, None, ABSENT, now)

    def _settle_move(self, turn: Turn, event: Event | None, peer: NodeId, now: Nanos) -> None:
        if self._scribe is not None:
            if turn.effects:
                self._scribe.fired()
            if event is not None:
                self._scribe.moved(event, peer, now)
        for effect in turn.effects:
            self._interpret(effect, now)

    def miss(self, now: Nanos, source: NodeId, frame: bytes) -> None:
        """A frame came through the air too late: the host it was for has left that cell."""
        if self._scribe is not None:
            self._scribe.link(Event.DROP, now, source, len(frame), LEFT_CELL)

    def held(self) -> int:
        return 0 if self.is_down else self.node.held()

    def _local(self, now: Nanos) -> Nanos:
        """What the node's own clock shows."""
        return now if self._clock is None else self._clock.show(now)

    def unacknowledged(self) -> int:
        """Copies that the reliable link still has to see through."""
        return 0 if self._link is None or self.is_down else self._link.unacknowledged

    # --- effects ------------------------------------------------------------------------------

    def _interpret(self, effect: Effect, now: Nanos) -> None:
        match effect:
            case Transmit():
                self._transmit(self._encode(effect), now)
            case Deliver():
                self.delivered += 1
                if self._scribe is not None:
                    self._scribe.delivered(effect.message, now)
            case Discard():
                self._discard(effect, now)
            case SetTimer(timer, at):
                due = at if self._clock is None else self._clock.when(at)
                self._port.arm(self.me, timer, max(due, now))
            case CancelTimer(timer):
                self._port.disarm(self.me, timer)
            case BeginHandoff(host):
                if self._scribe is not None:
                    self._scribe.moved(Event.HANDOFF_BEGIN, host, now)
            case EndHandoff(host):
                if self._scribe is not None:
                    self._scribe.moved(Event.HANDOFF_END, host, now)

    def _discard(self, effect: Discard, now: Nanos) -> None:
        if effect.reason not in REASONS:
            raise ContractViolation(
                self._algorithm.name, self.me, f"unknown reason '{effect.reason}' for a discard"
            )
        if self._scribe is not None:
            reason = REASONS.index(effect.reason)
            self._scribe.discarded(effect.message, reason, effect.host, now)

    def _encode(self, effect: Transmit) -> Batch:
        return encode(self.me, effect, self._codec, self._algorithm.name)

    def _transmit(self, batch: Batch, now: Nanos) -> None:
        transmit, me, link = self._port.transmit, self.me, self._link
        passes_on = self._passes_on(batch)
        for position, to in enumerate(batch.effect.dests):
            frame = batch.frames[position]
            if link is not None and link.covers(to):
                frame, timer = link.wrap(to, frame)
                if timer is not None:
                    self._port.arm(me, timer, now + link.wait())
            if passes_on is not None and self._scribe is not None:
                self._scribe.forwarded(passes_on, batch, position, now)
            arrivals = transmit(me, to, frame, now)
            if len(arrivals) != 1 and self._scribe is not None:
                reason = LEFT_CELL if self._is_air(to) else LOSS
                self._scribe.fated(batch, position, len(arrivals), reason, now)

    def _passes_on(self, batch: Batch) -> Event | None:
        """What else the trace says of these copies: passed on, sent again, or to mend a loss."""
        if self._scribe is None:
            return None
        if batch.effect.again:
            return Event.RETRANSMIT
        if batch.effect.message is not None:
            return Event.FORWARD if self._is_station else None
        return Event.REPAIR if type(batch.effect.packet) in self._algorithm.repair else None

    def _is_air(self, to: NodeId) -> bool:
        return self._stations > 0 and max(self.me, to) >= self._stations

    # --- the failure detector -----------------------------------------------------------------

    def _beat(self, now: Nanos) -> None:
        """A heartbeat to everybody, and a look at who has been silent for too long."""
        detector = self._detector
        assert detector is not None
        if (again := detector.next_beat(now)) is not None:
            self._port.arm(self.me, BEAT_TIMER, again)
        for peer in detector.peers:
            self._port.transmit(self.me, peer, detector.frame, now)
        for peer in detector.suspect(now):
            turn = Turn(self._local(now))
            self.node.on_suspected(peer, turn)
            self._settle_move(turn, Event.SUSPECT, peer, now)

    def _hear(self, now: Nanos, frame: bytes) -> None:
        assert self._detector is not None
        peer = self._detector.sender(frame)
        if peer is None:
            self._refuse(now, frame)
        elif self._detector.hear(peer, now):
            turn = Turn(self._local(now))
            self.node.on_trusted(peer, turn)
            self._settle_move(turn, Event.TRUST, peer, now)

    # --- the reliable link --------------------------------------------------------------------

    def _unwrap(self, now: Nanos, wrapped: bytes) -> bytes | None:
        assert self._link is not None
        try:
            # Decoded before it is acknowledged: junk must not use up the number of a true frame.
            if (inside := self._link.inside(wrapped)) is not None:
                self._codec.decode(inside)
            peer, frame, acknowledgement, timer = self._link.unwrap(wrapped)
        except MalformedFrame:
            self._refuse(now, wrapped)
            return None
        if timer is not None:
            self._port.disarm(self.me, timer)
        if acknowledgement is not None and self._first_peer <= peer < self._n:
            self._port.transmit(self.me, peer, acknowledgement, now)
            if self._scribe is not None:
                cost = HEADER_BYTES + len(acknowledgement)
                self._scribe.link(Event.ACKNOWLEDGE, now, peer, cost, ABSENT)
        return frame

    def _retransmit(self, now: Nanos, timer: Timer) -> None:
        assert self._link is not None
        due = self._link.retry(timer)
        if due is None:
            return
        to, wrapped, wait = due
        self._port.arm(self.me, timer, now + wait)
        arrivals = self._port.transmit(self.me, to, wrapped, now)
        if self._scribe is not None:
            self._scribe.link(Event.RETRANSMIT, now, to, len(wrapped), ABSENT)
            if not arrivals:
                reason = LEFT_CELL if self._is_air(to) else LOSS
                self._scribe.link(Event.DROP, now, to, len(wrapped), reason)

    def _refuse(self, now: Nanos, frame: bytes) -> None:
        self.malformed += 1
        if self._scribe is not None:
            reason = _OVERSIZED if len(frame) > self._codec.bytes_max else _MALFORMED
            self._scribe.link(Event.MALFORMED, now, ABSENT, len(frame), reason)
