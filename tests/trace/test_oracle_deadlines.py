"""The oracle on deadline-causal order: what may be skipped, what may not be late, who is owed."""

from __future__ import annotations

from testbed.core.algorithm import Guarantee
from testbed.core.model import NodeId
from testbed.trace.events import TraceEvent, audit_events
from testbed.trace.oracle import Audit, Fault, Verdict
from testbed.trace.schema import Event

M1, M2 = (0, 1), (1, 1)


def send(message: tuple[int, int], dests: tuple[NodeId, ...], deadline: int | None = 100):
    return TraceEvent(Event.SEND, message, dests, 0, deadline=deadline)


def receive(message: tuple[int, int], time: int = 1):
    return TraceEvent(Event.RECEIVE, message, (), time)


def deliver(message: tuple[int, int], clock: int = 50):
    return TraceEvent(Event.DELIVER, message, (), clock, clock=clock)


def discard(message: tuple[int, int], reason: str = "overtaken"):
    return TraceEvent(Event.DISCARD, message, (), 60, -1, reason)


def chain(*at_two: TraceEvent, last: int = 100) -> dict[NodeId, list[TraceEvent]]:
    """m0.1 causally precedes m1.1; node 2 is owed both, and does what it is told."""
    return {
        0: [send(M1, (1, 2)), deliver(M2)],
        1: [receive(M1), deliver(M1, 1), send(M2, (0, 2), last)],
        2: list(at_two),
    }


def judged(events: dict[NodeId, list[TraceEvent]]) -> Audit:
    return audit_events(events, guarantee=Guarantee.DEADLINE)


SKIPPED = (receive(M2), deliver(M2), receive(M1, 55), discard(M1))


def test_a_message_that_is_skipped_and_discarded_is_no_fault() -> None:
    audit = judged(chain(*SKIPPED))
    assert audit.verdict is Verdict.VALID
    assert (audit.delivered, audit.explained, audit.undelivered) == (3, 1, 0)


def test_the_same_skip_is_a_fault_where_causal_order_is_promised() -> None:
    audit = audit_events(chain(*SKIPPED))
    assert audit.verdict is Verdict.INVALID
    assert audit.findings[0].fault is Fault.LIVENESS


def test_delivering_a_skipped_message_later_is_an_inversion() -> None:
    audit = judged(chain(receive(M2), deliver(M2), receive(M1, 55), deliver(M1, 56)))
    assert audit.verdict is Verdict.INVALID
    assert audit.inversions == 1
    assert audit.findings[0].fault is Fault.CAUSAL_ORDER


def test_a_delivery_after_the_deadline_is_a_fault_by_the_receivers_clock() -> None:
    at_the_deadline = chain(receive(M1), deliver(M1, 100), receive(M2), deliver(M2, 100))
    assert judged(at_the_deadline).expired == 0
    audit = judged(chain(receive(M1), deliver(M1, 101), receive(M2), deliver(M2, 99)))
    assert audit.verdict is Verdict.INVALID
    assert (audit.expired, audit.findings[0].fault) == (1, Fault.DEADLINE)
    assert "m0.1 was delivered at p2 0.000 ms after its deadline" in audit.why


def test_a_message_delivered_twice_is_a_fault_still() -> None:
    audit = judged(chain(receive(M1), deliver(M1), deliver(M1), receive(M2), deliver(M2)))
    assert audit.verdict is Verdict.INVALID
    assert audit.duplicates == 1


def test_what_nobody_explains_is_counted_and_no_fault() -> None:
    audit = judged(chain(receive(M2), deliver(M2), receive(M1, 55)))
    assert audit.verdict is Verdict.VALID
    assert (audit.explained, audit.undelivered) == (0, 1)
    assert "1 without" in audit.why


def test_a_lost_copy_explains_a_delivery_that_never_was() -> None:
    events = chain(receive(M2), deliver(M2))
    events[0].append(TraceEvent(Event.DROP, M1, (), 0, 2, "loss"))
    assert judged(events | {1: [*events[1]]}).explained == 1


def test_without_any_deadline_nothing_was_tested() -> None:
    events = chain(*SKIPPED, last=None)  # type: ignore[arg-type]
    events[0][0] = send(M1, (1, 2), None)
    audit = judged(events)
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert "no message had a deadline" in audit.why


def test_in_order_all_the_way_nothing_was_tested() -> None:
    audit = judged(chain(receive(M1), deliver(M1, 1), receive(M2), deliver(M2, 1)))
    assert audit.verdict is Verdict.INCONCLUSIVE


def crash(reason: str | None = None) -> TraceEvent:
    return TraceEvent(Event.CRASH, (-1, -1), (), 70, reason=reason)


def test_a_crashed_receiver_and_a_crashed_sender_owe_and_are_owed_nothing() -> None:
    receiver = audit_events(chain(receive(M2), receive(M1, 2), crash()))
    assert (receiver.crashed, receiver.unowed, receiver.undelivered) == (1, 2, 0)
    events = chain(receive(M2), deliver(M2))
    events[0].append(crash())
    sender = audit_events(events)
    assert (sender.crashed, sender.unowed, sender.undelivered) == (1, 1, 0)


def test_a_crash_excuses_no_inversion() -> None:
    events = chain(receive(M2), deliver(M2), receive(M1, 55), deliver(M1, 56))
    events[0].append(crash())
    audit = audit_events(events)
    assert audit.verdict is Verdict.INVALID
    assert audit.inversions == 1


def test_what_a_killed_actor_sent_in_its_last_moment_is_counted_apart() -> None:
    events = chain(receive(M1), deliver(M1), receive(M2), deliver(M2))
    del events[1][-1]  # the row of its send died with it
    stranger = audit_events(events)
    assert (stranger.strangers, stranger.unrecorded) == (2, 0)
    events[1].append(crash("killed"))
    audit = audit_events(events)
    assert (audit.strangers, audit.unrecorded) == (0, 2)
