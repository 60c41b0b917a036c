"""PRS section 5.2 step by step, with sets of tuples and no thought for speed: the print itself."""

from __future__ import annotations

from testbed.core.model import NodeId

Tuples = set[tuple[NodeId, int]]


def union_max(first: Tuples, second: Tuples) -> Tuples:
    both = first | second
    return {(i, x) for i, x in both if not any(i == j and x < y for j, y in both)}


def minus_max(first: Tuples, second: Tuples) -> Tuples:
    return {(i, x) for i, x in first if not any(i == j and x <= y for j, y in second)}


class PrintedProcess:
    """P_i with sent_i, Delivered_i and CB_i under their printed indices."""

    def __init__(self, i: NodeId, n: int) -> None:
        self.i, self.n = i, n
        self.sent = 0
        self.delivered = {(j, k): 0 for j in range(n) for k in range(n)}
        self.cb: list[Tuples] = [set() for _ in range(n)]

    def send(self, destination: tuple[NodeId, ...]) -> list[Tuples]:
        """The barrier that travels."""
        self.sent += 1
        travelling = [set(row) for row in self.cb]
        for j in destination:
            self.cb[j] = {(self.i, self.sent)}
        return travelling

    def may_deliver(self, cb_m: list[Tuples]) -> bool:
        return all(self.delivered[k, self.i] >= x for k, x in cb_m[self.i])

    def deliver(
        self, j: NodeId, sent_m: int, destination: tuple[NodeId, ...], cb_m: list[Tuples]
    ) -> None:
        everybody = range(self.n)
        self.delivered[j, self.i] = sent_m  # 3
        for k, y in cb_m[j]:  # 4
            self.delivered[k, j] = max(self.delivered[k, j], y)
        for k in destination:  # 5
            self.cb[k] = minus_max(union_max(self.cb[k], {(j, sent_m)}), cb_m[k])
        for k in set(everybody) - {*destination, j}:  # 6
            self.cb[k] = union_max(self.cb[k], cb_m[k])
        self.cb[j] = minus_max(self.cb[j], cb_m[j])  # 7
        for k in set(everybody) - {self.i}:  # 8
            self.cb[k] = {(h, x) for h, x in self.cb[k] if self.delivered[h, k] < x}
