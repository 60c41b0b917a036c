"""Algorithm 2 step by step: the example of AV 5.2, and hand-offs packet by packet."""

from __future__ import annotations

import pytest

from testbed.trace.oracle import Verdict
from testbed.trace.schema import Event
from tests.algorithms.av2.stage import Stage

S1, S2, S3 = 0, 1, 2
H1, H2, H3 = 3, 4, 5


def three_cells(*, keeps: bool = True) -> Stage:
    """h1, h2 and h3 in the cells of s1, s2 and s3."""
    return Stage("av2", (S1, S2, S3), stations=3, keeps=keeps)


def finish(stage: Stage) -> None:
    stage.settle()
    assert [finding.prose for finding in stage.audit().findings] == []


# --- the example of 5.2 -----------------------------------------------------------------------


def test_the_example_of_5_2_holds_m3_until_m1_has_come() -> None:
    stage = three_cells()
    m1 = stage.send(H3, H1)
    m2 = stage.send(H3, H2)
    assert stage.on_wires() == [("Data", S3, S1), ("Data", S3, S2)]
    stage.move(H1, S2)
    stage.pass_on("Data", S3, S2)
    assert stage.delivered_at(H2) == [m2]
    stage.pass_on("HandoffBegin", S2, S1)
    stage.pass_on("Enable", S1, S2)
    m3 = stage.send(H2, H1)
    assert stage.delivered_at(H1) == []  # s2 has m3 and h1, and waits
    stage.pass_on("Notify", S2, S1)
    stage.pass_on("Notify", S2, S3)
    stage.pass_on("Last", S2, S1)
    stage.pass_on("Last", S3, S1)
    assert stage.on_wires() == [("Data", S3, S1)]  # s3's last waits at s1 for m1
    stage.pass_on("Data", S3, S1)
    assert stage.on_wires() == [("Old", S1, S2), ("HandoffOver", S1, S2)]
    stage.pass_on("HandoffOver", S1, S2)  # it overtakes the old message on the wire
    assert stage.delivered_at(H1) == []
    stage.pass_on("Old", S1, S2)
    assert stage.delivered_at(H1) == [m1, m3]
    finish(stage)


def test_m3_sent_before_enable_goes_to_the_old_station_and_comes_back_as_old() -> None:
    stage = three_cells()
    m1 = stage.send(H3, H1)
    stage.send(H3, H2)
    stage.move(H1, S2)
    stage.pass_on("Data", S3, S2)
    m3 = stage.send(H2, H1)
    assert ("Data", S2, S1) in stage.on_wires()
    stage.pass_on("Data", S2, S1)
    stage.pass_on("HandoffBegin", S2, S1)
    assert stage.delivered_at(H1) == []
    stage.settle()
    assert stage.delivered_at(H1) == [m1, m3]
    assert stage.travelled["Old"] == 2
    finish(stage)


# --- a hand-off, packet by packet -------------------------------------------------------------


def test_a_hand_off_takes_the_steps_of_5_2_in_their_order() -> None:
    stage = three_cells()
    stage.move(H1, S2)
    assert stage.on_wires() == [("HandoffBegin", S2, S1)]
    stage.pass_on("HandoffBegin", S2, S1)
    assert stage.on_wires() == [("Enable", S1, S2)]
    stage.pass_on("Enable", S1, S2)
    assert stage.on_wires() == [("Notify", S2, S1), ("Notify", S2, S3), ("Last", S2, S1)]
    stage.pass_on("Last", S2, S1)
    stage.pass_on("Notify", S2, S1)
    assert stage.on_wires() == [("Notify", S2, S3)]  # not all have said last
    stage.pass_on("Notify", S2, S3)
    stage.pass_on("Last", S3, S1)
    assert stage.on_wires() == [("HandoffOver", S1, S2)]
    assert stage.rows.named(Event.HANDOFF_END) == []
    stage.pass_on("HandoffOver", S1, S2)
    assert [row["node"] for row in stage.rows.named(Event.HANDOFF_END)] == [S2]


@pytest.mark.parametrize("n_s", range(2, 9))
def test_a_hand_off_costs_two_packets_per_station_and_one(n_s: int) -> None:
    stage = Stage("av2", (0, 1), stations=n_s)
    stage.move(n_s, 1)
    stage.settle()
    wired = ("HandoffBegin", "Enable", "Notify", "Last", "HandoffOver", "Data", "Old")
    assert sum(stage.travelled[name] for name in wired) == 2 * n_s + 1
    assert stage.travelled["Notify"] == stage.travelled["Last"] == n_s - 1


def test_what_a_host_sends_waits_at_its_new_station_for_enable() -> None:
    stage = three_cells()
    stage.move(H1, S2)
    message = stage.send(H1, H3)
    assert stage.on_wires() == [("HandoffBegin", S2, S1)]
    stage.pass_on("HandoffBegin", S2, S1)
    assert ("Data", S2, S3) not in stage.on_wires()
    stage.pass_on("Enable", S1, S2)
    assert ("Data", S2, S3) in stage.on_wires()
    stage.settle()
    assert stage.delivered_at(H3) == [message]


