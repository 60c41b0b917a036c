"""The oracle on traces written by hand: each fault alone, its prose, and what proves nothing."""

from __future__ import annotations

import pytest

from testbed.trace.events import TraceEvent, audit_events
from testbed.trace.oracle import FINDINGS_MAX, Audit, Fault, Oracle, Verdict
from testbed.trace.schema import Event


def send(origin: int, number: int, *dests: int) -> TraceEvent:
    return TraceEvent(Event.SEND, (origin, number), dests, 0)


def receive(origin: int, number: int, time: int = 0) -> TraceEvent:
    return TraceEvent(Event.RECEIVE, (origin, number), (), time)


def deliver(origin: int, number: int, time: int = 0) -> TraceEvent:
    return TraceEvent(Event.DELIVER, (origin, number), (), time)


def prose(audit: Audit) -> list[str]:
    return [finding.prose for finding in audit.findings]


def test_two_messages_of_one_channel_swapped() -> None:
    audit = audit_events({0: [send(0, 1, 1), send(0, 2, 1)], 1: [deliver(0, 2), deliver(0, 1)]})
    assert audit.verdict is Verdict.INVALID
    assert (audit.inversions, audit.delivered, audit.undelivered) == (1, 2, 0)
    assert prose(audit) == [
        "m0.2 was delivered at p1 before m0.1, but send m0.1 -> send m0.2"
    ]  # fmt: skip
    (finding,) = audit.findings
    assert (finding.fault, finding.node, finding.message) == (Fault.CAUSAL_ORDER, 1, (0, 1))
    assert audit.why == finding.prose


def test_a_chain_over_a_third_node_is_told_in_prose() -> None:
    audit = audit_events({
        2: [send(2, 1, 7, 3)],
        7: [deliver(2, 1), send(7, 1, 3)],
        3: [deliver(7, 1), deliver(2, 1)],
    })  # fmt: skip
    assert prose(audit) == [
        "m7.1 was delivered at p3 before m2.1, but send m2.1 -> deliver m2.1 at p7 -> send m7.1"
    ]


def test_a_chain_of_two_hops_names_each_delivery() -> None:
    audit = audit_events({
        0: [send(0, 1, 3), send(0, 2, 1)],
        1: [deliver(0, 2), send(1, 1, 2)],
        2: [deliver(1, 1), send(2, 1, 3)],
        3: [deliver(2, 1), deliver(0, 1)],
    })  # fmt: skip
    assert prose(audit) == [
        "m2.1 was delivered at p3 before m0.1, but send m0.1 -> send m0.2 -> deliver m0.2 at p1 "
        "-> send m1.1 -> deliver m1.1 at p2 -> send m2.1"
    ]


def test_concurrent_messages_may_come_in_any_order() -> None:
    trace = {
        0: [send(0, 1, 2, 3)], 1: [send(1, 1, 2, 3)],
        2: [deliver(0, 1), deliver(1, 1)], 3: [deliver(1, 1), deliver(0, 1)],
    }  # fmt: skip
    assert audit_events(trace).inversions == 0


def test_a_receive_alone_makes_no_message_part_of_the_past() -> None:
    audit = audit_events({
        0: [send(0, 1, 1, 2)],
        1: [receive(0, 1), send(1, 1, 2), deliver(0, 1)],
        2: [deliver(1, 1), deliver(0, 1)],
    })  # fmt: skip
    assert audit.inversions == 0


def test_a_message_to_oneself_delivered_out_of_order() -> None:
    audit = audit_events({0: [send(0, 1, 0), send(0, 2, 0), deliver(0, 2), deliver(0, 1)]})
    assert prose(audit) == ["m0.2 was delivered at p0 before m0.1, but send m0.1 -> send m0.2"]


def test_a_message_to_oneself_may_wait_while_one_sends_on() -> None:
    audit = audit_events({0: [send(0, 1, 0), send(0, 2, 1), deliver(0, 1)], 1: [deliver(0, 2)]})
    assert audit.findings == []


def test_a_message_that_never_arrived() -> None:
    audit = audit_events({0: [send(0, 1, 1, 2)], 1: [receive(0, 1), deliver(0, 1)]})
    assert audit.verdict is Verdict.INVALID
    assert (audit.undelivered, prose(audit)) == (1, ["m0.1 never arrived at p2"])
    assert audit.findings[0].fault is Fault.LIVENESS


def test_a_message_that_arrived_and_was_held_for_ever() -> None:
    audit = audit_events({0: [send(0, 1, 1)], 1: [receive(0, 1)]})
    assert prose(audit) == ["m0.1 arrived, but was never delivered at p1"]


def test_a_message_delivered_twice() -> None:
    audit = audit_events({0: [send(0, 1, 1)], 1: [deliver(0, 1), deliver(0, 1)]})
    assert audit.verdict is Verdict.INVALID
    assert (audit.duplicates, audit.delivered) == (1, 1)
    assert prose(audit) == ["m0.1 was delivered at p1 more than once"]
    assert audit.findings[0].fault is Fault.EXACTLY_ONCE


