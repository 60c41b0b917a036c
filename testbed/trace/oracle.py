"""The oracle: happened-before rebuilt from the trace alone, and a verdict.

It trusts one thing, the order of each node's own events (`seq`), and knows no algorithm. A message
is stamped with the vector of sends in its causal past, itself counted; m' happened before m when
m's stamp reaches the position of m' among its origin's sends. One vector maximum per delivery finds
every inversion: a delivery is one if something delivered before it had it in its past.

Under Guarantee.DEADLINE a message may be skipped, never delivered late: inversions and duplicates
count as ever, a delivery after the message's own deadline by the receiver's clock is wrong, and
what is owed and not delivered should be explained by a discard, a lost copy or a crash; what is not
is counted and no fault. Whatever the guarantee, nothing is owed to or by a node that crashes:
agreement among the others on what it last sent is not promised, order and exactly-once are.

Verdicts: `invalid` if anything is wrong; `inconclusive` if nothing is, but no copy ever arrived out
of causal order and none was held, so that nothing was put to the test; else `valid`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from testbed.core.algorithm import Guarantee
from testbed.core.model import MessageId, Nanos, NodeId
from testbed.trace.recorder import Witness
from testbed.trace.schema import Event
from testbed.trace.verdict import (
    FINDINGS_MAX,
    Audit,
    Evidence,
    Fault,
    Finding,
    Verdict,
    judge,
    name,
)
from testbed.trace.waivers import Waivers

__all__ = [
    "FINDINGS_MAX",
    "Audit",
    "Evidence",
    "Fault",
    "Finding",
    "Oracle",
    "Verdict",
]

_maximum = np.maximum


class _Sent(NamedTuple):
    origin: int
    position: int
    """How-manieth send of its origin, by the origin's own order."""
    stamp: np.ndarray
    """For each node how many of its sends are in the past of this one, which is counted too."""
    dests: frozenset[NodeId]


