"""The audit of a trace as events by node: the order between nodes is worked out here.

A node's own events are in order; between nodes, a send comes before everything that is about its
message. The oracle is told of all of them in one order that respects both.
"""

from __future__ import annotations

from typing import NamedTuple

from testbed.core.algorithm import Guarantee
from testbed.core.garbage import rare_collections
from testbed.core.model import MessageId, Nanos, NodeId
from testbed.trace.oracle import Oracle
from testbed.trace.schema import Event
from testbed.trace.verdict import Audit

_SEND, _RECEIVE, _DELIVER = Event.SEND, Event.RECEIVE, Event.DELIVER
_FORWARD, _CRASH = Event.FORWARD, Event.CRASH
_WAIVED = "disconnected"
ABSENCES = (Event.DISCONNECT, Event.CONNECT)
"""Events of a host that are about no message; their message is NOTHING."""
NOTHING: MessageId = (-1, -1)


class TraceEvent(NamedTuple):
    """What the oracle reads of one row."""

    event: Event
    message: MessageId
    dests: tuple[NodeId, ...]
    time: Nanos
    peer: NodeId = -1
    """Of a `forward`, `discard` or `drop`: the node that it is for; -1 is the row's own."""
    reason: str | None = None
    clock: Nanos | None = None
    deadline: Nanos | None = None


def audit_events(
    events_of: dict[NodeId, list[TraceEvent]],
    *,
    complete: bool = True,
    guarantee: Guarantee = Guarantee.CAUSAL,
) -> Audit:
    """Audit each node's events, in its own order; the order between nodes is worked out here."""
    with rare_collections():
        return _audit_events(events_of, guarantee).verdict(complete=complete)


def _audit_events(events_of: dict[NodeId, list[TraceEvent]], guarantee: Guarantee) -> Oracle:
    nodes = set(events_of)
    for events in events_of.values():
        nodes.update(node for event in events if event.dests for node in event.dests)
    oracle = Oracle(nodes, guarantee)
    for node, events in events_of.items():
        if events and events[-1].event is Event.CRASH and events[-1].reason == "killed":
            oracle.kill(node)
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
            kind, message, dests, time, peer, reason, clock, deadline = events[at]
            if kind is _SEND:
                oracle.send(node, message, dests)
                if deadline is not None:
                    oracle.expire(message, deadline)
                sent.add(message)
                runnable += waiting.pop(message, ())
            elif kind is _CRASH:
                oracle.crash(node)
            elif message not in sent and message in ever_sent:
                waiting.setdefault(message, []).append(node)
                break
            elif kind is _RECEIVE:
                oracle.receive(node, message, time)
            elif kind is _DELIVER:
                oracle.deliver(node, message, time, clock)
            elif kind is _FORWARD:
                oracle.forward(node, message, peer, time)
            elif kind in ABSENCES:
                oracle.moved(node, kind, peer, time)
            elif reason == _WAIVED:
                oracle.waive(peer, message)
            else:
                oracle.give_up(node if peer < 0 else peer, message)
            at += 1
        position[node] = at
    return oracle
