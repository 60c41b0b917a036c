"""The multicast of Acharya and Badrinath, message by message, as PRS 9.1 and 9.2 tell it.

Every test here runs with prs-mobile as well: what it adds must not change any of this.
"""

from __future__ import annotations

import pytest

from tests.algorithms.badrinath.stage import Stage

S0, S1, S2 = 0, 1, 2
H3, H4, H5 = 3, 4, 5

BOTH = pytest.mark.parametrize("name", ["badrinath", "prs-mobile"])


def three_cells(name: str, *, keeps: bool = True) -> Stage:
    """h3, h4 and h5 in the cells of s0, s1 and s2."""
    return Stage(name, (S0, S1, S2), stations=3, keeps=keeps)


def assert_all_is_done(stage: Stage) -> None:
    stage.settle()
    assert stage.faults() == []
    assert stage.memory() == []


# --- delivery, Acknowledge, Delete (9.1) ----------------------------------------------------------


@BOTH
def test_a_message_goes_to_every_station_and_stays_until_its_delete(name: str) -> None:
    stage = three_cells(name)
    m = stage.send(H3, H4)
    assert stage.under_way() == [("data", S0, S1), ("data", S0, S2)]
    stage.arrive("data", S0, S1)
    assert stage.delivered(H4) == [m]
    assert stage.h_recd(H4) == [1, 0, 0]
    assert stage.under_way() == [("data", S0, S2), ("acknowledge", S1, S0)]
    stage.arrive("data", S0, S2)
    assert [stage.stored(s) for s in (S0, S1, S2)] == [[m], [m], [m]]
    stage.arrive("acknowledge", S1, S0)
    assert stage.under_way() == [("delete", S0, S1), ("delete", S0, S2)]
    assert [stage.stored(s) for s in (S0, S1, S2)] == [[], [m], [m]]
    stage.arrive("delete", S0, S2)
    stage.arrive("delete", S0, S1)
    assert [stage.stored(s) for s in (S0, S1, S2)] == [[], [], []]
    assert_all_is_done(stage)


@BOTH
def test_delete_waits_for_the_last_acknowledgement(name: str) -> None:
    stage = three_cells(name)
    m = stage.send(H3, H4, H5)
    stage.arrive("data", S0, S1)
    stage.arrive("acknowledge", S1, S0)
    assert stage.under_way() == [("data", S0, S2)]
    stage.arrive("data", S0, S2)
    stage.arrive("acknowledge", S2, S0)
    assert stage.under_way() == [("delete", S0, S1), ("delete", S0, S2)]
    assert (stage.delivered(H4), stage.delivered(H5)) == ([m], [m])
    assert_all_is_done(stage)


@BOTH
def test_h_recd_and_the_acknowledgement_wait_for_the_notification(name: str) -> None:
    stage = three_cells(name)
    m = stage.send(H3, H4)
    stage.hold_air()
    stage.arrive("data", S0, S1)
    stage.arrive("down", S1, H4)
    assert stage.delivered(H4) == [m]
    assert stage.h_recd(H4) == [0, 0, 0]
    assert stage.under_way() == [("data", S0, S2), ("down_ack", H4, S1)]
    stage.arrive("down_ack", H4, S1)
    assert stage.h_recd(H4) == [1, 0, 0]
    assert ("acknowledge", S1, S0) in stage.under_way()
    assert_all_is_done(stage)


@BOTH
def test_numbering_starts_at_zero_and_counts_the_messages_of_a_station(name: str) -> None:
    stage = three_cells(name)
    stage.send(H3, H4)
    stage.move(H5, S0)
    stage.settle()
    stage.send(H5, H4)
    assert [hop.packet.seq for hop in stage.wires if hop.name == "data"] == [1, 1]
    stage.settle()
    assert stage.h_recd(H4) == [2, 0, 0]
    assert_all_is_done(stage)


@BOTH
def test_h_recd_passes_messages_that_are_not_for_the_host(name: str) -> None:
    stage = three_cells(name)
    stage.send(H3, H4)
    m2 = stage.send(H3, H5)
    stage.arrive("data", S0, S2)
    assert stage.h_recd(H5) == [1, 0, 0]
    stage.arrive("data", S0, S2)
    assert stage.delivered(H5) == [m2]
    assert_all_is_done(stage)


@BOTH
def test_a_delete_that_overtakes_its_message_leaves_a_tombstone(name: str) -> None:
    stage = three_cells(name)
    stage.send(H3, H4)
    stage.arrive("data", S0, S1)
    stage.arrive("acknowledge", S1, S0)
    stage.arrive("delete", S0, S2)
    assert stage.under_way() == [("data", S0, S2), ("delete", S0, S1)]
    assert stage.h_recd(H5) == [1, 0, 0]  # deleted, therefore not for h5
    stage.arrive("data", S0, S2)
    assert stage.stored(S2) == []
    assert_all_is_done(stage)


