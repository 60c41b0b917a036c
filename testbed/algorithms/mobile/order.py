"""Causal order among stations: RST as in rst.py, as one MSS has it (AV 5.1).

Every packet between stations carries the matrix of its sender, the packet itself counted for all
its destinations, and waits at its receiver until all that the matrix speaks of has come there.
This file knows neither hosts nor hand-offs, nor how packets travel.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from testbed.core.holdback import HoldBackQueue
from testbed.core.matrix import newest_rows
from testbed.core.model import Count, Message
from testbed.core.node import Packet

Matrix = list[Count]
"""MSS_SENT row by row: [k * n_s + l] is how many packets s_k has sent to s_l."""


class Ordered(Packet, frozen=True):
    """A packet that passes through the causal order among stations."""

    sent: Matrix
    lanes: list[Count]
    """From and to which logical station of the two (av3); empty where a station is only one."""


class Received(NamedTuple):
    """A packet in MSS_PENDING."""

    source: int
    packet: Ordered
    message: Message | None


class Order:
    """The arrays of one MSS."""

    def __init__(self, me: int, n_s: int) -> None:
        self.me = me
        self.n_s = n_s
        self.deliv = [0] * n_s  # MSS_DELIV
        self.sent = [0] * (n_s * n_s)  # MSS_SENT
        self.pending: HoldBackQueue[Received] = HoldBackQueue(self.deliv)  # MSS_PENDING

    def count(self, targets: Collection[int]) -> Matrix:
        """One packet to each of these is about to leave; what all of them carry."""
        for target in targets:
            self.sent[self.me * self.n_s + target] += 1
        return self.sent.copy()

    def hold(self, received: Received) -> None:
        """Deliverable when MSS_DELIV[k] >= ST[k, me] for all k, the packet itself not counted."""
        column = received.packet.sent[self.me :: self.n_s]
        column[received.source] -= 1
        self.pending.hold(received, enumerate(column))

    def next(self) -> Received | None:
        """The next packet whose time has come."""
        ready = self.pending.pop()
        if ready is not None:
            self.deliv[ready.source] += 1
            self.sent = newest_rows(self.sent, ready.packet.sent, self.n_s)
            self.pending.advanced(ready.source)
        return ready

    def state_ints(self) -> int:
        """MSS_DELIV, MSS_SENT, and the matrices of what is pending."""
        return self.n_s + self.n_s * self.n_s * (1 + len(self.pending))
