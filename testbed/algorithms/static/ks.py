"""Kshemkalyani, Singhal: the optimal algorithm.

Idea: "d is a destination of M" is carried and kept as long as, and only as long as, it is neither
known to be delivered at d nor guaranteed to be. Absence is information: what is missing from a log
although something newer of the same sender is there has been taken care of.
Paper: KS section 4.3 (worked examples: 4.4; sizes: GK section 2.2, KS section 6.2).
Assumptions: reliable channels. The text assumes FIFO channels; the algorithm does not need them.
A packet carries clock_j, Dests and O_M. O_M is nearly the same for all copies: what SND(2) leaves
in it for every destination is shared; the entries in which a destination d itself still stands
are the copy's own part. Logs hold each sender's newest entry even when it is empty, and no other
that is (lemma 7), and mostly no other at all: so the newest are two vectors, and the older ones
are listed. `control_ints` is GK's 4 + |Dests| + sum(3 + |o.Dests|), `control_units`
is KS 6.2's sum of |o.Dests|, `control_entries` and `control_empty` count the entries.
Cost: linear in log and O_M per event (4.4's formulation with maxima, not the pair loops of 4.3).
Departures: RCV(4), first loop, reads l_{s,t} where the print has l_{s,t'} (see ks_printed.py).
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import msgspec

from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.holdback import HoldBackQueue, Need
from testbed.core.model import (
    INTEGER_SET_NODES,
    Count,
    DestSet,
    Message,
    NodeId,
    Role,
    WireSet,
    dest_set,
    members,
    set_from_wire,
    set_to_wire,
)
from testbed.core.node import Arrival, Node, Packet, Turn, View

Entries = dict[int, DestSet]
"""Entries of one sender, time stamp -> Dests, in ascending order of time stamp."""


class Data(Packet, frozen=True, tag=0):
    """(j, clock_j, M, Dests, O_M), O_M without the destinations of M."""

    clock: Count
    dests: WireSet
    newest: list[Count]
    """Of each sender: the time stamp of its newest entry."""
    left: list[WireSet]
    """Of each sender: the Dests of its newest entry, which may be empty."""
    older: list[WireSet]
    """All other entries, none empty: sender, time stamp, Dests; sender, time stamp, Dests; ..."""


class Own(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """SND(2): the entries that, in the copy to d, have d among their Dests as well."""

    newest: list[Count]
    """Senders whose newest entry it is."""
    older: list[Count]
    """sender, time stamp, ...; one that the shared part lacks holds d alone."""


class Process(Node[Data, Own | None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.clock = 0  # clock_j
        self.sr = [0] * self.n  # SR_j[i]: time stamp of the last message of i delivered here
        # LOG_j, by sender: time stamp and Dests of its newest entry; its older entries.
        self.newest = [0] * self.n
        self.left: list[DestSet] = [0] * self.n
        self.older: list[Entries] = [{}] * self.n  # replaced, never changed
        self.queue: HoldBackQueue[Arrival[Data, Own | None]] = HoldBackQueue(self.sr)

    # --- SND ---------------------------------------------------------------------------------

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        self.clock += 1  # SND(1)
        sent_to = dest_set(dests)
        packet, own = self._split_log(sent_to)
        turn.multicast(dests, packet, message=message, own=own)  # SND(2)
        self._remember(sent_to)

    def _split_log(self, sent_to: DestSet) -> tuple[Data, dict[NodeId, Own]]:
        """SND(2): O_M for all destinations at once: the shared part, and each one's own part."""
        own = {d: Own([], []) for d in members(sent_to)}
        for sender, dests in enumerate(self.left):
            for d in members(dests & sent_to):
                own[d].newest.append(sender)
        older: list[WireSet] = []
        for sender, entries in enumerate(self.older):
            for time, dests in entries.items():
                if rest := dests & ~sent_to:
                    older += (sender, time, set_to_wire(rest))
                for d in members(dests & sent_to):
                    own[d].older.extend((sender, time))
        left = [set_to_wire(dests & ~sent_to) for dests in self.left]
        packet = Data(self.clock, set_to_wire(sent_to), self.newest[:], left, older)
        return packet, {d: part for d, part in own.items() if part.newest or part.older}

    def _remember(self, sent_to: DestSet) -> None:
        # SND(3): M's delivery will see to what its destinations owed; SND(5): so empty ones go
        self.left = [dests & ~sent_to for dests in self.left]
        for sender, entries in enumerate(self.older):
            if entries:
                rests = {time: dests & ~sent_to for time, dests in entries.items()}
                self.older[sender] = {time: rest for time, rest in rests.items() if rest}
        me = self.me
        if self.left[me]:
            self.older[me] = self.entries(me)
        self.newest[me], self.left[me] = self.clock, sent_to  # SND(4)

    # --- RCV ---------------------------------------------------------------------------------

    def on_received(self, arrival: Arrival[Data, Own | None], turn: Turn) -> None:
        self.queue.hold(arrival, _delivery_condition(arrival))  # RCV(1)
        while (ready := self.queue.pop()) is not None:
            assert ready.message is not None
            turn.deliver(ready.message)  # RCV(2)
            self.sr[ready.source] = ready.packet.clock
            self._merge(ready.source, ready.packet)
            self.queue.advanced(ready.source)

    def _merge(self, k: NodeId, packet: Data) -> None:
        """RCV(4) and RCV(5), with the maxima of 4.4.

        What one side lacks although it knows something newer is settled, whichever side it is: so
        only entries of the side with the newest can stay.
        """
        newest, left, older = self.newest, self.left, self.older
        carried = zip(*self._carried(k, packet), strict=True)
        for sender, (time, dests, theirs) in enumerate(carried):
            mine, my_time, my_dests = older[sender], newest[sender], left[sender]
            if time > my_time:
                if theirs != mine:
                    older[sender] = _unsettled(theirs, my_time, my_dests, mine)
                newest[sender], left[sender] = time, dests
                continue
            if theirs != mine:
                older[sender] = _unsettled(mine, time, dests, theirs)
            if time == my_time:
                left[sender] = my_dests & dests

    def _carried(self, k: NodeId, packet: Data) -> tuple[list[int], list[DestSet], list[Entries]]:
        """RCV(3): O_M and the message itself, without me; the shared part never speaks of me."""
        left, older = _entries_from_wire(packet, self.n)
        newest = packet.newest[:]
        if left[k]:
            older[k] = older[k] | {newest[k]: left[k]}
        newest[k] = packet.clock
        left[k] = set_from_wire(packet.dests) & ~(1 << self.me)
        return newest, left, older

    def entries(self, sender: NodeId) -> Entries:
        """All of LOG_j about one sender."""
        return self.older[sender] | {self.newest[sender]: self.left[sender]}

    def replace_entries(self, sender: NodeId, entries: Entries) -> None:
        *older, (self.newest[sender], self.left[sender]) = entries.items()
        self.older[sender] = dict(older)

    def held(self) -> int:
        return len(self.queue)

    def state_ints(self) -> int:
        """GK section 2.2: 3 + |Dests| for each entry of the log."""
        dests = self.left + list(chain.from_iterable(map(dict.values, self.older)))
        return 3 * len(dests) + sum(map(int.bit_count, dests))


