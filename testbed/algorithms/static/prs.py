"""Prakash, Raynal, Singhal: causal barriers.

Idea: a message names only its direct predecessors, per destination: its causal barrier. Once it
is sent, it stands for all that came before it.
Paper: PRS section 5.2 (sizes: section 7.1).
Assumptions: reliable channels, the sender is no destination (5.1); FIFO is not needed.
A packet carries sent_M, the destination set and the non-empty rows of the barrier. `control_units`
counts the tuples as PRS figures 4 to 7 do; `control_ints` counts all that travels: sender, number,
|dests| + 1, and for each row its process, its length and two integers per tuple.
Cost: at most n*n tuples; a delivery looks at each tuple it holds once.
Departures: none; the barrier that travels is the one from before step 3.
"""

from __future__ import annotations

from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.holdback import HoldBackQueue
from testbed.core.model import (
    Count,
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

Barrier = dict[NodeId, int]
"""One row CB[k]: sender -> number of its message that must be delivered at k first."""


class Data(Packet, frozen=True, tag=0):
    """(M, i, sent_i, destination(M), CB_i)."""

    number: Count
    dests: WireSet
    rows: list[list[Count]]
    """Each non-empty row CB[k] as [k, sender, number, sender, number, ...]."""


class Process(Node[Data, None]):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.sent = 0  # sent_i
        self.cb: list[Barrier] = [{} for _ in range(self.n)]  # CB_i
        # delivered[k][j] is Delivered_i[j, k]: message of j up to which k is known to have all.
        self.delivered = [[0] * self.n for _ in range(self.n)]
        self.queue: HoldBackQueue[Arrival[Data, None]] = HoldBackQueue(self.delivered[self.me])

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        self.sent += 1  # step 1
        rows = [
            [k, *(number for constraint in row.items() for number in constraint)]
            for k, row in enumerate(self.cb)
            if row
        ]
        packet = Data(self.sent, set_to_wire(dest_set(dests)), rows)
        turn.multicast(dests, packet, message=message)  # step 2
        for d in dests:  # step 3: M stands for everything before it
            self.cb[d] = {self.me: self.sent}

    def on_received(self, arrival: Arrival[Data, None], turn: Turn) -> None:
        for row in arrival.packet.rows:
            if row[0] == self.me:
                needs = list(zip(row[1::2], row[2::2], strict=True))
                break
        else:
            needs = []
        self.queue.hold(arrival, needs)  # step 1: wait for CB_M[i]
        while (ready := self.queue.pop()) is not None:
            self._deliver(ready, turn)

    def _deliver(self, ready: Arrival[Data, None], turn: Turn) -> None:
        assert ready.message is not None
        j, number = ready.source, ready.packet.number
        dests = set_from_wire(ready.packet.dests)
        barrier = {
            row[0]: dict(zip(row[1::2], row[2::2], strict=True)) for row in ready.packet.rows
        }
        turn.deliver(ready.message)  # step 2
        self.delivered[self.me][j] = number  # step 3
        self._learn_deliveries_at(j, barrier.get(j, {}))  # step 4
        for k in members(dests):  # step 5: (j, sent_M) replaces CB_M[k]
            self.cb[k][j] = max(number, self.cb[k].get(j, 0))
            self._subtract(self.cb[k], barrier.get(k, {}))
        for k, row in barrier.items():  # step 6: constraints for processes that M does not visit
            if k != j and not dests >> k & 1:
                self._unite(self.cb[k], row)
        self._subtract(self.cb[j], barrier.get(j, {}))  # step 7: j has delivered CB_M[j]
        for k in range(self.n):  # step 8: garbage collection
            if k != self.me and self.cb[k]:
                self._collect(k)
        self.queue.advanced(j)

    def _learn_deliveries_at(self, j: NodeId, row: Barrier) -> None:
        known = self.delivered[j]
        for k, y in row.items():
            known[k] = max(known[k], y)

    @staticmethod
    def _unite(row: Barrier, other: Barrier) -> None:
        """The operator union_max of 5.2: one constraint per sender, the newest."""
        for k, x in other.items():
            if row.get(k, 0) < x:
                row[k] = x

    @staticmethod
    def _subtract(row: Barrier, other: Barrier) -> None:
        """The operator minus_max of 5.2: constraints up to those in `other` are satisfied."""
        for k, y in other.items():
            if row.get(k, y + 1) <= y:
                del row[k]

    def _collect(self, k: NodeId) -> None:
        known = self.delivered[k]
        self.cb[k] = {sender: x for sender, x in self.cb[k].items() if known[sender] < x}

    def held(self) -> int:
        return len(self.queue)

    def state_ints(self) -> int:
        return self.n * self.n + 2 * sum(map(len, self.cb))


def size(packet: Data, own: None) -> ControlSize:
    tuples = sum(len(row) - 1 for row in packet.rows) // 2
    rows = len(packet.rows)
    dests = set_from_wire(packet.dests).bit_count()
    return ControlSize(ints=3 + dests + 2 * rows + 2 * tuples, units=tuples, entries=rows)


def well_formed(packet: Data, own: None, n: int) -> bool:
    """Rows are a process and pairs whose first is a process; destinations are processes."""
    return set_from_wire(packet.dests) < 1 << n and all(
        len(row) % 2 == 1 and row[0] < n and max(row[1::2], default=0) < n for row in packet.rows
    )


ALGORITHM = Algorithm(
    name="prs",
    title="Prakash-Raynal-Singhal causal barriers",
    paper="PRS section 5.2",
    roles={Role.PROCESS: Process},
    packets=(Data,),
    size=size,
    well_formed=well_formed,
    refuses_self="PRS section 5.1 assumes that the sender is no destination",
)
