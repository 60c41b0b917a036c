"""Each module of figure 8, as corrected, and what goes beyond it."""

from __future__ import annotations

import pytest

from testbed.algorithms import find, parameters
from testbed.algorithms.deadline.gaps import GAPS_MAX
from testbed.algorithms.deadline.odca import REPLIES_MAX, Params, Reply, Solicit
from testbed.core.errors import BadInput
from testbed.core.model import Message
from tests.deadline_schedules import finish
from tests.deadline_stage import Stage

ODCA = find("odca")


def stage_of(n: int = 3, **options: object) -> Stage:
    stage = Stage(ODCA, n, **options)  # type: ignore[arg-type]
    stage.until(100)
    return stage


def test_sending_times_increase_even_if_the_clock_stands_still_or_is_behind() -> None:
    stage = stage_of(2, offsets_ms=(0, 50))
    ahead = stage.send(1, 1000)
    stage.arrive(ahead, 0)
    stage.send(0, 1000)
    stage.send(0, 1000)
    (_, _, theirs), (_, _, first), (_, _, second) = stage.packets_of("Data")
    assert theirs.vector == [0, 150_000]
    assert first.vector == [150_001, 150_000]
    assert second.vector == [150_002, 150_000]
    assert (theirs.previous, first.previous, second.previous) == (0, 0, 150_001)


@pytest.mark.parametrize(
    ("what", "reason"), [("late", "expired"), ("twice", "duplicate"), ("overtaken", "overtaken")]
)
def test_a_direct_message_of_no_use_is_discarded_with_its_reason(what: str, reason: str) -> None:
    stage = stage_of(2)
    first, second = stage.send(0, 50), stage.send(0, 20)
    if what == "late":
        stage.until(151)
    elif what == "twice":
        stage.flying.append(stage.flying[0])
        stage.arrive(first, 1)
    else:
        stage.arrive(second, 1)
        stage.until(130)
    stage.arrive(first, 1)
    assert stage.reasons(1)[first] == reason


def test_a_message_waits_until_just_before_its_deadline_and_no_longer() -> None:
    stage = stage_of(2)
    stage.lose(stage.send(0, 900), 1)
    second = stage.send(0, 40)
    stage.arrive(second, 1)
    stage.until(138.9)
    assert stage.order(1) == []
    stage.until(139.1)
    assert stage.order(1) == [second]


def test_what_came_too_late_itself_is_not_waited_for() -> None:
    stage = stage_of(2)
    first, second = stage.send(0, 10), stage.send(0, 900)
    stage.until(120)
    assert stage.arrive(second, 1) == []
    assert stage.arrive(first, 1) == [second]
    assert stage.reasons(1) == {first: "expired"}


def test_a_message_that_a_member_gave_up_is_not_in_the_past_of_what_it_sends() -> None:
    stage = stage_of(3)
    late = stage.send(0, 10)
    stage.until(120)
    stage.arrive(late, 1)
    answer = stage.send(1, 900)
    assert stage.arrive(answer, 2) == [answer]


def test_a_gap_is_asked_for_once_whoever_shows_it() -> None:
    stage = stage_of(4)
    lost = stage.send(0, 900)
    stage.lose(lost, 3)
    stage.arrive(lost, 1)
    stage.arrive(lost, 2)
    for sender in (1, 2, 1):
        stage.arrive(stage.send(sender, 900), 3)
    assert len(stage.packets_of("Solicit")) == 1


def test_each_new_gap_is_asked_for_without_the_old_one() -> None:
    stage = stage_of(2)
    for _ in range(2):
        stage.lose(stage.send(0, 900), 1)
        stage.pause(1)
        stage.arrive(stage.send(0, 900), 1)
        stage.pause(1)
    asked = [gap for _, _, packet in stage.packets_of("Solicit") for gap in packet.gaps]
    assert asked == [(0, 0, 100_000), (0, 101_000, 102_000)]