@BOTH
def test_deletes_that_overtake_one_another_leave_one_tombstone_for_a_while(name: str) -> None:
    stage = three_cells(name)
    stage.send(H3, H4)
    stage.hold_air()
    stage.arrive("data", S0, S1)
    stage.send(H3, H5)
    stage.arrive("up", H3, S0)
    stage.wires[:] = [hop for hop in stage.wires if hop.to != S2] + [
        hop for hop in stage.wires if hop.to == S2
    ][::-1]
    stage.arrive("data", S0, S2)  # number 1 before number 0, which h5 waits for
    assert stage.delivered(H5) == []
    stage.arrive("data", S0, S2)
    stage.arrive("down", S2, H5)
    stage.arrive("down_ack", H5, S2)
    stage.arrive("acknowledge", S2, S0)
    stage.arrive("delete", S0, S1)
    assert stage.node(S1).storage.tombstones[S0] == {1}
    stage.free_air()
    stage.settle()
    assert stage.node(S1).storage.floor[S0] == 2
    assert_all_is_done(stage)


@BOTH
def test_messages_of_one_station_reach_a_host_one_after_the_other(name: str) -> None:
    stage = Stage(name, (S0, S0, S1), stations=2)
    h2, h3, h4 = 2, 3, 4
    m1, m2 = stage.send(h2, h4), stage.send(h3, h4)
    second = stage.wires.pop()
    stage.wires.insert(0, second)
    stage.arrive("data", S0, S1)
    assert stage.delivered(h4) == []  # concurrent, but h_RECD is not M_seq
    stage.arrive("data", S0, S1)
    assert stage.delivered(h4) == [m1, m2]
    assert_all_is_done(stage)


@BOTH
@pytest.mark.parametrize("stations", range(1, 7))
@pytest.mark.parametrize("dests", range(1, 6))
def test_a_multicast_costs_two_packets_per_other_station_and_its_acknowledgements(
    name: str, stations: int, dests: int
) -> None:
    hosts = 6
    for acks in ("single", "combined"):
        cells = tuple(i % stations for i in range(hosts))
        stage = Stage(f"{name}[acks={acks}]", cells, stations=stations)
        to = range(stations + 1, stations + 1 + dests)
        stage.send(stations, *to)  # a host of station 0
        stage.settle()
        away = [stage.cells[host] for host in to if stage.cells[host] != 0]
        assert stage.travelled["data"] == stage.travelled["delete"] == stations - 1
        assert stage.travelled["acknowledge"] == len(away if acks == "single" else set(away))
        assert stage.travelled["down"] == stage.travelled["down_ack"] == dests
        assert_all_is_done(stage)


@BOTH
def test_a_combined_acknowledgement_waits_for_the_last_host_of_the_cell(name: str) -> None:
    stage = Stage(f"{name}[acks=combined]", (S0, S1, S1), stations=2)
    h2, h3, h4 = 2, 3, 4
    stage.send(h2, h3, h4)
    stage.hold_air()
    stage.arrive("data", S0, S1)
    stage.arrive("down", S1, h3)
    stage.arrive("down_ack", h3, S1)
    assert stage.under_way() == [("down", S1, h4)]
    stage.move(h4, S0)  # it takes its lack of the message with it
    stage.free_air()
    stage.arrive("handoff_begin", S0, S1)
    assert ("acknowledge", S1, S0) in stage.under_way()
    assert_all_is_done(stage)
    assert len(stage.delivered(h4)) == 1


@BOTH
def test_a_station_sends_like_a_host_without_the_air(name: str) -> None:
    stage = three_cells(name)
    m = stage.send(S0, H3, H5)
    assert stage.delivered(H3) == [m]
    stage.settle()
    assert stage.delivered(H5) == [m]
    assert stage.travelled["up"] == 0
    assert_all_is_done(stage)


# --- hand-off (9.2) -------------------------------------------------------------------------------


@BOTH
def test_the_new_station_finds_the_message_among_those_that_it_keeps(name: str) -> None:
    stage = three_cells(name)
    m = stage.send(H3, H4)
    stage.arrive("data", S0, S2)
    stage.leave(H4)
    stage.arrive("data", S0, S1)
    stage.enter(H4, S2)
    assert stage.delivered(H4) == []
    stage.arrive("handoff_begin", S2, S1)
    assert stage.delivered(H4) == []
    stage.arrive("handoff_over", S1, S2)
    assert stage.delivered(H4) == [m]
    assert ("acknowledge", S2, S0) in stage.under_way()
    assert_all_is_done(stage)
    assert stage.delivered(H4) == [m]


@BOTH
def test_a_host_that_is_ahead_of_its_message_waits_for_it_at_the_new_station(name: str) -> None:
    stage = three_cells(name)
    m = stage.send(H3, H4)
    stage.move(H4, S2)
    stage.arrive("handoff_begin", S2, S1)
    stage.arrive("handoff_over", S1, S2)
    stage.arrive("data", S0, S1)
    assert stage.delivered(H4) == []
    assert stage.stored(S1) == [m]  # for whoever may come
    stage.arrive("data", S0, S2)
    assert stage.delivered(H4) == [m]
    assert_all_is_done(stage)


