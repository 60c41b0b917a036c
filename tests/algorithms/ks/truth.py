"""What PC1 and PC2 require, from global knowledge: who sent, who delivered, happened-before.

It reads no state of the algorithm. Every event is a bit, a causal past is a set of bits. KS 3.4:
"d in M.Dests" is open in a past if that past holds Send(M), but neither Delivery_d(M) nor a send
to d that has M in its own past. The log after event e must hold exactly what is open in the past
of e, e counted; the copy to x of a message sent at e exactly what is open in the past of e without
e, less what e's other destinations take over (FP2: each of them alone is told of itself).
(The first sufficient condition of 3.3 has lost a negation in print; 3.4 and theorem 3 have it.)
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from testbed.core.model import MessageId, NodeId
from tests.algorithms.ks.world import Dests


class Fact(NamedTuple):
    """ "d is a destination of M"."""

    message: MessageId
    d: NodeId


class Knowledge(NamedTuple):
    """All that a log or an O_M must hold: open facts, and how far each sender is known."""

    facts: frozenset[Fact]
    newest: tuple[int, ...]
    """By sender: its last message in the causal past, 0 for none."""

    def entries(self) -> dict[MessageId, frozenset[NodeId]]:
        """As entries (i, a) -> Dests: the newest of each sender even if nothing of it is open."""
        entries: dict[MessageId, set[NodeId]] = {m: set() for m in enumerate(self.newest)}
        for message, d in self.facts:
            entries.setdefault(message, set()).add(d)
        return {message: frozenset(dests) for message, dests in entries.items()}


class _Sent(NamedTuple):
    event: int
    past: int
    """Events before the send, as bits."""
    dests: Dests


class Truth:
    """The execution so far; ask it after any event."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._past = [0] * n
        self._event = 1
        self._sent: dict[MessageId, _Sent] = {}
        self._sends_to = [0] * n
        self._sends_after: dict[MessageId, int] = {}
        self._deliveries: dict[Fact, int] = {}
        self._open_before: dict[MessageId, Knowledge] = {}

    def send(self, node: NodeId, message: MessageId, dests: Dests) -> None:
        event, past = self._next_event(), self._past[node]
        for earlier, sent in self._sent.items():
            if sent.event & past:
                self._sends_after[earlier] |= event
        self._open_before[message] = self._open_in(past)
        self._sent[message] = _Sent(event, past, dests)
        self._sends_after[message] = 0
        for d in dests:
            self._sends_to[d] |= event
        self._past[node] |= event

    def deliver(self, node: NodeId, message: MessageId) -> None:
        event, sent = self._next_event(), self._sent[message]
        self._deliveries[Fact(message, node)] = event
        self._past[node] |= event | sent.event | sent.past

    def _next_event(self) -> int:
        event = self._event
        self._event <<= 1
        return event

    def log(self, node: NodeId) -> Knowledge:
        """What the log of a node must hold after its last event."""
        return self._open_in(self._past[node])

    def copy(self, message: MessageId, to: NodeId) -> Knowledge:
        """What O_M must hold in the copy of this message to this destination."""
        before = self._open_before[message]
        taken_over = set(self._sent[message].dests) - {to}
        facts = frozenset(fact for fact in before.facts if fact.d not in taken_over)
        return Knowledge(facts, before.newest)

    def _open_in(self, past: int) -> Knowledge:
        newest = [0] * self._n
        facts = []
        for message, sent in self._sent.items():
            if not sent.event & past:
                continue
            origin, number = message
            newest[origin] = max(newest[origin], number)
            sends_after = self._sends_after[message] & past
            for d in sent.dests:
                if sends_after & self._sends_to[d]:  # PC2: guaranteed to be delivered in order
                    continue
                fact = Fact(message, d)
                if not self._deliveries.get(fact, 0) & past:  # PC1: known to be delivered
                    facts.append(fact)
        return Knowledge(frozenset(facts), tuple(newest))


def differences(
    required: Knowledge, found: Mapping[MessageId, frozenset[NodeId]]
) -> dict[str, AbstractSet[object]]:
    """What is wrong with entries (i, a) -> Dests, by kind; empty if nothing is."""
    held = {Fact(message, d) for message, dests in found.items() for d in dests}
    newest = dict.fromkeys(range(len(required.newest)), -1)
    for sender, number in found:
        newest[sender] = max(newest[sender], number)
    wrong: dict[str, AbstractSet[object]] = {
        "missing": required.facts - held,
        "redundant": held - required.facts,
        "newest": {i for i, a in newest.items() if a != required.newest[i]},
        "null": {m for m, dests in found.items() if not dests and m[1] != newest[m[0]]},
    }
    return {kind: things for kind, things in wrong.items() if things}
