"""PRS 6.1 at every send of random executions, and the print as a model of each packet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.algorithms import find
from testbed.core.algorithm import Algorithm
from testbed.trace.oracle import Verdict
from tests.algorithms.prs.barriers import Knowledge, barrier, state_of
from tests.algorithms.prs.printed import PrintedProcess
from tests.scene import Scene
from tests.schedules import Draw, from_choices, from_seed, play

PRS = find("prs")


def lemma_faults(algorithm: Algorithm, n: int, draw: Draw, sends: int) -> dict[str, list[str]]:
    """Both lemmas at every send of one execution."""
    scene = Scene(algorithm, n)
    knowledge = Knowledge(scene)
    faults: dict[str, list[str]] = {"lemma 1": [], "lemma 2": []}

    def at_send(message: tuple[int, int]) -> None:
        knowledge.sent(message)
        faults["lemma 1"] += [f"{message}: {tuple_}" for tuple_ in knowledge.spurious(message)]
        faults["lemma 2"] += [f"{message}: {tuple_}" for tuple_ in knowledge.missing(message)]

    play(scene, draw, sends=sends, after_send=at_send, after_arrival=knowledge.delivered)
    return faults


@pytest.mark.parametrize("n", range(2, 9))
def test_no_tuple_is_spurious_and_none_is_missing(n: int) -> None:
    for seed in range(12):
        faults = lemma_faults(PRS, n, from_seed(seed), sends=30)
        assert faults == {"lemma 1": [], "lemma 2": []}


@given(st.integers(2, 6), st.lists(st.integers(0, 59), max_size=150))
def test_lemmas_hold_in_whatever_execution_hypothesis_finds(n: int, choices: list[int]) -> None:
    faults = lemma_faults(PRS, n, from_choices(choices), sends=15)
    assert faults == {"lemma 1": [], "lemma 2": []}


@given(st.integers(2, 6), st.lists(st.integers(0, 59), max_size=150), st.booleans())
def test_every_packet_and_state_is_what_the_print_computes(
    n: int, choices: list[int], fifo: bool
) -> None:
    scene = Scene(PRS, n)
    printed = [PrintedProcess(i, n) for i in range(n)]
    travelling = {}

    def at_send(message: tuple[int, int]) -> None:
        cb = printed[message[0]].send(scene.dests_of[message])
        travelling[message] = cb
        assert barrier(scene.packet(message)) == {k: row for k, row in enumerate(cb) if row}

    def at_arrival(node: int, delivered: list[tuple[int, int]]) -> None:
        for message in delivered:
            cb = travelling[message]
            assert printed[node].may_deliver(cb)
            printed[node].deliver(*message, scene.dests_of[message], cb)
        assert state_of(scene.node(node)) == {
            k: row for k, row in enumerate(printed[node].cb) if row
        }

    play(
        scene, from_choices(choices), sends=15, fifo=fifo,
        after_send=at_send, after_arrival=at_arrival,
    )  # fmt: skip
    assert scene.audit().verdict is not Verdict.INVALID
