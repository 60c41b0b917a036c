"""A tiny deterministic world: a schedule is data, every copy goes through the real codec.

It drives the nodes of one algorithm by their inputs alone and tells watchers what happened in the
execution. It knows no engine, no clock and no rule of the algorithm.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, NamedTuple

from testbed.core.algorithm import Algorithm
from testbed.core.model import Message, MessageId, NodeId, Role
from testbed.core.node import Arrival, Node, Transmit, Turn, View
from testbed.core.wire import Codec
from testbed.trace.oracle import Audit, Oracle

Dests = tuple[NodeId, ...]


class Send(NamedTuple):
    node: NodeId
    dests: Dests


class Arrive(NamedTuple):
    """The pick-th of the copies that may arrive next, counted round."""

    pick: int


class Schedule(NamedTuple):
    """What happens in one execution; what still flies at the end arrives in the drain's order."""

    n: int
    fifo: bool
    steps: tuple[Send | Arrive, ...]
    drain: int


class Copy(NamedTuple):
    source: NodeId
    target: NodeId
    message: MessageId
    frame: bytes


class Watcher:
    """Hears of each event of the execution; `settled` follows each whole SND and RCV."""

    def sent(self, node: NodeId, message: MessageId, dests: Dests) -> None: ...

    def copied(self, copy: Copy, arrival: Arrival[Any, Any]) -> None: ...

    def delivered(self, node: NodeId, message: MessageId) -> None: ...

    def settled(self, node: Node[Any, Any]) -> None: ...


class World:
    def __init__(
        self, algorithm: Algorithm, n: int, *, fifo: bool = False, watchers: Iterable[Watcher] = ()
    ) -> None:
        make = algorithm.roles[Role.PROCESS]
        self.nodes: list[Any] = [make(View(me, tuple(range(n)))) for me in range(n)]
        self.watchers = tuple(watchers)
        self.flying: list[Copy] = []
        self.overtaken = 0
        """Copies that arrived after a younger one of the same channel."""
        self._fifo = fifo
        self._codec = Codec(algorithm, n)
        self._oracle = Oracle(range(n))
        self._numbers = [0] * n
        self._time = 0
        self._last_number: dict[tuple[NodeId, NodeId], int] = {}

    def send(self, node: NodeId, *dests: NodeId) -> MessageId:
        """One whole SND; its copies fly until they are told to arrive."""
        self._time += 1
        self._numbers[node] += 1
        message = Message(node, self._numbers[node], b"")
        turn = Turn(self._time)
        self.nodes[node].on_submitted(message, dests, turn)
        self._oracle.send(node, message.id, dests)
        for watcher in self.watchers:
            watcher.sent(node, message.id, dests)
        for effect in turn.effects:
            assert isinstance(effect, Transmit)
            self._transmit(node, message, effect)
        self._settled(node)
        return message.id

    def _transmit(self, node: NodeId, message: Message, effect: Transmit) -> None:
        codec, own = self._codec, effect.own or {}
        shared = codec.shared_part(node, message, effect.packet)
        for target in effect.dests:
            frame = shared + codec.own_part(own.get(target))
            copy = Copy(node, target, message.id, frame)
            self.flying.append(copy)
            for watcher in self.watchers:
                watcher.copied(copy, codec.decode(frame))

    def arrive(self, message: MessageId, target: NodeId) -> list[MessageId]:
        """This copy arrives; what is delivered by it."""
        able = self._able_to_arrive()
        found = [copy for copy in able if copy.message == message and copy.target == target]
        assert len(found) == 1, f"{message} cannot arrive at {target} now"
        return self._arrive(found[0])

    def arrive_any(self, pick: int) -> None:
        able = self._able_to_arrive()
        if able:
            self._arrive(able[pick % len(able)])

    def _able_to_arrive(self) -> list[Copy]:
        if not self._fifo:
            return self.flying
        heads: dict[tuple[NodeId, NodeId], Copy] = {}
        for copy in self.flying:
            heads.setdefault((copy.source, copy.target), copy)
        return list(heads.values())

    def _arrive(self, copy: Copy) -> list[MessageId]:
        self._time += 1
        self.flying.remove(copy)
        channel, number = (copy.source, copy.target), copy.message[1]
        self.overtaken += number < self._last_number.get(channel, 0)
        self._last_number[channel] = max(number, self._last_number.get(channel, 0))
        self._oracle.receive(copy.target, copy.message, self._time)
        turn = _Delivering(self, copy.target)
        self.nodes[copy.target].on_received(self._codec.decode(copy.frame), turn)
        if turn.delivered:
            self._settled(copy.target)
        return turn.delivered

    def _settled(self, node: NodeId) -> None:
        for watcher in self.watchers:
            watcher.settled(self.nodes[node])

    def _delivered(self, node: NodeId, message: MessageId) -> None:
        self._oracle.deliver(node, message, self._time)
        for watcher in self.watchers:
            watcher.delivered(node, message)

    def verdict(self) -> Audit:
        return self._oracle.verdict()


class _Delivering:
    """The Turn of an arrival: all that RCV may ask for is deliveries.

    RCV(2) delivers before anything else changes, so the RCV before it is whole by then.
    """

    def __init__(self, world: World, node: NodeId) -> None:
        self.delivered: list[MessageId] = []
        self._world = world
        self._node = node

    def deliver(self, message: Message) -> None:
        if self.delivered:
            self._world._settled(self._node)
        self.delivered.append(message.id)
        self._world._delivered(self._node, message.id)


def play(algorithm: Algorithm, schedule: Schedule, *watchers: Watcher) -> World:
    """Run a schedule to its end, nothing left in flight."""
    world = World(algorithm, schedule.n, fifo=schedule.fifo, watchers=watchers)
    for step in schedule.steps:
        if isinstance(step, Send):
            world.send(step.node, *step.dests)
        else:
            world.arrive_any(step.pick)
    rng = random.Random(schedule.drain)
    while world.flying:
        world.arrive_any(rng.getrandbits(16))
    return world