class Oracle(Witness):
    """Takes events in an order that respects causality; `verdict` ends it."""

    def __init__(self, nodes: Iterable[NodeId], guarantee: Guarantee = Guarantee.CAUSAL) -> None:
        self._may_skip = guarantee is Guarantee.DEADLINE
        self._index = {node: i for i, node in enumerate(sorted(nodes))}
        n = len(self._index)
        self._sent: dict[MessageId, _Sent] = {}
        self._sends = [0] * n
        # The maximum of the stamps of all that a node has delivered, and of all that reached it.
        self._known = list(np.zeros((n, n), dtype=np.int64))
        self._arrived_horizon = list(np.zeros((n, n), dtype=np.int64))
        self._arrived: list[dict[MessageId, Nanos]] = [{} for _ in range(n)]
        self._delivered: list[dict[MessageId, None]] = [{} for _ in range(n)]  # in this order
        self._passed_horizon: dict[tuple[NodeId, NodeId], np.ndarray] = {}  # by station and host
        self._waivers = Waivers()
        self._given_up: set[tuple[NodeId, MessageId]] = set()
        self._deadlines: dict[MessageId, Nanos] = {}
        self._down: set[NodeId] = set()
        self._killed: set[NodeId] = set()
        self._result = Audit(verdict=Verdict.VALID, why="")

    def send(self, node: NodeId, message: MessageId, dests: tuple[NodeId, ...]) -> None:
        if message in self._sent:
            self._result.duplicates += 1
            self._find(
                Fault.EXACTLY_ONCE, node, message, f"{name(message)} was sent more than once"
            )
            return
        i = self._index[node]
        position = self._sends[i] = self._sends[i] + 1
        stamp = self._known[i].copy()
        stamp[i] = position
        owed = frozenset(dests)
        self._sent[message] = _Sent(i, position, stamp, owed)
        self._result.messages += 1
        self._result.owed += len(owed)

    def receive(self, node: NodeId, message: MessageId, time: Nanos) -> None:
        i = self._index[node]
        arrived = self._arrived[i]
        sent = self._sent.get(message)
        if sent is None or message in arrived:
            return
        arrived[message] = time
        origin, position, stamp, dests = sent
        if node not in dests:
            self._pass_through(node, sent)
            return
        horizon = self._arrived_horizon[i]
        if horizon.item(origin) >= position:
            self._result.evidence.arrived_out_of_order += 1
        _maximum(horizon, stamp, out=horizon)

    def _pass_through(self, node: NodeId, sent: _Sent) -> None:
        """A copy at a station: out of order if something for a common destination overtook it."""
        is_late = False
        for to in sent.dests:
            horizon = self._passed_horizon.get((node, to))
            if horizon is None:
                self._passed_horizon[node, to] = sent.stamp.copy()
                continue
            is_late |= horizon.item(sent.origin) >= sent.position
            _maximum(horizon, sent.stamp, out=horizon)
        self._result.evidence.arrived_out_of_order += is_late

    def forward(self, node: NodeId, message: MessageId, to: NodeId, time: Nanos) -> None:
        """A station passes a copy on to its destination; it was held if it came earlier."""
        sent = self._sent.get(message)
        if sent is not None and to in sent.dests:
            self._count_held(time - self._arrived[self._index[node]].get(message, time))

    def waive(self, node: NodeId, message: MessageId) -> None:
        """A message that is no longer owed to this node: it was away, and nobody keeps messages."""
        self._waivers.give_up(node, message)

    def moved(self, node: NodeId, event: Event, peer: NodeId, time: Nanos) -> None:
        """A host changed its cell, or a station took one over; only absences matter here."""
        if event is Event.DISCONNECT:
            self._waivers.part(node)
        elif event is Event.CONNECT:
            self._waivers.come_back(node, self._sends[self._index[node]])

    def messages(self) -> Iterable[MessageId]:
        """All that were sent."""
        return self._sent

    def destinations(self, message: MessageId) -> frozenset[NodeId]:
        sent = self._sent.get(message)
        return frozenset() if sent is None else sent.dests

    def missing(self, message: MessageId) -> list[NodeId]:
        """Destinations that have not got it yet."""
        delivered, index = self._delivered, self._index
        return [d for d in self._sent[message].dests if message not in delivered[index[d]]]

    def expire(self, message: MessageId, deadline: Nanos) -> None:
        self._deadlines[message] = deadline

    def give_up(self, node: NodeId, message: MessageId) -> None:
        """Some copy for this node is accounted for: lost, refused or discarded."""
        self._given_up.add((node, message))

    def crash(self, node: NodeId) -> None:
        self._down.add(node)

    def kill(self, node: NodeId) -> None:
        """This node will be found to have crashed, and its trace may end before it did."""
        self._killed.add(node)
        self._down.add(node)

    def deliver(
        self, node: NodeId, message: MessageId, time: Nanos, clock: Nanos | None = None
    ) -> None:
        sent = self._sent.get(message)
        if sent is None and message[0] in self._killed:
            self._result.unrecorded += 1
            return
        if sent is None or node not in sent.dests:
            self._stranger(node, message, sent)
            return
        i = self._index[node]
        delivered = self._delivered[i]
        if message in delivered:
            self._result.duplicates += 1
            prose = f"{name(message)} was delivered at p{node} more than once"
            self._find(Fault.EXACTLY_ONCE, node, message, prose)
            return
        if self._may_skip and clock is not None:
            self._check_deadline(node, message, clock)
        origin, position, stamp, _ = sent
        known = self._known[i]
        if known.item(origin) >= position:
            self._result.inversions += 1
            if len(self._result.findings) < FINDINGS_MAX:
                self._find(Fault.CAUSAL_ORDER, node, message, self._inversion(i, node, message))
        delivered[message] = None
        _maximum(known, stamp, out=known)
        self._count_held(time - self._arrived[i].get(message, time))

    def _check_deadline(self, node: NodeId, message: MessageId, clock: Nanos) -> None:
        late = clock - self._deadlines.get(message, clock)
        if late > 0:
            self._result.expired += 1
            prose = (
                f"{name(message)} was delivered at p{node} {late / 1e6:.3f} ms after its deadline, "
                f"by p{node}'s clock"
            )
            self._find(Fault.DEADLINE, node, message, prose)

    def _count_held(self, waited: Nanos) -> None:
        if waited > 0:
            evidence = self._result.evidence
            evidence.held += 1
            evidence.held_ns_total += waited
            evidence.held_ns_max = max(evidence.held_ns_max, waited)

    def verdict(self, *, complete: bool = True) -> Audit:
        """Judge; `complete` is false for a run that was cut short, where messages may be owed."""
        result = self._result
        result.delivered = sum(map(len, self._delivered))
        self._judge_waivers()
        result.crashed = len(self._down)
        if self._down or (self._may_skip and result.delivered < result.owed):
            self._account()
        result.undelivered = (
            result.owed - result.delivered - result.waived - result.unowed - result.explained
        )
        missing = result.undelivered if complete and not self._may_skip else 0
        if missing:
            self._find_undelivered()
        judge(
            result,
            may_skip=self._may_skip,
            missing=missing,
            saw_arrivals=any(self._arrived),
            saw_deadlines=bool(self._deadlines),
        )
        return result

    def _account(self) -> None:
        """Why what was owed was not delivered: a crash at either end, or a copy given up."""
        result = self._result
        for message, sent in self._sent.items():
            for node in self._missing_at(message, sent):
                if not self._is_owed(message, node):
                    result.unowed += 1
                elif self._may_skip and (node, message) in self._given_up:
                    result.explained += 1

    def _is_owed(self, message: MessageId, node: NodeId) -> bool:
        return node not in self._down and message[0] not in self._down

    def _missing_at(self, message: MessageId, sent: _Sent) -> list[NodeId]:
        """The destinations that did not get a message, and were not left without it on purpose."""
        return [
            node
            for node in sorted(sent.dests)
            if (node, message) not in self._waivers
            and (node not in self._index or message not in self._delivered[self._index[node]])
        ]

    def _judge_waivers(self) -> None:
        """What was owed, was not delivered, and need not be any more, if the host was away."""
        for node, message in self._waivers.all():
            sent = self._sent.get(message)
            if sent is None or node not in sent.dests:
                continue
            why = self._waivers.objection(node, sent.stamp.item(self._index[node]))
            if why is not None:
                self._waivers.remove(node, message)
                self._result.groundless += 1
                prose = f"{name(message)} was given up for p{node}, {why}"
                self._find(Fault.WAIVER, node, message, prose)
            elif message not in self._delivered[self._index[node]]:
                self._result.waived += 1

    # --- explanations -------------------------------------------------------------------------

    def _find(self, fault: Fault, node: NodeId, message: MessageId, prose: str) -> None:
        if len(self._result.findings) < FINDINGS_MAX:
            self._result.findings.append(Finding(fault, node, message, prose))

    def _stranger(self, node: NodeId, message: MessageId, sent: _Sent | None) -> None:
        why = "was never sent" if sent is None else f"was not addressed to p{node}"
        self._result.strangers += 1
        self._find(Fault.STRANGER, node, message, f"{name(message)} {why}")

    def _find_undelivered(self) -> None:
        for message, sent in self._sent.items():
            for node in self._missing_at(message, sent):
                if not self._is_owed(message, node):
                    continue
                state = "never arrived at"
                if node in self._index and message in self._arrived[self._index[node]]:
                    state = "arrived, but was never delivered at"
                self._find(Fault.LIVENESS, node, message, f"{name(message)} {state} p{node}")
                if len(self._result.findings) >= FINDINGS_MAX:
                    return

    def _inversion(self, i: int, node: NodeId, late: MessageId) -> str:
        """Why `late` should have come before something that node delivered already."""
        sent = self._sent[late]
        early = next(
            message
            for message in self._delivered[i]
            if self._sent[message].stamp[sent.origin] >= sent.position
        )
        chain = " -> ".join(self._chain(late, early))
        return f"{name(early)} was delivered at p{node} before {name(late)}, but {chain}"

    def _chain(self, first: MessageId, last: MessageId) -> list[str]:
        """A path from the send of `first` to the send of `last`, walked backwards by stamps."""
        origin, position = self._sent[first].origin, self._sent[first].position
        nodes = list(self._index)
        links = [f"send {name(last)}"]
        current = self._sent[last]
        while current.origin != origin:
            carrier = next(
                message
                for message in self._delivered[current.origin]
                if self._sent[message].stamp[origin] >= position
            )
            links.append(f"deliver {name(carrier)} at p{nodes[current.origin]}")
            if carrier == first:
                break
            links.append(f"send {name(carrier)}")
            current = self._sent[carrier]
        links.append(f"send {name(first)}")
        return links[::-1]
