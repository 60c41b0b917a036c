"""A stage for deadline algorithms: nodes stepped by hand, clocks that differ, copies get lost.

No shell, no engine, no oracle: the test says what happens next, and the stage keeps its own truth
of causal order, a set of messages for each message. Bytes are real. Times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from testbed.core.algorithm import Algorithm
from testbed.core.model import Message, MessageId, Nanos, NodeId, Role
from testbed.core.node import (
    CancelTimer,
    Deliver,
    Discard,
    Effect,
    Node,
    Packet,
    SetTimer,
    Timer,
    Transmit,
    Turn,
    View,
)  # fmt: skip
from testbed.core.wire import Codec

MS: Nanos = 1_000_000
FIRES_MAX = 20_000


class Flight(NamedTuple):
    """One copy in the air."""

    source: NodeId
    to: NodeId
    packet: Packet
    message: MessageId | None
    frame: bytes


class Delivery(NamedTuple):
    message: MessageId
    shown: Nanos
    """By the receiver's own clock."""


class Stage:
    """All processes of one broadcast group."""

    def __init__(
        self,
        algorithm: Algorithm,
        n: int,
        *,
        params: Any = None,
        offsets_ms: Sequence[float] = (),
        drifts: Sequence[float] = (),
        room: int | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.n = n
        self.now: Nanos = 0
        self.codec = Codec(algorithm, n)
        processes = tuple(range(n))
        self.nodes: list[Node[Any, Any]] = [
            algorithm.roles[Role.PROCESS](View(me, processes, buffer_bytes=room, params=params))
            for me in processes
        ]
        self.offsets = [int(ms * MS) for ms in offsets_ms] or [0] * n
        self.drifts = list(drifts) or [0.0] * n
        self.timers: dict[tuple[NodeId, Timer], Nanos] = {}
        self.flying: list[Flight] = []
        self.sent: dict[MessageId, Message] = {}
        self.past: dict[MessageId, frozenset[MessageId]] = {}
        self.delivered: list[list[Delivery]] = [[] for _ in processes]
        self.discarded: list[list[tuple[MessageId, str]]] = [[] for _ in processes]
        self.wasted: list[tuple[MessageId, NodeId]] = []
        """Overtaken while it waited: it should have been taken along."""
        self.crashed: set[NodeId] = set()
        self.packets_sent: list[tuple[NodeId, NodeId, Packet]] = []
        self.peak_bytes = 0
        self._known: list[frozenset[MessageId]] = [frozenset() for _ in processes]
        self._numbers = [0] * n
        self._arriving: MessageId | None = None
        self._arrivals: set[tuple[MessageId, NodeId]] = set()

    # --- what a test does ---------------------------------------------------------------------

    def clock(self, node: NodeId) -> Nanos:
        return int(self.now * (1 + self.drifts[node])) + self.offsets[node]

    def send(self, node: NodeId, lifetime_ms: float | None = None, payload: int = 0) -> MessageId:
        """The application broadcasts; the message is of use for so long by its sender's clock."""
        self._numbers[node] += 1
        shown = self.clock(node)
        deadline = None if lifetime_ms is None else max(0, shown + int(lifetime_ms * MS))
        message = Message(node, self._numbers[node], bytes(payload), deadline)
        self.sent[message.id] = message
        self.past[message.id] = self._known[node]
        self._known[node] |= {message.id}
        dests = tuple(d for d in range(self.n) if d != node)
        turn = Turn(shown)
        self.nodes[node].on_submitted(message, dests, turn)
        self._perform(node, turn)
        return message.id

    def arrive(
        self, message: MessageId, at: NodeId, source: NodeId | None = None
    ) -> list[MessageId]:
        """One copy of this message arrives; what that delivered, in order."""
        return self.arrive_flight(self.find(at, message=message, source=source))

    def find(
        self,
        to: NodeId,
        *,
        message: MessageId | None = None,
        source: NodeId | None = None,
        kind: str | None = None,
    ) -> int:
        """The first copy in the air of which all that is true."""
        return next(
            i
            for i, copy in enumerate(self.flying)
            if copy.to == to
            and (message is None or copy.message == message)
            and (source is None or copy.source == source)
            and (kind is None or type(copy.packet).__name__ == kind)
        )

    def arrive_flight(self, position: int) -> list[MessageId]:
        copy = self.flying.pop(position)
        if copy.message is not None:
            self._arrivals.add((copy.message, copy.to))
        self._arriving = copy.message
        delivered = self.inject(copy.to, copy.frame)
        self._arriving = None
        return delivered

    def inject(self, to: NodeId, frame: bytes) -> list[MessageId]:
        """Let any bytes arrive that decode."""
        if to in self.crashed:
            return []
        before = len(self.delivered[to])
        turn = Turn(self.clock(to))
        self.nodes[to].on_received(self.codec.decode(frame), turn)
        self._perform(to, turn)
        return [delivery.message for delivery in self.delivered[to][before:]]

    def lose(self, message: MessageId, *nodes: NodeId) -> None:
        for node in nodes:
            self.flying.pop(self.find(node, message=message))

    def until(self, ms: float) -> None:
        """Time passes; timers fire when their nodes' clocks say so."""
        end = int(ms * MS)
        for _ in range(FIRES_MAX):
            due = [
                (self._engine_time(node, at), node, name)
                for (node, name), at in self.timers.items()
            ]
            if not due or min(due)[0] > end:
                break
            at, node, name = min(due)
            self.now = max(self.now, at)
            del self.timers[node, name]
            turn = Turn(self.clock(node))
            self.nodes[node].on_timer(name, turn)
            self._perform(node, turn)
        else:
            raise AssertionError("timers fire without end")
        self.now = max(self.now, end)

    def pause(self, ms: float) -> None:
        self.until(self.now / MS + ms)

    def skip(self, ms: float) -> None:
        """Time passes, and no timer fires meanwhile: they are late."""
        self.now += int(ms * MS)

    def crash(self, node: NodeId) -> None:
        """It stops for good; copies on their way to others still arrive."""
        self.crashed.add(node)
        self.timers = {key: at for key, at in self.timers.items() if key[0] != node}

    def suspect(self, at: NodeId, node: NodeId) -> None:
        turn = Turn(self.clock(at))
        self.nodes[at].on_suspected(node, turn)
        self._perform(at, turn)

    # --- what a test looks at -----------------------------------------------------------------

    def order(self, node: NodeId) -> list[MessageId]:
        return [delivery.message for delivery in self.delivered[node]]

    def reasons(self, node: NodeId) -> dict[MessageId, str]:
        """The first reason for each message that was given up."""
        reasons: dict[MessageId, str] = {}
        for message, reason in self.discarded[node]:
            reasons.setdefault(message, reason)
        return reasons

    def packets_of(self, kind: str) -> list[tuple[NodeId, NodeId, Any]]:
        """All packets of this kind, with source and destination."""
        return [sent for sent in self.packets_sent if type(sent[2]).__name__ == kind]

    def faults(self) -> list[str]:
        """What is wrong with what was delivered: the kinds of fault, each with its messages."""
        found = []
        for node, deliveries in enumerate(self.delivered):
            seen: set[MessageId] = set()
            horizon: set[MessageId] = set()
            for message, shown in deliveries:
                if message in seen:
                    found.append(f"twice: {message} at {node}")
                if message not in seen and message in horizon:
                    found.append(f"inversion: {message} at {node} behind its successor")
                deadline = self.sent[message].deadline
                if deadline is not None and shown >= deadline:
                    found.append(f"late: {message} at {node}")
                seen.add(message)
                horizon |= self.past[message]
        return found

    def kinds(self) -> set[str]:
        return {fault.partition(":")[0] for fault in self.faults()}

    def unexplained(self) -> list[tuple[MessageId, NodeId]]:
        """What came to a node and was neither delivered nor discarded there."""
        return [
            (message, node)
            for node in range(self.n)
            if node not in self.crashed
            for message in sorted({m for m, at in self._arrivals if at == node})
            if message not in self.order(node) and message not in self.reasons(node)
        ]

    # --- how it works -------------------------------------------------------------------------

    def _engine_time(self, node: NodeId, local: Nanos) -> Nanos:
        """When this node's clock shows this time, or just after."""
        at = int((local - self.offsets[node]) / (1 + self.drifts[node])) - 1
        while int(at * (1 + self.drifts[node])) + self.offsets[node] < local:
            at += 1
        return at

    def _perform(self, node: NodeId, turn: Turn) -> None:
        for effect in turn.effects:
            self._do(node, effect)
        self.peak_bytes = max(self.peak_bytes, self.nodes[node].buffered_bytes())

    def _do(self, node: NodeId, effect: Effect) -> None:
        match effect:
            case Deliver(message):
                self.delivered[node].append(Delivery(message.id, self.clock(node)))
                self._known[node] |= self.past[message.id] | {message.id}
            case Discard(message, reason):
                self.discarded[node].append((message.id, reason))
                if reason == "overtaken" and message.id != self._arriving:
                    self.wasted.append((message.id, node))
            case SetTimer(timer, at):
                self.timers[node, timer] = at
            case CancelTimer(timer):
                self.timers.pop((node, timer), None)
            case Transmit(dests, packet, message):
                frame = self.codec.shared_part(node, message, packet) + self.codec.own_part(None)
                for to in dests:
                    self.packets_sent.append((node, to, packet))
                    name = None if message is None else message.id
                    self.flying.append(Flight(node, to, packet, name, frame))
