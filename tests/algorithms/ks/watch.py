"""Watchers of an execution of ks: the constraints PC1 and PC2, the lemmas, the sizes.

They only look: what they find is counted by kind, so that a test can say how often and what.
This file knows how ks writes its log and its packets; what they must hold it asks the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from testbed.core.algorithm import ControlSize
from testbed.core.model import MessageId, NodeId, members, set_from_wire
from testbed.core.node import Arrival, Node
from tests.algorithms.ks.truth import Knowledge, Truth, differences
from tests.algorithms.ks.world import Copy, Dests, Watcher

Stamp = tuple[NodeId, int]
"""(sender, time stamp)."""
Entries = dict[Stamp, frozenset[NodeId]]


def carried(arrival: Arrival[Any, Any], to: NodeId) -> Entries:
    """O_M as the receiver `to` reconstructs it from its copy."""
    packet, own = arrival.packet, arrival.own
    newest = zip(range(len(packet.newest)), packet.newest, packet.left, strict=True)
    older = zip(packet.older[::3], packet.older[1::3], packet.older[2::3], strict=True)
    entries: dict[Stamp, set[NodeId]] = {}
    for sender, time, dests in [*newest, *older]:  # one that travels twice counts twice in sizes
        entries.setdefault((sender, time), set()).update(members(set_from_wire(dests)))
    if own is not None:
        for sender in own.newest:
            entries[sender, packet.newest[sender]].add(to)
        for stamp in zip(own.older[::2], own.older[1::2], strict=True):
            entries.setdefault(stamp, set()).add(to)
    return {stamp: frozenset(dests) for stamp, dests in entries.items()}


def logged(node: Node[Any, Any]) -> Entries:
    """LOG_j of a node."""
    entries_of: Callable[[NodeId], dict[int, int]] = node.entries  # type: ignore[attr-defined]
    return {
        (sender, time): frozenset(members(left))
        for sender in range(node.n)
        for time, left in entries_of(sender).items()
    }


class Findings(Watcher):
    """Counts by kind, with the first of each kind in words."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.looks = 0

    def find(self, kind: str, prose: str, count: int = 1) -> None:
        self.counts[kind] += count
        self.first.setdefault(kind, prose)

    def __str__(self) -> str:
        return "; ".join(
            f"{n} {kind}, first: {self.first[kind]}" for kind, n in self.counts.items()
        )