def test_what_the_old_station_sent_into_the_void_moves_with_pend_ack() -> None:
    stage = three_cells()
    message = stage.send(H3, H1)
    stage.deaf(H1)
    stage.pass_on("Data", S3, S1)
    assert stage.delivered_at(H1) == []
    stage.move(H1, S2)
    stage.pass_on("HandoffBegin", S2, S1)
    (enable,) = stage.flying
    assert [(number, m.id) for number, m in enable.arrival.packet.pend_ack] == [(1, message)]
    stage.pass_on("Enable", S1, S2)
    assert stage.delivered_at(H1) == [message]
    finish(stage)


def test_what_has_reached_the_host_does_not_move_with_pend_ack() -> None:
    stage = three_cells()
    message = stage.send(H3, H1)
    stage.pass_on("Data", S3, S1)
    assert stage.delivered_at(H1) == [message]
    stage.move(H1, S2)
    stage.pass_on("HandoffBegin", S2, S1)
    assert stage.flying[0].arrival.packet.pend_ack == []


def test_old_messages_come_down_before_the_hand_off_is_over() -> None:
    stage = three_cells()
    message = stage.send(H3, H1)
    stage.move(H1, S2)
    stage.pass_on("HandoffBegin", S2, S1)
    stage.pass_on("Data", S3, S1)
    stage.pass_on("Enable", S1, S2)
    stage.pass_on("Old", S1, S2)
    assert stage.delivered_at(H1) == [message]
    assert stage.rows.named(Event.HANDOFF_END) == []


def test_a_new_handoff_begin_waits_until_the_current_hand_off_is_over() -> None:
    stage = three_cells()
    stage.move(H1, S2)
    stage.pass_on("HandoffBegin", S2, S1)
    stage.pass_on("Enable", S1, S2)
    stage.move(H1, S3)
    stage.pass_on("HandoffBegin", S3, S2)
    assert ("Enable", S2, S3) not in stage.on_wires()
    stage.pass_on("Last", S2, S1)
    stage.pass_on("Notify", S2, S1)
    stage.pass_on("Notify", S2, S3)
    stage.pass_on("Last", S3, S1)
    stage.pass_on("HandoffOver", S1, S2)
    assert stage.on_wires() == [("Enable", S2, S3)]
    finish(stage)


def test_of_two_requests_that_wait_the_newer_one_gets_the_host() -> None:
    stage = Stage("av2", (0, 1), stations=4)
    stage.move(4, 1)
    stage.pass_on("HandoffBegin", 1, 0)
    stage.pass_on("Enable", 0, 1)
    stage.move(4, 2)
    stage.move(4, 3)
    stage.pass_on("HandoffBegin", 3, 1)
    stage.pass_on("HandoffBegin", 2, 1)
    stage.settle()
    assert stage.travelled["Enable"] == 2
    assert [4 in stage.node(station).custody.owned for station in range(4)] == [
        False, False, False, True,
    ]  # fmt: skip


def test_a_host_that_returns_before_anybody_asked_keeps_its_station() -> None:
    stage = three_cells()
    stage.move(H1, S2)
    stage.move(H1, S1)
    stage.pass_on("HandoffBegin", S2, S1)
    assert stage.on_wires() == []
    message = stage.send(H3, H1)
    stage.pass_on("Data", S3, S1)
    assert stage.delivered_at(H1) == [message]


def test_after_a_hand_off_everybody_sends_to_the_new_station() -> None:
    stage = three_cells()
    stage.move(H1, S2)
    stage.settle()
    message = stage.send(H3, H1)
    assert stage.on_wires() == [("Data", S3, S2)]
    stage.settle()
    assert stage.delivered_at(H1) == [message]


def test_a_message_to_hosts_of_one_station_is_one_packet() -> None:
    stage = Stage("av2", (0, 1, 1, 2), stations=3)
    stage.send(3, 4, 5, 6)
    assert [(hop.to, hop.arrival.packet.dests) for hop in stage.flying] == [(1, [4, 5]), (2, [6])]
    assert (
        stage.flying[0].arrival.packet.sent
        == stage.flying[1].arrival.packet.sent
        == [0, 1, 1] + [0] * 6
    )


# --- disconnection ----------------------------------------------------------------------------


@pytest.mark.parametrize("keeps", [True, False])
def test_a_disconnected_host_gets_its_messages_later_or_never(keeps: bool) -> None:
    stage = three_cells(keeps=keeps)
    stage.disconnect(H1)
    first = stage.send(H3, H1)
    stage.settle()
    stage.enter(H1, S3)
    stage.settle()
    second = stage.send(H2, H1)
    finish(stage)
    assert stage.delivered_at(H1) == ([first, second] if keeps else [second])
    discarded = [(row["origin"], row["number"]) for row in stage.rows.named(Event.DISCARD)]
    assert discarded == ([] if keeps else [first])
    assert stage.audit().verdict is not Verdict.INVALID


def test_what_is_queued_for_a_host_that_disconnects_is_dropped_when_it_would_go_down() -> None:
    stage = three_cells(keeps=False)
    stage.move(H1, S2)
    stage.pass_on("HandoffBegin", S2, S1)
    stage.pass_on("Enable", S1, S2)
    queued = stage.send(H2, H1)
    assert stage.node(S2).held() == 1
    stage.disconnect(H1)
    finish(stage)
    assert stage.delivered_at(H1) == []
    assert [(row["origin"], row["number"]) for row in stage.rows.named(Event.DISCARD)] == [queued]
    assert stage.node(S2).held() == 0