def _unsettled(entries: Entries, time: int, dests: DestSet, older: Entries) -> Entries:
    """Of one side's older entries, what the other leaves, whose newest is (time, dests)."""
    left = {}
    for t, mine in entries.items():
        if t in older:
            mine &= older[t]
        elif t == time:
            mine &= dests
        elif t < time:
            continue
        if mine:  # RCV(5)
            left[t] = mine
    return left


_NONE: Entries = {}


def _entries_from_wire(packet: Data, n: int) -> tuple[list[DestSet], list[Entries]]:
    """By sender: Dests of the newest, and all older entries."""
    left: list[Any] = packet.left[:]
    if n > INTEGER_SET_NODES:
        left = list(map(set_from_wire, left))
    older = [_NONE] * n
    fields: Any = iter(packet.older)
    for sender, time, dests in zip(fields, fields, fields, strict=True):
        if older[sender] is _NONE:
            older[sender] = {}
        older[sender][time] = set_from_wire(dests)
    return left, older


def _delivery_condition(arrival: Arrival[Data, Own | None]) -> list[Need]:
    """RCV(1): wait for every message that O_M says was sent to me."""
    own = arrival.own
    if own is None:
        return []
    newest = arrival.packet.newest
    return [
        *((sender, newest[sender]) for sender in own.newest),
        *zip(own.older[::2], own.older[1::2], strict=True),
    ]


def size(packet: Data, own: Own | None) -> ControlSize:
    left, older = packet.left, packet.older
    sets: list[Any] = left + older[2::3]
    if len(left) > INTEGER_SET_NODES:
        sets = list(map(set_from_wire, sets))
    entries, units, empty = len(sets), sum(map(int.bit_count, sets)), left.count(0)
    if own is not None:
        stamps = set(zip(older[::3], older[1::3], strict=True)) if own.older else set()
        mine = list(zip(own.older[::2], own.older[1::2], strict=True))
        entries += len(mine) - len(stamps.intersection(mine))  # those that hold d alone
        empty -= sum(not left[sender] for sender in set(own.newest))
        units += len(own.newest) + len(mine)
    ints = 4 + set_from_wire(packet.dests).bit_count() + 3 * entries + units
    return ControlSize(ints, units, entries, empty)


def well_formed(packet: Data, own: Own | None, n: int) -> bool:
    """One newest entry of each sender; senders and sets of nodes there are; whole triples."""
    left: list[Any] = packet.left
    older: list[Any] = packet.older
    if len(packet.newest) != n or len(left) != n or len(older) % 3:
        return False
    if n > INTEGER_SET_NODES:  # larger sets travel as bytes
        left = list(map(set_from_wire, left))
        older = [*older]
        older[2::3] = map(set_from_wire, older[2::3])
    try:  # bytes where a number belongs cannot be compared
        if max(left) >> n or set_from_wire(packet.dests) >> n:
            return False
        if older and (max(older[::3]) >= n or max(older[1::3]) < 0 or max(older[2::3]) >> n):
            return False
    except TypeError:
        return False
    if own is None:
        return True
    named = own.newest + own.older[::2]
    return len(own.older) % 2 == 0 and max(named, default=0) < n


ALGORITHM = Algorithm(
    name="ks",
    title="Kshemkalyani-Singhal optimal algorithm",
    paper="KS section 4.3",
    roles={Role.PROCESS: Process},
    packets=(Data,),
    own=Own,
    size=size,
    well_formed=well_formed,
)
