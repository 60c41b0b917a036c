"""KS section 4.3 word for word: sets, pair loops, one O_M per destination, each step by its number.

Slow on purpose: it is what `ks` and `ks-printed` are compared with, event by event. The index of
the first loop of RCV(4) is the only thing in which the two readings differ. It shares nothing with
the real one but the model's words.
"""

from __future__ import annotations

from typing import Any

from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.model import Message, NodeId, Role
from testbed.core.node import Arrival, Node, Packet, Turn, View

Stamp = tuple[NodeId, int]
Log = dict[Stamp, set[NodeId]]
Row = tuple[NodeId, int, list[NodeId]]


class Data(Packet, frozen=True, tag=0):
    clock: int
    dests: list[NodeId]


class Process(Node[Data, list[Row]]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.clock = 0
        self.sr = [0] * self.n
        self.log: Log = {(i, 0): set() for i in range(self.n)}
        self.waiting: list[Arrival[Data, list[Row]]] = []

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        self.clock += 1  # SND(1)
        own = {d: rows(self.snd2(set(dests), d)) for d in dests}
        turn.multicast(dests, Data(self.clock, list(dests)), message=message, own=own)
        for left in self.log.values():  # SND(3)
            left -= set(dests)
        self.log[self.me, self.clock] = set(dests)  # SND(4)
        purge_null_entries(self.log)  # SND(5)

    def snd2(self, dests: set[NodeId], d: NodeId) -> Log:
        o_m = {stamp: set(left) for stamp, left in self.log.items()}
        for stamp, left in o_m.items():
            o_m[stamp] = (left - dests) | {d} if d in left else left - dests
        purge_null_entries(o_m)
        return o_m

    def on_received(self, arrival: Arrival[Data, list[Row]], turn: Turn) -> None:
        self.waiting.append(arrival)
        while ready := [a for a in self.waiting if self.rcv1(a.own)]:
            self.waiting.remove(ready[0])
            self.rcv(ready[0], turn)

    def rcv1(self, o_m: list[Row]) -> bool:
        return all(t <= self.sr[m] for m, t, left in o_m if self.me in left)

    def rcv(self, arrival: Arrival[Data, list[Row]], turn: Turn) -> None:
        k, t_k = arrival.source, arrival.packet.clock
        assert arrival.message is not None
        turn.deliver(arrival.message)  # RCV(2)
        self.sr[k] = t_k
        o_m: Log = {(m, t): set(left) for m, t, left in arrival.own}
        o_m[k, t_k] = set(arrival.packet.dests)  # RCV(3)
        for left in o_m.values():
            left.discard(self.me)
        self.rcv4_loop_1(o_m)
        self.rcv4_loop_2(o_m)
        self.log |= o_m
        purge_null_entries(self.log)  # RCV(5)

    def rcv4_loop_1(self, o_m: Log) -> tuple[set[Stamp], set[Stamp]]:
        """What is deleted: from O_M, and from LOG_j."""
        marked_o: set[Stamp] = set()
        marked_l: set[Stamp] = set()
        for m, t in o_m:
            for s, t2 in self.log:
                if s != m:
                    continue
                if t < t2 and self.is_settled(s, t, t2):
                    marked_o.add((m, t))
                if t2 < t and (m, t2) not in o_m:
                    marked_l.add((s, t2))
        for stamp in marked_o:
            del o_m[stamp]
        for stamp in marked_l:
            del self.log[stamp]
        return marked_o, marked_l

    def is_settled(self, s: NodeId, t: int, t2: int) -> bool:
        """The index of the step's comment and of its worked example."""
        return (s, t) not in self.log

    def rcv4_loop_2(self, o_m: Log) -> None:
        for stamp in set(self.log) & set(o_m):
            self.log[stamp] &= o_m.pop(stamp)

    def held(self) -> int:
        return len(self.waiting)


class PrintedProcess(Process):
    def is_settled(self, s: NodeId, t: int, t2: int) -> bool:
        """The index of the print."""
        return (s, t2) not in self.log


def purge_null_entries(log: Log) -> None:
    for s, t in list(log):
        if not log[s, t] and any(s2 == s and t < t2 for s2, t2 in log):
            del log[s, t]


def rows(log: Log) -> list[Row]:
    return [(s, t, sorted(left)) for (s, t), left in log.items()]


def _unmeasured(packet: Data, own: list[Row]) -> ControlSize:
    return ControlSize(0)


def algorithm_of(process: type[Process]) -> Algorithm:
    """A reading of the text, to be played like any algorithm."""
    name = f"literal {process.__name__}"
    return Algorithm(
        name=name,
        title=name,
        paper="KS section 4.3",
        roles={Role.PROCESS: process},
        packets=(Data,),
        own=list[Row],
        size=_unmeasured,
    )


LITERAL = algorithm_of(Process)
LITERAL_PRINTED = algorithm_of(PrintedProcess)


def carried(arrival: Arrival[Data, list[Row]], to: NodeId) -> dict[Stamp, frozenset[NodeId]]:
    return {(s, t): frozenset(left) for s, t, left in arrival.own}


def logged(node: Any) -> dict[Stamp, frozenset[NodeId]]:
    return {stamp: frozenset(left) for stamp, left in node.log.items()}
