"""KS section 4.5 is prose without proof: which of its notes hold, on the word-for-word form.

Hardware multicast holds. The lookahead does not: it deletes what the held message guarantees, but
a send before its delivery is not in its future, so nothing guarantees it there.
"""

from __future__ import annotations

from typing import Any

import pytest

from testbed.algorithms.static import ks
from testbed.core.algorithm import Algorithm
from testbed.core.model import MessageId, NodeId
from testbed.core.node import Arrival, Node, Turn
from tests.algorithms.ks.literal import (
    LITERAL,
    Data,
    Log,
    Process,
    Row,
    algorithm_of,
    logged,
    purge_null_entries,
    rows,
)
from tests.algorithms.ks.schedules import random_schedule
from tests.algorithms.ks.world import Watcher, World, play

Received = Arrival[Data, list[Row]]


# --- hardware multicast: all copies are equal, SND(2) happens at the receiver ---


class HardwareMulticast(Process):
    def snd2(self, dests: set[NodeId], d: NodeId) -> Log:
        return {stamp: set(left) for stamp, left in self.log.items()}

    def rcv(self, arrival: Received, turn: Turn) -> None:
        dests = set(arrival.packet.dests)
        o_m = {(m, t): set(left) - dests | set(left) & {self.me} for m, t, left in arrival.own}
        purge_null_entries(o_m)
        super().rcv(Arrival(arrival.source, arrival.message, arrival.packet, rows(o_m)), turn)


class Logs(Watcher):
    """Deliveries, and each log after each event."""

    def __init__(self) -> None:
        self.lines: list[object] = []

    def delivered(self, node: NodeId, message: MessageId) -> None:
        self.lines.append((node, message))

    def settled(self, node: Node[Any, Any]) -> None:
        self.lines.append((node.me, logged(node)))


def test_hardware_multicast_changes_no_delivery_and_no_log() -> None:
    for seed in range(8):
        schedule, apart, at_once = random_schedule(seed), Logs(), Logs()
        play(LITERAL, schedule, apart)
        play(algorithm_of(HardwareMulticast), schedule, at_once)
        assert apart.lines == at_once.lines


# --- lookahead: RCV(4) and RCV(5) also before RCV(1) is satisfied ---


class Lookahead(Process):
    """The note's words: RCV(4) and RCV(5) with the O_M of a message that must wait."""

    def on_received(self, arrival: Received, turn: Turn) -> None:
        super().on_received(arrival, turn)
        if arrival in self.waiting:
            self.look_ahead({(m, t): set(left) for m, t, left in arrival.own}, arrival)

    def look_ahead(self, o_m: Log, arrival: Received) -> None:
        self.rcv4_loop_1(o_m)
        self.rcv4_loop_2(o_m)
        self.log |= o_m
        purge_null_entries(self.log)


class DeletingLookahead(Lookahead):
    """The note's purpose: it only eliminates information from the log."""

    def look_ahead(self, o_m: Log, arrival: Received) -> None:
        before = set(self.log)
        super().look_ahead(o_m, arrival)
        newest = {s: max(t for s2, t in before if s2 == s) for s, _ in before}
        for s, t in set(self.log) - before:
            del self.log[s, t]
        for stamp in newest.items():
            self.log.setdefault(stamp, set())


class WholeLookahead(Lookahead):
    """RCV(3) comes along, so the log learns of the held message itself."""

    def look_ahead(self, o_m: Log, arrival: Received) -> None:
        o_m[arrival.source, arrival.packet.clock] = set(arrival.packet.dests)
        for left in o_m.values():
            left.discard(self.me)
        super().look_ahead(o_m, arrival)


def _guarantee_of_a_held_message(algorithm: Algorithm) -> str:
    """p1 holds p2's message, which went to p3 as well, and sends to p3."""
    world = World(algorithm, 4, fifo=True)
    first = world.send(0, 1, 2, 3)
    world.arrive(first, 1)
    world.arrive(first, 2)
    missing = world.send(3, 1, 2)
    world.arrive(missing, 2)
    held = world.send(2, 1, 3)
    assert world.arrive(held, 1) == []
    after_first = world.send(1, 3)
    world.arrive(after_first, 3)  # before `first`, which precedes it
    return _drained(world)


def _delivery_that_is_not_yet(algorithm: Algorithm) -> str:
    """p1 holds p2's message; p0 hears from p1 as if it were delivered there, and answers."""
    world = World(algorithm, 4, fifo=True)
    missing = world.send(3, 1, 2)
    world.arrive(missing, 2)
    held = world.send(2, 0, 1)
    assert world.arrive(held, 1) == []
    world.arrive(held, 0)
    rumour = world.send(1, 0)
    world.arrive(rumour, 0)
    after_held = world.send(0, 1)
    world.arrive(after_held, 1)  # before `held` is delivered, which precedes it
    return _drained(world)


def _drained(world: World) -> str:
    while world.flying:
        world.arrive_any(0)
    return world.verdict().why


@pytest.mark.parametrize(
    ("lookahead", "run", "why"),
    [
        (Lookahead, _guarantee_of_a_held_message, "m1.1 was delivered at p3 before m0.1"),
        (DeletingLookahead, _guarantee_of_a_held_message, "m1.1 was delivered at p3 before m0.1"),
        (WholeLookahead, _delivery_that_is_not_yet, "m0.1 was delivered at p1 before m3.1"),
    ],
)
def test_the_lookahead_breaks_causal_order_on_fifo_channels(
    lookahead: type[Lookahead], run: Any, why: str
) -> None:
    assert why in run(algorithm_of(lookahead))
    for right in (LITERAL, ks.ALGORITHM):
        assert "in causal order, each exactly once, none missing" in run(right)