def test_a_message_that_was_never_sent() -> None:
    audit = audit_events({0: [], 1: [deliver(0, 1)]})
    assert (audit.strangers, prose(audit)) == (1, ["m0.1 was never sent"])
    assert audit.findings[0].fault is Fault.STRANGER


def test_a_message_delivered_to_a_node_that_is_no_destination() -> None:
    audit = audit_events({0: [send(0, 1, 1)], 1: [deliver(0, 1)], 2: [deliver(0, 1)]})
    assert (audit.strangers, prose(audit)) == (1, ["m0.1 was not addressed to p2"])


def test_a_message_that_was_never_sent_does_not_accuse_those_who_come_after() -> None:
    audit = audit_events({0: [deliver(9, 1), send(0, 1, 1)], 1: [deliver(0, 1)]})
    assert prose(audit) == ["m9.1 was never sent"]


def test_a_message_sent_twice() -> None:
    audit = audit_events({0: [send(0, 1, 1), send(0, 1, 1)], 1: [deliver(0, 1)]})
    assert audit.verdict is Verdict.INVALID
    assert prose(audit) == ["m0.1 was sent more than once"]


def test_a_destination_named_twice_is_owed_one_delivery() -> None:
    audit = audit_events({0: [send(0, 1, 1, 1)], 1: [receive(0, 1), deliver(0, 1)]})
    assert (audit.owed, audit.findings) == (1, [])


def test_a_delivery_before_its_own_send_is_found_and_the_audit_ends() -> None:
    audit = audit_events({
        0: [deliver(1, 1), send(0, 1, 1)],
        1: [deliver(0, 1), send(1, 1, 0)],
    })  # fmt: skip
    assert audit.verdict is Verdict.INVALID
    assert audit.strangers == 1


def test_all_faults_are_counted_though_few_are_told() -> None:
    many = FINDINGS_MAX + 50
    numbers = range(1, many + 1)
    audit = audit_events({
        0: [send(0, number, 1) for number in numbers],
        1: [deliver(0, number) for number in reversed(numbers)],
    })  # fmt: skip
    assert (audit.inversions, len(audit.findings)) == (many - 1, FINDINGS_MAX)


def test_order_without_receives_is_inconclusive() -> None:
    audit = audit_events({0: [send(0, 1, 1)], 1: [deliver(0, 1)]})
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert "no receive rows" in audit.why


def test_a_run_in_which_nothing_was_out_of_order_is_inconclusive() -> None:
    audit = audit_events({0: [send(0, 1, 1)], 1: [receive(0, 1, 5), deliver(0, 1, 5)]})
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert "nothing was tested" in audit.why


def test_an_empty_trace_is_inconclusive() -> None:
    assert audit_events({}).verdict is Verdict.INCONCLUSIVE


def test_a_run_cut_short_owes_messages_and_is_inconclusive() -> None:
    audit = audit_events({0: [send(0, 1, 1)]}, complete=False)
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert audit.why == "the run was cut short and 1 deliveries are owed"


def test_a_run_cut_short_is_still_invalid_if_it_broke_order() -> None:
    trace = {0: [send(0, 1, 1), send(0, 2, 1, 2)], 1: [deliver(0, 2), deliver(0, 1)]}
    assert audit_events(trace, complete=False).verdict is Verdict.INVALID


def test_a_copy_out_of_order_that_was_held_makes_a_run_valid() -> None:
    audit = audit_events({
        0: [send(0, 1, 1), send(0, 2, 1)],
        1: [receive(0, 2, 10), receive(0, 1, 25), deliver(0, 1, 25), deliver(0, 2, 25)],
    })  # fmt: skip
    assert audit.verdict is Verdict.VALID
    evidence = audit.evidence
    assert (evidence.arrived_out_of_order, evidence.held) == (1, 1)
    assert (evidence.held_ns_total, evidence.held_ns_max) == (15, 15)
    assert audit.why == (
        "2 deliveries in causal order, each exactly once, none missing; "
        "1 copies arrived out of causal order, 1 messages were held"
    )


def test_a_second_receive_of_a_copy_is_no_evidence() -> None:
    audit = audit_events({
        0: [send(0, 1, 1), send(0, 2, 1)],
        1: [receive(0, 1), deliver(0, 1), receive(0, 2), deliver(0, 2), receive(0, 1)],
    })  # fmt: skip
    assert audit.evidence.arrived_out_of_order == 0


@pytest.mark.parametrize(
    ("verdict", "code"),
    [(Verdict.VALID, 0), (Verdict.INVALID, 1), (Verdict.INCONCLUSIVE, 2)],
)
def test_verdicts_have_their_exit_codes(verdict: Verdict, code: int) -> None:
    assert verdict.exit_code == code


def test_the_oracle_can_be_fed_event_by_event() -> None:
    oracle = Oracle([0, 1])
    oracle.send(0, (0, 1), (1,))
    oracle.send(0, (0, 2), (1,))
    oracle.receive(1, (0, 2), 3)
    oracle.receive(1, (0, 1), 4)
    oracle.deliver(1, (0, 1), 4)
    oracle.deliver(1, (0, 2), 4)
    assert oracle.verdict().verdict is Verdict.VALID