def test_an_unanswered_solicitation_is_repeated_a_bounded_number_of_times() -> None:
    stage = stage_of(2, params=Params(tries=3, retry_ms=10))
    stage.lose(stage.send(0, 100_000), 1)
    stage.arrive(stage.send(0, 100_000), 1)
    times = []
    for ms in range(100, 400):
        stage.until(ms)
        times += [ms] * (len(stage.packets_of("Solicit")) - len(times))
    assert times == [100, 110, 130]


def test_solicitations_end_with_the_deadline_of_what_waits() -> None:
    stage = stage_of(2, params=Params(tries=100, retry_ms=5))
    stage.lose(stage.send(0, 9_000), 1)
    stage.arrive(stage.send(0, 60), 1)
    stage.until(1_000)
    asked = len(stage.packets_of("Solicit"))
    assert 3 <= asked <= 12
    stage.until(20_000)
    assert len(stage.packets_of("Solicit")) == asked


def test_patience_leaves_time_for_what_is_on_its_way() -> None:
    stage = stage_of(2, params=Params(patience_ms=20))
    first, second = stage.send(0, 900), stage.send(0, 900)
    stage.arrive(second, 1)
    stage.pause(15)
    assert stage.arrive(first, 1) == [first, second]
    stage.pause(100)
    assert stage.packets_of("Solicit") == []


def test_any_member_is_asked_when_the_sender_is_silent_suspected_or_has_nothing() -> None:
    asked = {}
    for way in ("silent", "suspected", "nothing"):
        stage = stage_of(4, params=Params(solicit="any", retry_ms=50))
        lost = stage.send(0, 5_000)
        stage.lose(lost, 3)
        stage.arrive(lost, 1)
        stage.arrive(lost, 2)
        stage.arrive(stage.send(1, 5_000), 3)
        if way == "silent":
            stage.pause(60)
        elif way == "suspected":
            stage.suspect(3, 1)
        else:
            stage.nodes[1].kept.forget_first()  # type: ignore[attr-defined]
            stage.nodes[1].kept.forget_first()  # type: ignore[attr-defined]
            stage.arrive_flight(stage.find(1, kind="Solicit"))
            stage.arrive_flight(stage.find(3, kind="Nothing"))
        asked[way] = [to for _, to, _ in stage.packets_of("Solicit")]
    assert asked == {"silent": [1, 0], "suspected": [1, 0], "nothing": [1, 0]}


def test_a_suspected_member_is_asked_only_if_the_paper_says_so() -> None:
    for solicit, expected in (("sender", 1), ("any", 0)):
        stage = stage_of(3, params=Params(solicit=solicit))  # type: ignore[arg-type]
        stage.suspect(2, 1)
        lost = stage.send(0, 900)
        stage.lose(lost, 2)
        stage.arrive(lost, 1)
        stage.arrive(stage.send(1, 900), 2)
        assert [to for _, to, _ in stage.packets_of("Solicit")] == [expected]


def test_nobody_has_it_and_the_group_lives_on() -> None:
    stage = stage_of(5, params=Params(solicit="any", tries=4))
    stage.lose(stage.send(0, 5_000), 1, 2, 3, 4)
    answer = stage.send(0, 400)
    stage.crash(0)
    stage.arrive(answer, 1)
    stage.lose(answer, 2, 3, 4)
    finish(stage)
    assert len(stage.packets_of("Solicit")) == 4
    assert len(stage.packets_of("Nothing")) == 3
    assert stage.order(1) == [answer]


def test_a_reply_that_nobody_asked_for_is_discarded() -> None:
    stage = stage_of(2)
    message = Message(0, 7, b"", 900_000_000)
    stage.sent[message.id] = message
    for number in (0, 1, 99):
        packet = Reply([100_000, 0], 0, number)
        stage.inject(1, stage.codec.shared_part(0, message, packet) + stage.codec.own_part(None))
    assert stage.discarded[1] == [(message.id, "unasked")] * 3
    assert stage.order(1) == []