@BOTH
def test_a_message_whose_notification_was_lost_does_not_come_twice(name: str) -> None:
    stage = three_cells(name)
    m = stage.send(H3, H4)
    stage.arrive("data", S0, S2)
    stage.hold_air()
    stage.arrive("data", S0, S1)
    stage.arrive("down", S1, H4)
    assert stage.delivered(H4) == [m]
    stage.move(H4, S2)
    assert ("down_ack", H4, S1) not in stage.under_way()  # lost
    stage.free_air()
    stage.arrive("handoff_begin", S2, S1)
    assert ("acknowledge", S1, S0) in stage.under_way()  # the update that 9.2 waits for
    stage.arrive("handoff_over", S1, S2)
    assert stage.h_recd(H4) == [1, 0, 0]
    assert_all_is_done(stage)
    assert stage.delivered(H4) == [m]


@BOTH
def test_a_message_that_was_lost_in_the_air_is_sent_by_the_new_station(name: str) -> None:
    stage = three_cells(name)
    m = stage.send(H3, H4)
    stage.arrive("data", S0, S2)
    stage.hold_air()
    stage.arrive("data", S0, S1)
    stage.move(H4, S2)
    stage.free_air()
    stage.arrive("handoff_begin", S2, S1)
    assert ("acknowledge", S1, S0) not in stage.under_way()
    stage.arrive("handoff_over", S1, S2)
    assert stage.delivered(H4) == [m]
    assert_all_is_done(stage)


@BOTH
def test_a_host_that_moves_back_finds_what_the_station_sent_into_the_void(name: str) -> None:
    stage = three_cells(name)
    m = stage.send(H3, H4)
    stage.leave(H4)
    stage.arrive("data", S0, S1)
    stage.enter(H4, S2)
    stage.move(H4, S1)
    assert stage.delivered(H4) == [m]
    stage.arrive("handoff_begin", S2, S1)  # overtaken, and forgotten
    assert ("handoff_over", S1, S2) not in stage.under_way()
    assert_all_is_done(stage)
    assert stage.delivered(H4) == [m]


@BOTH
def test_a_host_that_moves_back_after_its_hand_off_is_handed_back(name: str) -> None:
    stage = three_cells(name)
    stage.move(H4, S2)
    stage.arrive("handoff_begin", S2, S1)
    stage.move(H4, S1)
    m = stage.send(H3, H4)
    stage.arrive("data", S0, S1)
    assert stage.delivered(H4) == []  # s1 has the message, but not the host
    stage.settle()
    assert stage.delivered(H4) == [m]
    assert_all_is_done(stage)


@BOTH
def test_a_host_takes_nothing_that_was_sent_before_it_registered_again(name: str) -> None:
    """Else the frame counts for the host, and not for the station that gives it away."""
    stage = three_cells(name)
    m = stage.send(H3, H4)
    stage.arrive("data", S0, S2)
    stage.hold_air()
    stage.move(H4, S2)
    stage.arrive("register", H4, S2)
    stage.move(H4, S1)
    stage.arrive("data", S0, S1)  # s1 sends to h4, which is back, and has not heard so yet
    stage.arrive("handoff_begin", S2, S1)
    stage.arrive("down", S1, H4)
    assert stage.delivered(H4) == []
    stage.free_air()
    assert_all_is_done(stage)
    assert stage.delivered(H4) == [m]


# --- disconnection --------------------------------------------------------------------------------


@BOTH
def test_a_message_is_kept_for_a_disconnected_host_wherever_it_reconnects(name: str) -> None:
    stage = three_cells(name)
    stage.leave(H4, disconnects=True)
    m = stage.send(H3, H4)
    stage.settle()
    assert stage.node(S1).held() == 1
    assert [stage.stored(s) for s in (S0, S1, S2)] == [[m], [m], [m]]
    stage.enter(H4, S2)
    stage.settle()
    assert stage.delivered(H4) == [m]
    assert_all_is_done(stage)


@BOTH
def test_a_message_that_is_dropped_counts_as_acknowledged(name: str) -> None:
    stage = three_cells(name, keeps=False)
    stage.leave(H4, disconnects=True)
    m1 = stage.send(H3, H4, H5)
    stage.settle()
    assert stage.discarded("disconnected") == [(S1, m1)]
    assert stage.h_recd(H4) == [1, 0, 0]
    assert stage.memory() == []
    stage.enter(H4, S2)
    m2 = stage.send(H3, H4)
    stage.settle()
    assert (stage.delivered(H4), stage.delivered(H5)) == ([m2], [m1])
    assert stage.rows.audit().waived == 1
    assert_all_is_done(stage)
