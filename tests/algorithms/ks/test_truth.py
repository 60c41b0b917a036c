"""The oracle of PC1 and PC2 on runs small enough to see the answer: it must be right first."""

from __future__ import annotations

from tests.algorithms.ks.truth import Fact, Knowledge, Truth, differences

FIRST, SECOND = (0, 1), (0, 2)


def _facts(*facts: tuple[tuple[int, int], int]) -> frozenset[Fact]:
    return frozenset(Fact(*fact) for fact in facts)


def test_a_message_is_owed_to_all_its_destinations_when_it_is_sent() -> None:
    truth = Truth(3)
    truth.send(0, FIRST, (1, 2))
    assert truth.log(0) == Knowledge(_facts((FIRST, 1), (FIRST, 2)), (1, 0, 0))
    assert truth.log(1) == Knowledge(frozenset(), (0, 0, 0))


def test_a_message_says_nothing_of_itself_in_what_it_carries() -> None:
    truth = Truth(3)
    truth.send(0, FIRST, (1, 2))
    assert truth.copy(FIRST, 1) == Knowledge(frozenset(), (0, 0, 0))


def test_pc_1_ends_information_at_its_delivery_and_in_its_future_only() -> None:
    truth = Truth(3)
    truth.send(0, FIRST, (1, 2))
    truth.deliver(1, FIRST)
    assert truth.log(1).facts == _facts((FIRST, 2))
    assert truth.log(0).facts == _facts((FIRST, 1), (FIRST, 2))
    truth.send(1, (1, 1), (0,))
    truth.deliver(0, (1, 1))
    assert truth.log(0).facts == _facts((FIRST, 2))


def test_pc_2_ends_information_at_the_next_send_except_on_the_copy_to_that_destination() -> None:
    truth = Truth(4)
    truth.send(0, FIRST, (1, 2))
    truth.send(0, SECOND, (1, 3))
    assert truth.log(0).facts == _facts((FIRST, 2), (SECOND, 1), (SECOND, 3))
    assert truth.copy(SECOND, 1).facts == _facts((FIRST, 1), (FIRST, 2))
    assert truth.copy(SECOND, 3).facts == _facts((FIRST, 2))
    assert truth.copy(SECOND, 3).newest == (1, 0, 0, 0)


def test_pc_2_needs_the_later_send_in_the_past_not_merely_somewhere() -> None:
    truth = Truth(3)
    truth.send(0, FIRST, (1, 2))
    truth.deliver(1, FIRST)
    truth.send(0, SECOND, (2,))
    assert truth.log(1).facts == _facts((FIRST, 2))
    assert truth.log(0).facts == _facts((FIRST, 1), (SECOND, 2))


def test_a_concurrent_send_to_the_same_destination_ends_nothing() -> None:
    truth = Truth(3)
    truth.send(0, FIRST, (2,))
    truth.send(1, (1, 1), (0, 2))
    truth.deliver(0, (1, 1))
    assert truth.log(0).facts == _facts((FIRST, 2), ((1, 1), 2))


def test_a_message_to_oneself_is_owed_until_it_is_delivered() -> None:
    truth = Truth(2)
    truth.send(0, FIRST, (0,))
    assert truth.log(0).facts == _facts((FIRST, 0))
    truth.deliver(0, FIRST)
    assert truth.log(0) == Knowledge(frozenset(), (1, 0))


def test_entries_are_the_open_facts_and_the_newest_of_each_sender() -> None:
    known = Knowledge(_facts((FIRST, 1), (FIRST, 2)), (2, 0))
    assert known.entries() == {(0, 1): {1, 2}, (0, 2): set(), (1, 0): set()}


def test_differences_are_told_apart_by_kind() -> None:
    required = Knowledge(_facts((FIRST, 1)), (2, 0))
    assert differences(required, required.entries()) == {}
    found = {(0, 1): frozenset({2}), (1, 0): frozenset[int](), (1, 3): frozenset[int]()}
    assert differences(required, found) == {
        "missing": {Fact(FIRST, 1)},
        "redundant": {Fact(FIRST, 2)},
        "newest": {0, 1},
        "null": {(1, 0)},
    }
