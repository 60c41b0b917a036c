"""A message may be given up for a host that is disconnected, and for no other."""

from __future__ import annotations

from testbed.trace.events import NOTHING, TraceEvent, audit_events
from testbed.trace.oracle import Audit, Fault, Verdict
from testbed.trace.schema import Event

STATION, HOST, OTHER = 0, 1, 2
LOST, KNOWN, LATER = (2, 1), (1, 1), (2, 2)


def send(message: tuple[int, int], *dests: int) -> TraceEvent:
    return TraceEvent(Event.SEND, message, dests, 0)


def deliver(message: tuple[int, int]) -> TraceEvent:
    return TraceEvent(Event.DELIVER, message, (), 0)


def move(event: Event) -> TraceEvent:
    return TraceEvent(event, NOTHING, (), 0, STATION)


def give_up(message: tuple[int, int]) -> TraceEvent:
    return TraceEvent(Event.DISCARD, message, (), 0, HOST, "disconnected")


def judge(at_host: list[TraceEvent], at_other: list[TraceEvent], *given_up: TraceEvent) -> Audit:
    return audit_events({STATION: list(given_up), HOST: at_host, OTHER: at_other})


def test_a_message_for_a_disconnected_host_may_be_given_up() -> None:
    audit = judge([move(Event.DISCONNECT)], [send(LOST, HOST)], give_up(LOST))
    assert (audit.waived, audit.undelivered, audit.groundless, audit.findings) == (1, 0, 0, [])


def test_a_message_for_a_host_that_never_disconnected_may_not() -> None:
    for rows in ([], [move(Event.LEAVE), move(Event.ENTER)]):
        audit = judge(rows, [send(LOST, HOST)], give_up(LOST))
        assert audit.verdict is Verdict.INVALID
        assert audit.findings[0].fault is Fault.WAIVER
        assert audit.why == "m2.1 was given up for p1, which never disconnected"
        assert (audit.waived, audit.undelivered, audit.groundless) == (0, 1, 1)


def test_a_station_need_not_know_at_once_that_a_host_is_back() -> None:
    rows = [move(Event.DISCONNECT), move(Event.CONNECT)]
    assert judge(rows, [send(LOST, HOST)], give_up(LOST)).groundless == 0


def test_what_depends_on_a_message_sent_after_the_return_may_not_be_given_up() -> None:
    rows = [move(Event.DISCONNECT), move(Event.CONNECT), send(KNOWN, OTHER)]
    audit = judge(rows, [deliver(KNOWN), send(LOST, HOST)], give_up(LOST))
    assert audit.why.startswith("m2.1 was given up for p1, which had come back")
    before = [rows[2], *rows[:2]]
    assert judge(before, [deliver(KNOWN), send(LOST, HOST)], give_up(LOST)).groundless == 0


def test_a_later_absence_is_a_ground_again() -> None:
    rows = [move(Event.DISCONNECT), move(Event.CONNECT), send(KNOWN, OTHER), move(Event.DISCONNECT)]
    assert judge(rows, [deliver(KNOWN), send(LOST, HOST)], give_up(LOST)).groundless == 0


def test_what_was_given_up_and_delivered_all_the_same_is_not_counted() -> None:
    rows = [move(Event.DISCONNECT), move(Event.CONNECT), deliver(LOST)]
    audit = judge(rows, [send(LOST, HOST), send(LATER, HOST)], give_up(LOST), give_up(LATER))
    assert (audit.waived, audit.delivered, audit.undelivered) == (1, 1, 0)
