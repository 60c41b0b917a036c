"""Kshemkalyani, Singhal: the optimal algorithm.

Idea: "d is a destination of M" is carried and kept as long as, and only as long as, it is neither
known to be delivered at d nor guaranteed to be. Absence is information: what is missing from a log
although something newer of the same sender is there has been taken care of.
Paper: KS section 4.3 (worked examples: 4.4; sizes: GK section 2.2, KS section 6.2).
Assumptions: reliable channels. The text assumes FIFO channels; the algorithm does not need them.
A packet carries clock_j, Dests and O_M. O_M is nearly the same for all copies: what SND(2) leaves
in it for every destination is shared; the entries in which a destination d itself still stands
are the copy's own part. `control_ints` is GK's 4 + |Dests| + sum(3 + |o.Dests|), `control_units`
is KS 6.2's sum of |o.Dests|, `control_entries` and `control_empty` count the entries.
Cost: linear in log and O_M per event (4.4's formulation with maxima, not the pair loops of 4.3).
Departures: RCV(4), first loop, reads l_{s,t} where the print has l_{s,t'} (see ks_printed.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.holdback import HoldBackQueue, Need
from testbed.core.model import (
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
"""All entries of one sender, time stamp -> Dests, in ascending order of time stamp."""


class Data(Packet, frozen=True, tag=0):
    """(j, clock_j, M, Dests, O_M), O_M without the destinations of M."""

    clock: Count
    dests: WireSet
    log: list[WireSet]
    """sender, time stamp, Dests; sender, time stamp, Dests; ..."""


class Own(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """SND(2): the entries that, in the copy to d, still have d among their Dests."""

    restored: list[Count]
    """Positions of entries in the shared log to which d belongs as well."""
    purged: list[Count]
    """sender, time stamp, ... of older entries that hold d alone, so the shared log lacks them."""


class Process(Node[Data, Own | None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.clock = 0  # clock_j
        self.sr = [0] * self.n  # SR_j[i]: time stamp of the last message of i delivered here
        self.log: list[Entries] = [{0: 0} for _ in range(self.n)]  # LOG_j, by sender
        self.queue: HoldBackQueue[Arrival[Data, Own | None]] = HoldBackQueue(self.sr)

    # --- SND ---------------------------------------------------------------------------------

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        self.clock += 1  # SND(1)
        sent_to = dest_set(dests)
        shared, own = self._split_log(sent_to)
        packet = Data(self.clock, set_to_wire(sent_to), shared)
        turn.multicast(dests, packet, message=message, own=own)  # SND(2)
        self._remember(sent_to)

    def _split_log(self, sent_to: DestSet) -> tuple[list[WireSet], dict[NodeId, Own]]:
        """SND(2): O_M for all destinations at once: the shared log, and each one's own part."""
        shared: list[WireSet] = []
        own: dict[NodeId, Own] = {}
        for sender, entries in enumerate(self.log):
            for time, left in entries.items():
                rest = left & ~sent_to
                is_kept = rest != 0 or time == next(reversed(entries))  # the newest stays
                if is_kept:
                    shared += (sender, time, set_to_wire(rest) if rest else 0)
                if rest == left:
                    continue
                for d in members(left & sent_to):
                    part = own.setdefault(d, Own([], []))
                    if is_kept:
                        part.restored.append(len(shared) // 3 - 1)
                    else:
                        part.purged.extend((sender, time))
        return shared, own

    def _remember(self, sent_to: DestSet) -> None:
        for entries in self.log:  # SND(3): M's delivery will see to what its destinations owed
            for time, left in entries.items():
                if left & sent_to:
                    entries[time] = left & ~sent_to
        self.log[self.me][self.clock] = sent_to  # SND(4)
        for entries in self.log:  # SND(5)
            if len(entries) > 1:
                _purge_null_entries(entries)

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
        log = self.log
        for sender, theirs in self._carried(k, packet).items():
            if theirs != log[sender]:
                log[sender] = self._merge_entries(log[sender], theirs)

    def _carried(self, k: NodeId, packet: Data) -> dict[NodeId, Entries]:
        """RCV(3): O_M and the message itself, without me; the copy's own part speaks of me only."""
        not_me = ~(1 << self.me)
        carried: dict[NodeId, Entries] = {}
        fields: Iterator[Any] = iter(packet.log)
        for sender, time, dests in zip(fields, fields, fields, strict=True):
            entries = carried.get(sender)
            if entries is None:
                entries = carried[sender] = {}
            entries[time] = dests & not_me if type(dests) is int else set_from_wire(dests) & not_me
        carried.setdefault(k, {})[packet.clock] = set_from_wire(packet.dests) & not_me
        return carried

    def _merge_entries(self, mine: Entries, theirs: Entries) -> Entries:
        """RCV(4) and RCV(5) for one sender, with the maxima of 4.4.

        What one side lacks although it knows something newer is settled, whichever side it is: so
        only entries of the side with the newest can stay.
        """
        mine_newest, theirs_newest = next(reversed(mine)), next(reversed(theirs))
        if mine_newest < theirs_newest:
            mine, theirs = theirs, mine
            mine_newest, theirs_newest = theirs_newest, mine_newest
        merged = {}
        for time, left in mine.items():
            if time in theirs:
                left &= theirs[time]
            elif time <= theirs_newest:
                continue
            if left or time == mine_newest:  # RCV(5)
                merged[time] = left
        return merged

    def held(self) -> int:
        return len(self.queue)

    def state_ints(self) -> int:
        """GK section 2.2: 3 + |Dests| for each entry of the log."""
        units = sum(map(int.bit_count, chain.from_iterable(map(dict.values, self.log))))
        return 3 * sum(map(len, self.log)) + units


def _purge_null_entries(entries: Entries) -> None:
    """PURGE_NULL_ENTRIES: drop empty entries that a newer one implies; the newest stays."""
    newest = next(reversed(entries))
    for time in [t for t, left in entries.items() if not left and t != newest]:
        del entries[time]


def _delivery_condition(arrival: Arrival[Data, Own | None]) -> list[Need]:
    """RCV(1): wait for every message that O_M says was sent to me."""
    own = arrival.own
    if own is None:
        return []
    log: list[Any] = arrival.packet.log
    needs = [(log[3 * at], log[3 * at + 1]) for at in own.restored]
    if own.purged:
        needs += zip(own.purged[::2], own.purged[1::2], strict=True)
    return needs


def size(packet: Data, own: Own | None) -> ControlSize:
    sets: list[Any] = packet.log[2::3]
    if bytes in map(type, sets):  # more than 63 nodes
        sets = [set_from_wire(dests) for dests in sets]
    entries, units, empty = len(sets), sum(map(int.bit_count, sets)), sets.count(0)
    if own is not None:
        alone = len(own.purged) // 2
        empty -= sum(1 for at in set(own.restored) if not packet.log[3 * at + 2])
        entries += alone
        units += alone + len(own.restored)
    ints = 4 + set_from_wire(packet.dests).bit_count() + 3 * entries + units
    return ControlSize(ints, units, entries, empty)


def well_formed(packet: Data, own: Own | None, n: int) -> bool:
    """The log is triples of a sender, a time stamp and a set; own parts point into it."""
    log: list[Any] = packet.log
    senders, times, sets = log[::3], log[1::3], log[2::3]
    if len(log) % 3 or len(senders) < n:
        return False
    if n > 63:  # larger sets travel as bytes
        sets = [set_from_wire(dests) for dests in sets]
    try:  # bytes where a number belongs cannot be compared
        if max(senders) >= n or max(times) < 0 or max(sets) >> n:
            return False
    except TypeError:
        return False
    if set_from_wire(packet.dests) >> n:
        return False
    if own is None:
        return True
    restored, purged = own.restored, own.purged
    if len(purged) % 2 or (purged and max(purged[::2]) >= n):
        return False
    return not restored or max(restored) < len(senders)


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