class Constraints(Findings):
    """PC1 and PC2 after every whole SND and RCV, and on every copy: exactly what they require."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.truth = Truth(n)
        self.facts = 0
        self._number_of: dict[Stamp, int] = {(i, 0): 0 for i in range(n)}

    def sent(self, node: NodeId, message: MessageId, dests: Dests) -> None:
        self.truth.send(node, message, dests)

    def delivered(self, node: NodeId, message: MessageId) -> None:
        self.truth.deliver(node, message)

    def copied(self, copy: Copy, arrival: Arrival[Any, Any]) -> None:
        self._number_of[copy.source, arrival.packet.clock] = copy.message[1]
        required = self.truth.copy(copy.message, copy.target)
        where = f"copy of {copy.message} to {copy.target}"
        self._compare(where, required, carried(arrival, copy.target))

    def settled(self, node: Node[Any, Any]) -> None:
        self._compare(f"log of {node.me}", self.truth.log(node.me), logged(node))

    def _compare(self, where: str, required: Knowledge, found: Entries) -> None:
        self.looks += 1
        self.facts += len(required.facts)
        by_number = {(s, self._number_of[s, t]): dests for (s, t), dests in found.items()}
        for kind, things in differences(required, by_number).items():
            self.find(kind, f"{kind} in the {where}: {sorted(things, key=repr)}", len(things))


class Lemmas(Findings):
    """Lemmas 1, 2, 4 and 7 of KS after every whole SND and RCV; 1 and 7 on every copy, too."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self._newest = [[0] * n for _ in range(n)]
        self._before: list[Entries] = [{} for _ in range(n)]

    def copied(self, copy: Copy, arrival: Arrival[Any, Any]) -> None:
        where = f"copy of {copy.message} to {copy.target}"
        self._static_lemmas(where, carried(arrival, copy.target))

    def settled(self, node: Node[Any, Any]) -> None:
        me, now = node.me, logged(node)
        newest = self._static_lemmas(f"log of {me}", now)
        for i, before in enumerate(self._newest[me]):
            if newest.get(i, -1) < before:
                prose = f"newest of {i} in the log of {me}: {before}, then {newest.get(i)}"
                self.find("lemma 2", prose)
        self._lemma_4(me, now)
        self._newest[me] = [newest.get(i, 0) for i in range(len(self._newest))]
        self._before[me] = now

    def _static_lemmas(self, where: str, entries: Entries) -> dict[NodeId, int]:
        """Lemmas 1 and 7; TS(i, entries) by sender (definition 6)."""
        self.looks += 1
        named: set[tuple[NodeId, NodeId]] = set()
        newest: dict[NodeId, int] = {}
        for sender, time in entries:
            newest[sender] = max(time, newest.get(sender, 0))
        for (sender, time), dests in entries.items():
            for d in dests:
                if (sender, d) in named:
                    self.find("lemma 1", f"{d} stands in two entries of {sender} in the {where}")
                named.add((sender, d))
            if not dests and time < newest[sender]:
                self.find("lemma 7", f"({sender}, {time}) is empty but not newest in the {where}")
        return newest

    def _lemma_4(self, me: NodeId, now: Entries) -> None:
        """An entry only loses destinations, and none comes (back) below the newest."""
        before = self._before[me]
        for (sender, time), dests in now.items():
            if (sender, time) in before:
                grown = dests - before[sender, time]
            else:
                grown = dests if time <= self._newest[me][sender] else frozenset()
            if grown:
                self.find("lemma 4", f"({sender}, {time}) in the log of {me} gained {set(grown)}")


class Sizes(Findings):
    """GK 2.2 and KS 6.2, counted from the papers' records filled by the truth."""

    def __init__(self, n: int, size: Callable[[Any, Any], ControlSize]) -> None:
        super().__init__()
        self.total = ControlSize(0)
        self.units_max = 0
        self._truth = Truth(n)
        self._size = size
        self._dests: dict[MessageId, Dests] = {}

    def sent(self, node: NodeId, message: MessageId, dests: Dests) -> None:
        self._dests[message] = dests
        self._truth.send(node, message, dests)

    def delivered(self, node: NodeId, message: MessageId) -> None:
        self._truth.deliver(node, message)

    def copied(self, copy: Copy, arrival: Arrival[Any, Any]) -> None:
        self.looks += 1
        entries = self._truth.copy(copy.message, copy.target).entries()
        said = self._size(arrival.packet, arrival.own)
        counted = ControlSize(
            ints=count_integers(message_record(copy.message, self._dests[copy.message], entries)),
            units=units(entries),
            entries=len(entries),
            empty=sum(1 for dests in entries.values() if not dests),
        )
        self.total = ControlSize(*(a + b for a, b in zip(self.total, said, strict=True)))
        self.units_max = max(self.units_max, said.units)
        if said != counted:
            self.find("size", f"copy of {copy.message} to {copy.target}: {said}, not {counted}")


def message_record(
    message: MessageId, dests: Dests, entries: Mapping[MessageId, frozenset[NodeId]]
) -> list[Any]:
    """GK figure 1, MsgOvhdStruct: its fields in order, records as nested lists."""
    sender, clock = message
    log = [[s, t, len(left), sorted(left)] for (s, t), left in entries.items()]
    return [sender, clock, len(dests), len(log), list(dests), log]


def count_integers(record: Any) -> int:
    return 1 if isinstance(record, int) else sum(map(count_integers, record))


def units(entries: Mapping[MessageId, frozenset[NodeId]]) -> int:
    """KS 6.2: the sum over senders of |Phi_i|, the union of the Dests of its entries."""
    phi: dict[NodeId, set[NodeId]] = {}
    for (sender, _), dests in entries.items():
        phi.setdefault(sender, set()).update(dests)
    return sum(map(len, phi.values()))