def test_a_reply_with_something_else_than_was_asked_for_is_discarded() -> None:
    stage = stage_of(2)
    stage.lose(stage.send(0, 900), 1)
    stage.arrive(stage.send(0, 900), 1)
    message = Message(0, 7, b"", 900_000_000)
    packet = Reply([900_000, 0], 0, 1)
    stage.inject(1, stage.codec.shared_part(0, message, packet) + stage.codec.own_part(None))
    assert stage.discarded[1] == [(message.id, "unasked")]


def test_a_solicitation_for_what_nobody_ever_sent_is_answered_with_nothing() -> None:
    stage = stage_of(2)
    packet = Solicit(5, [(0, 10, 20), (1, 0, 9_999_999)])
    stage.inject(0, stage.codec.shared_part(1, None, packet) + stage.codec.own_part(None))
    ((_, to, answer),) = stage.packets_of("Nothing")
    assert (to, answer.number) == (1, 5)
    stage.arrive_flight(stage.find(1, kind="Nothing"))
    assert stage.discarded == [[], []]


def test_one_solicitation_gets_a_bounded_number_of_messages_and_the_oldest_first() -> None:
    stage = stage_of(2)
    for _ in range(REPLIES_MAX + 10):
        stage.lose(stage.send(0, 9_000), 1)
    stage.arrive(stage.send(0, 9_000), 1)
    stage.arrive_flight(stage.find(0, kind="Solicit"))
    replies = [copy.message for copy in stage.flying if copy.to == 1]
    assert replies == [(0, number) for number in range(1, REPLIES_MAX + 1)]
    finish(stage)
    assert len(stage.order(1)) == REPLIES_MAX + 11


def test_a_solicitation_that_would_be_long_is_split() -> None:
    n = GAPS_MAX + 44
    stage = stage_of(n)
    for sender in range(2, n):
        message = stage.send(sender, 90_000)
        stage.arrive(message, 0)
    stage.flying.clear()
    stage.arrive(stage.send(0, 90_000), 1)
    sizes = [len(packet.gaps) for _, _, packet in stage.packets_of("Solicit")]
    assert sizes == [GAPS_MAX, n - 2 - GAPS_MAX]


def test_worthless_messages_are_no_answer_and_are_collected() -> None:
    stage = stage_of(2)
    lost = stage.send(0, 30, payload=100)
    stage.lose(lost, 1)
    stage.arrive(stage.send(0, 900, payload=50), 1)
    assert stage.nodes[0].buffered_bytes() == 150
    stage.until(135)
    stage.arrive_flight(stage.find(0, kind="Solicit"))
    assert stage.packets_of("Reply") == []
    stage.until(260)
    assert stage.nodes[0].buffered_bytes() == 50
    stage.until(3_000)
    assert [node.buffered_bytes() for node in stage.nodes] == [0, 0]


def test_a_full_buffer_forgets_what_it_keeps_for_others_before_what_waits() -> None:
    stage = stage_of(2, room=100)
    for _ in range(3):
        stage.arrive(stage.send(0, 900, payload=30), 1)
    assert stage.nodes[1].buffered_bytes() == 90
    stage.lose(stage.send(0, 900), 1)
    waiting = [stage.send(0, 900, payload=60) for _ in range(2)]
    stage.arrive(waiting[0], 1)
    assert stage.nodes[1].buffered_bytes() == 90
    stage.arrive(waiting[1], 1)
    assert stage.reasons(1) == {waiting[1]: "no_room"}
    assert stage.peak_bytes <= 100


def test_parameters_are_taken_by_name_and_refused_with_a_sentence() -> None:
    assert parameters("odca[solicit=any,tries=2]") == Params(solicit="any", tries=2)
    for wrong in ("odca[solicit=everybody]", "odca[tries=many]", "odca[speed=1]"):
        with pytest.raises(BadInput, match="odca"):
            parameters(wrong)
