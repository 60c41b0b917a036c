"""Barriers among hosts that move: what waits at which station, what travels, how large it is."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from testbed.algorithms.mobile import badrinath, prs_mobile
from testbed.algorithms.mobile.air import Register
from testbed.algorithms.mobile.station import HandoffBegin
from testbed.core.algorithm import Algorithm, ControlSize
from testbed.core.errors import BadInput, MalformedFrame
from testbed.core.model import Message
from testbed.core.wire import Codec
from tests.algorithms.badrinath.stage import Stage

S0, S1, S2 = 0, 1, 2
H3, H4, H5 = 3, 4, 5
NOTE = Message(H3, 1, b"")
AIR = {"register", "up", "up_ack", "down", "down_ack", "disconnect"}


def three_cells(name: str = "prs-mobile", *, keeps: bool = True) -> Stage:
    """h3, h4 and h5 in the cells of s0, s1 and s2."""
    return Stage(name, (S0, S1, S2), stations=3, keeps=keeps)


def triangle(stage: Stage) -> tuple[Any, Any]:
    """m1 from h3 to h4 and h5 reaches h4 alone, which sends m2 to h5; m2 reaches s2 first."""
    m1 = stage.send(H3, H4, H5)
    stage.arrive("data", S0, S1)
    m2 = stage.send(H4, H5)
    stage.arrive("data", S1, S2)
    return m1, m2


def assert_all_is_done(stage: Stage) -> None:
    stage.settle()
    assert stage.faults() == []
    assert stage.memory() == []


def test_a_message_waits_at_the_station_for_the_one_that_its_barrier_names() -> None:
    stage = three_cells()
    m1, m2 = triangle(stage)
    assert (stage.delivered(H5), stage.node(S2).held()) == ([], 1)
    (data,) = (hop.packet for hop in stage.wires if hop.message == m2)
    assert data.rows == [[H4, H3, 1], [H5, H3, 1]]
    stage.arrive("data", S0, S2)
    assert (stage.delivered(H5), stage.node(S2).held()) == ([m1, m2], 0)
    assert_all_is_done(stage)


def test_without_barriers_the_same_message_overtakes() -> None:
    stage = three_cells("badrinath")
    m1, m2 = triangle(stage)
    assert stage.delivered(H5) == [m2]
    stage.settle()
    assert stage.delivered(H5) == [m2, m1]
    assert len(stage.faults()) == 1
    assert stage.memory() == []


def test_a_successor_waits_for_the_notification_not_for_the_sending() -> None:
    stage = three_cells()
    m1, m2 = triangle(stage)
    stage.hold_air()
    stage.arrive("data", S0, S2)
    assert [hop.message for hop in stage.air] == [m1]
    stage.arrive("down", S2, H5)
    assert stage.node(S2).held() == 1
    stage.arrive("down_ack", H5, S2)
    assert [hop.message for hop in stage.air] == [m2]
    assert_all_is_done(stage)


def test_an_intent_is_dropped_at_the_hand_off_and_made_again_where_the_host_is() -> None:
    stage = three_cells()
    m1, m2 = triangle(stage)
    stage.arrive("data", S1, S0)
    assert stage.node(S2).held() == 1
    stage.move(H5, S1)
    stage.arrive("handoff_begin", S1, S2)
    assert [stage.node(s).held() for s in (S0, S1, S2)] == [0, 0, 0]
    stage.arrive("handoff_over", S2, S1)  # s1 keeps both, and h5 is free to have them
    assert stage.delivered(H5) == [m1, m2]
    assert_all_is_done(stage)


def test_the_new_station_scans_its_messages_and_holds_what_must_wait() -> None:
    stage = three_cells()
    m1 = stage.send(H3, H4, H5)
    stage.arrive("data", S0, S1)
    m2 = stage.send(H4, H5)
    stage.move(H3, S1)
    stage.arrive("handoff_begin", S1, S0)
    stage.arrive("data", S1, S0)
    stage.move(H5, S0)
    stage.arrive("handoff_begin", S0, S2)
    stage.arrive("handoff_over", S2, S0)
    assert stage.delivered(H5) == [m1, m2]  # s0 has kept its own copy of m1
    assert_all_is_done(stage)


def test_what_a_host_sends_follows_what_it_delivered_at_its_last_station() -> None:
    stage = three_cells()
    m1 = stage.send(H3, H4, H5)
    stage.hold_air()
    stage.arrive("data", S0, S1)
    stage.arrive("down", S1, H4)
    stage.move(H4, S2)  # the notification is lost; registering tells
    m2 = stage.send(H4, H5)
    stage.free_air()
    assert ("data", S2, S0) not in stage.under_way()  # s2 has neither h4 nor its past
    stage.arrive("handoff_begin", S2, S1)
    stage.arrive("handoff_over", S1, S2)
    assert ("data", S2, S0) in stage.under_way()
    assert stage.delivered(H5) == []
    stage.arrive("data", S0, S2)
    assert stage.delivered(H5) == [m1, m2]
    assert_all_is_done(stage)


def test_a_dropped_message_is_waited_for_by_nobody() -> None:
    stage = three_cells(keeps=False)
    stage.leave(H5, disconnects=True)
    m1 = stage.send(H3, H4, H5)
    stage.settle()
    assert stage.discarded("disconnected") == [(S2, m1)]
    stage.enter(H5, S0)
    stage.settle()
    m2 = stage.send(H4, H5)
    (data,) = {hop.message: hop.packet for hop in stage.wires}.values()
    assert [H5, H3, 1] in data.rows  # h4 does not know that m1 was dropped
    stage.settle()
    assert stage.delivered(H5) == [m2]
    assert_all_is_done(stage)


def test_no_barrier_travels_over_the_air() -> None:
    stage = three_cells()
    seen = []
    transmit = stage.transmit

    def watch(source: int, to: int, frame: bytes, now: int) -> Any:
        if max(source, to) >= stage.stations:
            seen.append(stage.codec.decode(frame).packet)
        return transmit(source, to, frame, now)

    stage.transmit = watch  # type: ignore[method-assign]
    draw = Random(1)
    for _ in range(60):
        sender = draw.choice((H3, H4, H5))
        stage.send(sender, *(h for h in (H3, H4, H5) if h != sender))
        if draw.random() < 0.3:
            stage.move(draw.choice((H3, H4, H5)), draw.choice((S0, S1, S2)))
        if stage.wires:
            stage.arrive(*draw.choice(stage.under_way()))
    stage.settle()
    assert len(seen) > 300
    for packet in seen:
        assert not hasattr(packet, "rows")
        assert prs_mobile.size(packet, None).units == 0
        assert prs_mobile.size(packet, None).ints <= 3 + 2
    assert_all_is_done(stage)


def test_a_message_to_oneself_is_refused() -> None:
    with pytest.raises(BadInput, match="prs-mobile refuses a message to its own sender"):
        three_cells().send(H3, H3, H4)


# --- sizes, and packets that nobody can have sent -------------------------------------------------

SIZES = (
    (prs_mobile, prs_mobile.Data(7, [3, 4], 5, 1, []), ControlSize(7)),
    (prs_mobile, prs_mobile.Data(7, [3], 5, 1, [[4, 0, 3, 5, 9], [5, 3, 1]]),
     ControlSize(16, 3, 2)),
    (prs_mobile, prs_mobile.HandoffOver(3, 1, 2, [0, 0, 0], 4, [[4, 5, 1]], [[3, 5, 1], [4, 5, 1]]),
     ControlSize(19, 1, 1)),
    (prs_mobile, prs_mobile.Up(1, [3, 4], 9), ControlSize(5)),
    (prs_mobile, badrinath.Acknowledge(1, [3]), ControlSize(3)),
    (badrinath, badrinath.Data(7, [3, 4]), ControlSize(5)),
    (badrinath, badrinath.Acknowledge(1, [3, 4]), ControlSize(4)),
    (badrinath, badrinath.Delete(1), ControlSize(2)),
    (badrinath, badrinath.Down(1, 1), ControlSize(2)),
    (badrinath, badrinath.HandoffOver(3, 1, 2, [0, 0, 0]), ControlSize(6)),
    (badrinath, HandoffBegin(3, 1, 0, 2), ControlSize(4)),
)  # fmt: skip

IMPOSSIBLE = (
    (prs_mobile, prs_mobile.Data(7, [], 5, 1, [])),
    (prs_mobile, prs_mobile.Data(7, [2], 5, 1, [])),
    (prs_mobile, prs_mobile.Data(7, [6], 5, 1, [])),
    (prs_mobile, prs_mobile.Data(7, [3], 6, 1, [])),
    (prs_mobile, prs_mobile.Data(7, [3], 5, 1, [[2, 0, 1]])),
    (prs_mobile, prs_mobile.Data(7, [3], 5, 1, [[3, 0]])),
    (prs_mobile, prs_mobile.HandoffOver(2, 1, 2, [0, 0, 0], 4, [], [])),
    (prs_mobile, prs_mobile.HandoffOver(3, 1, 2, [0, 0], 4, [], [])),
    (prs_mobile, prs_mobile.HandoffOver(3, 1, 2, [0, 0, 0], 4, [[3, 6, 1]], [])),
    (prs_mobile, prs_mobile.HandoffOver(3, 1, 2, [0, 0, 0], 4, [], [[]])),
    (prs_mobile, prs_mobile.Up(1, [2], 9)),
    (badrinath, badrinath.Data(7, [])),
    (badrinath, badrinath.Data(7, [2, 3])),
    (badrinath, badrinath.Acknowledge(1, [])),
    (badrinath, badrinath.Acknowledge(1, [6])),
    (badrinath, badrinath.HandoffOver(3, 1, 2, [0, 0])),
    (badrinath, HandoffBegin(3, 1, 0, 3)),
    (badrinath, Register(1, 3, 0)),
)


def through_the_codec(algorithm: Algorithm, packet: Any) -> Any:
    codec = Codec(algorithm, 6, stations=3)
    message = None if type(packet) in algorithm.bare else NOTE
    return codec.decode(codec.shared_part(1, message, packet) + codec.own_part(None)).packet


@pytest.mark.parametrize(("module", "packet", "size"), SIZES)
def test_a_packet_counts_all_integers_that_travel(
    module: Any, packet: Any, size: ControlSize
) -> None:
    assert through_the_codec(module.ALGORITHM, packet) == packet
    assert module.size(packet, None) == size


@pytest.mark.parametrize(("module", "packet"), IMPOSSIBLE)
def test_a_packet_that_nobody_can_have_sent_is_refused(module: Any, packet: Any) -> None:
    with pytest.raises(MalformedFrame, match="impossible content"):
        through_the_codec(module.ALGORITHM, packet)


@pytest.mark.parametrize("module", [badrinath, prs_mobile])
def test_possible_packets_from_anybody_at_any_time_raise_nothing(module: Any) -> None:
    algorithm = module.ALGORITHM
    stage = three_cells(f"{algorithm.name}[acks=combined]")
    draw = Random(5)
    packets = [packet for of, packet, _ in SIZES if of is module] + [
        Register(9, 1, 4), badrinath.Delete(0), badrinath.Delete(1 << 62),
        badrinath.Acknowledge(0, [3, 4]),
    ]  # fmt: skip
    reached = 0
    for step in range(600):
        if step % 3 == 0:
            stage.send(H3, H4, H5)
        packet = draw.choice(packets)
        message = None if type(packet) in algorithm.bare else NOTE
        source = draw.randrange(3 if type(packet) is Register else 0, 6)
        frame = stage.codec.shared_part(source, message, packet)
        to = draw.randrange(6)
        stage.shells[to].arrive(stage.now, frame + stage.codec.own_part(None))
        reached += 1
        if stage.wires:
            stage.arrive(*stage.wires[0][:3])
    assert reached == 600
    assert all(shell.malformed == 0 for shell in stage.shells)


def test_state_is_delivered_h_recd_and_two_integers_per_tuple() -> None:
    stage = three_cells()
    n_h, n, n_s = 3, 6, 3
    assert [stage.node(s).state_ints() for s in (S0, S1, S2)] == [n_h * n + n_s] * 3
    stage.send(H3, H4, H5)  # CB_h3 names it for two destinations
    assert stage.node(S0).state_ints() == n_h * n + n_s + 4
    stage.move(H3, S1)
    stage.settle()
    assert stage.node(S0).state_ints() == 0
