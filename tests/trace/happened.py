"""An audit by definition: the whole happened-before relation as sets of events. Small traces only.

An event is (node, position). Its past is everything before it at its node and, for a delivery, the
send and the past of the send. Deliveries that should not be (strangers, second ones) carry nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from testbed.core.model import MessageId, NodeId
from testbed.trace.events import TraceEvent
from testbed.trace.schema import Event

Trace = dict[NodeId, list[TraceEvent]]
Point = tuple[NodeId, int]


class Counts(NamedTuple):
    inversions: int
    duplicates: int
    undelivered: int
    strangers: int
    arrived_out_of_order: int


def has_circle(trace: Trace) -> bool:
    """Whether no order of all events has every send before its receives and deliveries."""
    to_come = {event.message for events in trace.values() for event in events if _is_send(event)}
    left = {node: list(events) for node, events in trace.items()}
    while any(left.values()):
        free = [
            events
            for events in left.values()
            if events and (_is_send(events[0]) or events[0].message not in to_come)
        ]
        if not free:
            return True
        for events in free:
            event = events.pop(0)
            if _is_send(event):
                to_come.discard(event.message)
    return False


def count_faults(trace: Trace) -> Counts:
    sends = _sends(trace)
    dests = {trace[n][at].message: trace[n][at].dests for n, at in sends.values()}
    pasts: dict[Point, frozenset[Point]] = {}
    before = {
        message: {
            earlier for earlier, sent in sends.items() if sent in _past(point, trace, sends, pasts)
        }
        for message, point in sends.items()
    }
    inversions = duplicates = strangers = delivered = out_of_order = 0
    for node, events in trace.items():
        seen: list[MessageId] = []
        arrived: list[MessageId] = []
        for kind, message, *_ in events:
            if kind is Event.RECEIVE and message in sends and message not in arrived:
                out_of_order += any(message in before[earlier] for earlier in arrived)
                arrived.append(message)
            if kind is not Event.DELIVER:
                continue
            if message not in sends or node not in dests[message]:
                strangers += 1
            elif message in seen:
                duplicates += 1
            else:
                delivered += 1
                inversions += any(message in before[earlier] for earlier in seen)
                seen.append(message)
    owed = sum(len(set(nodes)) for nodes in dests.values())
    return Counts(inversions, duplicates, owed - delivered, strangers, out_of_order)


def _is_send(event: TraceEvent) -> bool:
    return event.event is Event.SEND


def _sends(trace: Trace) -> dict[MessageId, Point]:
    return {
        event.message: (node, at)
        for node, events in trace.items()
        for at, event in enumerate(events)
        if event.event is Event.SEND
    }


def _past(
    point: Point,
    trace: Trace,
    sends: dict[MessageId, Point],
    known: dict[Point, frozenset[Point]],
) -> frozenset[Point]:
    """Every event that happened before this one."""
    if point in known:
        return known[point]
    node, at = point
    past: frozenset[Point] = frozenset()
    if at:
        past |= _past((node, at - 1), trace, sends, known) | {(node, at - 1)}
    event = trace[node][at]
    if event.event is Event.DELIVER and event.message in sends:
        sent = sends[event.message]
        if node in trace[sent[0]][sent[1]].dests:
            past |= _past(sent, trace, sends, known) | {sent}
    known[point] = past
    return past
