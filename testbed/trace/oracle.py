"""The oracle: happened-before rebuilt from the trace alone, and a verdict.

It trusts one thing, the order of each node's own events (`seq`), and knows no algorithm. A message
is stamped with the vector of sends in its causal past, itself counted; m' happened before m when
m's stamp reaches the position of m' among its origin's sends. One vector maximum per delivery finds
every inversion: a delivery is one if something delivered before it had it in its past.

Verdicts: `invalid` if anything is wrong; `inconclusive` if nothing is, but no copy ever arrived out
of causal order and none was held, so that nothing was put to the test; else `valid`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np

from testbed.core.garbage import rare_collections
from testbed.core.model import MessageId, Nanos, NodeId
from testbed.trace.recorder import Witness
from testbed.trace.schema import Event

_SEND, _RECEIVE, _DELIVER = Event.SEND, Event.RECEIVE, Event.DELIVER
_FORWARD = Event.FORWARD
_maximum = np.maximum

FINDINGS_MAX = 100
"""Findings kept with their prose; all are counted."""


class Verdict(enum.StrEnum):
    VALID = "valid"
    INVALID = "invalid"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> int:
        return {"valid": 0, "invalid": 1, "inconclusive": 2}[self.value]


class Fault(enum.StrEnum):
    """What can be wrong with a trace."""

    CAUSAL_ORDER = "causal order"
    EXACTLY_ONCE = "exactly once"
    LIVENESS = "liveness"
    STRANGER = "stranger"
    """Delivered to a node that is no destination, or never sent at all."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, where, and why, in prose."""

    fault: Fault
    node: NodeId
    message: MessageId
    prose: str


class Evidence(msgspec.Struct):
    """How much the run put to the test: without any of it, order proves nothing."""

    arrived_out_of_order: int = 0
    """Copies that arrived after a copy that they causally precede."""
    held: int = 0
    """Deliveries later than the copy's arrival."""
    held_ns_total: int = 0
    held_ns_max: int = 0


class Audit(msgspec.Struct, kw_only=True):
    """The oracle's whole answer."""

    verdict: Verdict
    why: str
    messages: int = 0
    owed: int = 0
    delivered: int = 0
    inversions: int = 0
    duplicates: int = 0
    undelivered: int = 0
    waived: int = 0
    """Dropped because their host was disconnected and stations keep nothing; not owed."""
    strangers: int = 0
    evidence: Evidence = msgspec.field(default_factory=Evidence)
    findings: list[Finding] = msgspec.field(default_factory=list)


class _Sent(NamedTuple):
    origin: int
    position: int
    """How-manieth send of its origin, by the origin's own order."""
    stamp: np.ndarray
    """For each node how many of its sends are in the past of this one, which is counted too."""
    dests: frozenset[NodeId]


def name(message: MessageId) -> str:
    """m<origin>.<number>, as findings write messages."""
    return f"m{message[0]}.{message[1]}"


class Oracle(Witness):
    """Takes events in an order that respects causality; `verdict` ends it."""

    def __init__(self, nodes: Iterable[NodeId]) -> None:
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
        self._waived: set[tuple[NodeId, MessageId]] = set()
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
        self._waived.add((node, message))

    def moved(self, node: NodeId, event: Event, peer: NodeId, time: Nanos) -> None:
        """A host changed its cell, or a station took one over: nothing that orders messages."""

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

    def deliver(self, node: NodeId, message: MessageId, time: Nanos) -> None:
        sent = self._sent.get(message)
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
        origin, position, stamp, _ = sent
        known = self._known[i]
        if known.item(origin) >= position:
            self._result.inversions += 1
            if len(self._result.findings) < FINDINGS_MAX:
                self._find(Fault.CAUSAL_ORDER, node, message, self._inversion(i, node, message))
        delivered[message] = None
        _maximum(known, stamp, out=known)
        self._count_held(time - self._arrived[i].get(message, time))

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
        result.waived = self._count_waived()
        result.undelivered = result.owed - result.delivered - result.waived
        if result.undelivered and complete:
            self._find_undelivered()
        faults = result.inversions + result.duplicates + result.strangers
        evidence = result.evidence
        if faults or (result.undelivered and complete):
            result.verdict = Verdict.INVALID
            result.why = result.findings[0].prose
        elif result.undelivered:
            result.verdict = Verdict.INCONCLUSIVE
            result.why = f"the run was cut short and {result.undelivered} deliveries are owed"
        elif not any(self._arrived):
            result.verdict = Verdict.INCONCLUSIVE
            result.why = "nothing shows in which order copies arrived (no receive rows)"
        elif not evidence.arrived_out_of_order and not evidence.held:
            result.verdict = Verdict.INCONCLUSIVE
            result.why = "no copy arrived out of causal order and none was held: nothing was tested"
        else:
            result.verdict = Verdict.VALID
            result.why = (
                f"{result.delivered} deliveries in causal order, each exactly once, none missing; "
                f"{evidence.arrived_out_of_order} copies arrived out of causal order, "
                f"{evidence.held} messages were held"
            )
        return result

    def _count_waived(self) -> int:
        """What was owed, was not delivered, and need not be any more."""
        return sum(
            message in self._sent
            and node in self._sent[message].dests
            and message not in self._delivered[self._index[node]]
            for node, message in self._waived
        )

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
            for node in sorted(sent.dests):
                if (node, message) in self._waived:
                    continue
                if node not in self._index or message not in self._delivered[self._index[node]]:
                    state = "never arrived at"
                    if node in self._index and message in self._arrived[self._index[node]]:
                        state = "arrived, but was never delivered at"
                    prose = f"{name(message)} {state} p{node}"
                    self._find(Fault.LIVENESS, node, message, prose)
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


class TraceEvent(NamedTuple):
    """What the oracle reads of one row."""

    event: Event
    message: MessageId
    dests: tuple[NodeId, ...]
    time: Nanos
    peer: NodeId = -1
    """Of a `forward` or `discard`: the host that it is for."""


def audit_events(events_of: dict[NodeId, list[TraceEvent]], *, complete: bool = True) -> Audit:
    """Audit each node's events, in its own order; the order between nodes is worked out here."""
    with rare_collections():
        return _audit_events(events_of).verdict(complete=complete)


def _audit_events(events_of: dict[NodeId, list[TraceEvent]]) -> Oracle:
    nodes = set(events_of)
    for events in events_of.values():
        nodes.update(node for event in events if event.dests for node in event.dests)
    oracle = Oracle(nodes)
    position = dict.fromkeys(events_of, 0)
    sent: set[MessageId] = set()
    ever_sent = {e.message for events in events_of.values() for e in events if e.event is _SEND}
    waiting: dict[MessageId, list[NodeId]] = {}
    runnable = sorted(events_of, reverse=True)
    while runnable or waiting:
        if not runnable:  # a circle: something was delivered before it was sent; go on with it
            message = min(waiting)
            runnable = waiting.pop(message)
            sent.add(message)
        node = runnable.pop()
        events, at = events_of[node], position[node]
        while at < len(events):
            kind, message, dests, time, peer = events[at]
            if kind is _SEND:
                oracle.send(node, message, dests)
                sent.add(message)
                runnable += waiting.pop(message, ())
            elif message not in sent and message in ever_sent:
                waiting.setdefault(message, []).append(node)
                break
            elif kind is _RECEIVE:
                oracle.receive(node, message, time)
            elif kind is _DELIVER:
                oracle.deliver(node, message, time)
            elif kind is _FORWARD:
                oracle.forward(node, message, peer, time)
            else:
                oracle.waive(peer, message)
            at += 1
        position[node] = at
    return oracle
