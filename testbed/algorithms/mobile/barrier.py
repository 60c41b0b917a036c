"""The causal barrier of PRS 5.2 for one process, kept and moved by a station on its behalf.

The steps of static/prs.py, whose tests say what each is for, on rows that hold only what is not
zero: a matrix of n*n integers per host would have to cross the wires at every hand-off. Hosts are
the only destinations, so rows exist for hosts alone. This file knows neither packets nor stations.
"""

from __future__ import annotations

from testbed.core.model import Count, NodeId

Row = dict[NodeId, int]
"""sender -> number of its message."""

Rows = list[list[Count]]
"""Rows as they travel: each that is not empty as [k, sender, number, sender, number, ...]."""


class Past:
    """sent_i, CB_i and Delivered_i of one process."""

    def __init__(self, me: NodeId) -> None:
        self.me = me
        self.sent = 0
        self.cb: dict[NodeId, Row] = {}
        self.delivered: dict[NodeId, Row] = {me: {}}
        self.tuples = 0
        """In CB_i; counted here, since the Shell asks after every event."""

    def send(self, dests: list[NodeId]) -> tuple[int, Rows]:
        """sent_M and CB_M of the next message."""
        self.sent += 1  # step 1
        rows = to_wire(self.cb)  # step 2: the barrier from before step 3
        for d in dests:  # step 3: M stands for everything before it
            self.cb[d] = {self.me: self.sent}
        self._count()
        return self.sent, rows

    def is_satisfied(self, rows: Rows) -> bool:
        """Step 1 of the receipt: this process has what CB_M[i] demands."""
        known = self.delivered[self.me]
        for row in rows:
            if row[0] == self.me:
                return all(known.get(j, 0) >= x for j, x in _pairs(row))
        return True

    def deliver(self, j: NodeId, number: int, dests: list[NodeId], rows: Rows) -> None:
        barrier = from_wire(rows)
        self.drop(j, number)  # step 3
        known = self.delivered.setdefault(j, {})
        for k, y in barrier.get(j, {}).items():  # step 4: what j has delivered
            known[k] = max(known.get(k, 0), y)
        for k in dests:  # step 5: (j, sent_M) replaces CB_M[k]
            row = self.cb.setdefault(k, {})
            row[j] = max(number, row.get(j, 0))
            _subtract(row, barrier.get(k, {}))
        for k, needs in barrier.items():  # step 6: processes that M does not visit
            if k != j and k not in dests:
                _unite(self.cb.setdefault(k, {}), needs)
        if j in self.cb:
            _subtract(self.cb[j], barrier.get(j, {}))  # step 7: j has delivered CB_M[j]
        for k in list(self.cb):  # step 8: garbage collection
            self._collect(k)
        self._count()

    def move_in(self, sent: int, cb: dict[NodeId, Row], delivered: dict[NodeId, Row]) -> None:
        """This process comes from another station, with all that it had there."""
        self.sent, self.cb = sent, cb
        self.delivered.update(delivered)
        self._count()

    def drop(self, j: NodeId, number: int) -> None:
        """This message will not be waited for; nothing that this process sends follows it."""
        self.delivered[self.me][j] = number

    def _collect(self, k: NodeId) -> None:
        known = self.delivered.get(k, {})
        if k != self.me:
            self.cb[k] = {j: x for j, x in self.cb[k].items() if known.get(j, 0) < x}
        if not self.cb[k]:
            del self.cb[k]

    def _count(self) -> None:
        self.tuples = sum(map(len, self.cb.values()))


def _unite(row: Row, other: Row) -> None:
    """The operator union_max of 5.2: one constraint per sender, the newest."""
    for j, x in other.items():
        if row.get(j, 0) < x:
            row[j] = x


def _subtract(row: Row, other: Row) -> None:
    """The operator minus_max of 5.2: constraints up to those in `other` are satisfied."""
    for j, y in other.items():
        if row.get(j, y + 1) <= y:
            del row[j]


def _pairs(row: list[int]) -> zip[tuple[int, int]]:
    return zip(row[1::2], row[2::2], strict=True)


def to_wire(rows: dict[NodeId, Row]) -> Rows:
    """Copies, in ascending order of k."""
    return [
        [k, *(number for constraint in row.items() for number in constraint)]
        for k, row in sorted(rows.items())
        if row
    ]


def from_wire(rows: Rows) -> dict[NodeId, Row]:
    return {row[0]: dict(_pairs(row)) for row in rows}


def are_rows(rows: Rows, n: int, stations: int) -> bool:
    """Each is a host and pairs whose first is a node."""
    return all(
        len(row) % 2 == 1 and stations <= row[0] < n and max(row[1::2], default=0) < n
        for row in rows
    )
