"""Each correction of figure 8, with the schedule that needs it: as printed, and as corrected."""

from __future__ import annotations

import pytest

from testbed.algorithms import find
from testbed.algorithms.deadline import odca_printed
from testbed.core.algorithm import Algorithm
from tests.algorithms.odca import printed_schedules as saved
from tests.algorithms.odca.printed_schedules import Schedule, replay
from tests.deadline_schedules import Weather, finish, play
from tests.mutation import Mutant, mutate

ODCA, PRINTED = find("odca"), find("odca-printed")

AS_PRINTED = "all(map(lt, e.vector, packet.upper)) and all(map(gt, e.vector, packet.mine))"
AS_MEANT = "all(map(le, e.vector, packet.upper)) and e.time > packet.mine[e.sender]"


@pytest.fixture(scope="module")
def answering() -> Algorithm:
    """The print with SOLICIT-RECV mended and nothing else: without that, no reply ever comes."""
    return mutate(odca_printed, Mutant("SOLICIT-RECV mended", AS_PRINTED, AS_MEANT, "twice"))


def test_a_message_overtaken_by_its_senders_next_is_lost_as_printed() -> None:
    assert replay(saved.PREVIOUS, PRINTED).reasons(1) == {(0, 1): "overtaken"}
    assert replay(saved.PREVIOUS, ODCA).order(1) == [(0, 1), (0, 2)]


def test_two_messages_between_two_ticks_are_one_as_printed() -> None:
    assert replay(saved.SAME_TICK, PRINTED).order(1) == [(0, 1)]
    assert replay(saved.SAME_TICK, ODCA).order(1) == [(0, 1), (0, 2)]


def test_an_answer_with_an_earlier_clock_value_is_delivered_first_as_printed() -> None:
    as_printed = replay(saved.CLOCK_BEHIND, PRINTED)
    assert as_printed.order(2) == [(1, 2), (0, 1)]
    assert "inversion" in as_printed.kinds()
    corrected = replay(saved.CLOCK_BEHIND, ODCA)
    assert corrected.order(2) == [(0, 1), (1, 2)]
    assert corrected.faults() == []


def test_a_lost_message_is_repeated_by_its_sender_which_the_print_never_asks() -> None:
    as_printed = replay(saved.LOST_TO_ITS_SUCCESSOR, PRINTED)
    assert as_printed.packets_of("Solicit") == []
    assert as_printed.order(1) == [(0, 2)]
    assert replay(saved.LOST_TO_ITS_SUCCESSOR, ODCA).order(1) == [(0, 1), (0, 2)]


def test_the_papers_own_example_gets_an_empty_reply_as_printed(answering: Algorithm) -> None:
    as_printed = replay(saved.FIGURE_6, PRINTED)
    assert [reply.queue for _, _, reply in as_printed.packets_of("Reply")] == [[]]
    assert as_printed.order(2) == []
    for mended in (answering, ODCA):
        assert replay(saved.FIGURE_6, mended).order(2) == [(0, 1), (1, 1), (3, 1)]


def test_a_reply_that_crosses_its_messages_delivers_them_twice_as_printed(
    answering: Algorithm,
) -> None:
    as_printed = replay(saved.REPLY_CROSSES, answering)
    assert as_printed.order(2)[:3] == [(0, 1), (1, 1), (3, 1)]
    assert sorted(as_printed.order(2)[3:]) == [(0, 1), (1, 1)]
    assert "twice" in as_printed.kinds()
    corrected = replay(saved.REPLY_CROSSES, ODCA)
    assert corrected.order(2) == [(0, 1), (1, 1), (3, 1)]
    assert corrected.reasons(2) == {(0, 1): "duplicate", (1, 1): "duplicate"}


def test_a_deadline_between_two_intervals_is_missed_as_printed() -> None:
    as_printed = replay(saved.WAITS_BETWEEN_TICKS, PRINTED)
    assert as_printed.order(2) == [(0, 1), (1, 1)]
    assert as_printed.kinds() == {"late"}
    corrected = replay(saved.WAITS_BETWEEN_TICKS, ODCA)
    assert corrected.order(2) == [(1, 1)]
    assert corrected.reasons(2) == {(0, 1): "overtaken"}
    assert corrected.faults() == []


def test_a_message_in_the_queue_past_its_deadline_is_not_delivered_even_if_timers_are_late() -> (
    None
):
    for schedule in (saved.WAITS_BETWEEN_TICKS, saved.BETWEEN_TICKS):
        stage = replay(schedule, ODCA, late_timers=True)
        late = max(stage.sent)
        assert stage.reasons(schedule.n - 1) == {late: "expired"}
        assert stage.order(schedule.n - 1) == [(0, 1)]
        assert stage.faults() == []


def test_one_look_at_the_queue_is_not_enough_when_clocks_differ() -> None:
    assert replay(saved.SECOND_LOOK, PRINTED).order(2) == [(1, 1), (0, 1)]
    assert replay(saved.SECOND_LOOK, ODCA).order(2) == [(1, 1), (0, 1), (1, 2)]


@pytest.mark.parametrize("seed", range(60))
def test_as_printed_no_solicitation_is_ever_answered_with_a_message(seed: int) -> None:
    stage = play(PRINTED, seed, n=2 + seed % 4, weather=Weather(lifetimes=(20, 60, 200)))
    replies = stage.packets_of("Reply")
    assert len(replies) <= len(stage.packets_of("Solicit")) * 2
    assert all(reply.queue == [] for _, _, reply in replies)


def test_every_saved_schedule_is_clean_as_corrected() -> None:
    schedules = [value for value in vars(saved).values() if isinstance(value, Schedule)]
    assert len(schedules) == 10
    for schedule in schedules:
        for late_timers in (False, True):
            stage = replay(schedule, ODCA, late_timers=late_timers)
            finish(stage)
            assert stage.faults() == []
            assert stage.unexplained() == []
