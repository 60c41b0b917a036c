"""Ahn's figures 3 to 7, message by message: p, q, r and s are 0, 1, 2 and 3."""

from __future__ import annotations

import pytest

from testbed.algorithms import find
from tests.deadline_stage import MS, Stage

P, Q, R, S = range(4)
M1, M2, M3 = (P, 1), (Q, 1), (S, 1)


def figure(name: str, *, deadline_of_m3: float = 500) -> Stage:
    """p, q and s broadcast m1, m2 and m3 in order; m3 is on its way to r."""
    stage = Stage(find(name), 4)
    stage.until(100)
    stage.send(P, 900)
    stage.arrive(M1, Q)
    stage.arrive(M1, S)
    stage.until(110)
    stage.send(Q, 800)
    stage.arrive(M2, S)
    stage.arrive(M2, P)
    stage.until(120)
    stage.send(S, deadline_of_m3)
    stage.arrive(M3, P)
    stage.arrive(M3, Q)
    return stage


@pytest.mark.parametrize("name", ["odca", "tdca", "delta-causal"])
def test_in_figure_3_a_message_waits_for_its_predecessors(name: str) -> None:
    stage = figure(name)
    assert stage.arrive(M3, R) == []
    assert stage.arrive(M2, R, source=Q) == []
    assert stage.arrive(M1, R, source=P) == [M1, M2, M3]


@pytest.mark.parametrize("name", ["odca", "tdca", "delta-causal"])
def test_in_figure_4_the_deadline_delivers_the_last_message_and_drops_the_first_two(
    name: str,
) -> None:
    stage = figure(name, deadline_of_m3=60)
    stage.until(125)
    assert stage.arrive(M3, R) == []
    stage.until(190)
    assert stage.order(R) == [M3]
    assert stage.delivered[R][0].shown < 180 * MS
    assert stage.arrive(M1, R, source=P) == []
    assert stage.arrive(M2, R, source=Q) == []
    assert stage.reasons(R) == {M1: "overtaken", M2: "overtaken"}
    assert [stage.order(node) for node in (P, Q, S)] == [[M2, M3], [M1, M3], [M1, M2]]


def test_in_figure_5_every_member_keeps_what_it_delivered_and_what_it_sent() -> None:
    stage = figure("odca")
    kept = [len(stage.nodes[node].kept) for node in (P, Q, R, S)]  # type: ignore[attr-defined]
    assert kept == [3, 3, 0, 3]


def test_in_figure_6_the_sender_of_the_last_message_repeats_its_predecessors() -> None:
    stage = figure("odca")
    stage.arrive(M3, R)
    ((asker, asked, solicit),) = stage.packets_of("Solicit")
    assert (asker, asked) == (R, S)
    assert [sender for sender, _, _ in solicit.gaps] == [P, Q]
    stage.arrive_flight(stage.find(S, kind="Solicit"))
    assert [(f.source, f.message) for f in stage.flying if f.to == R and f.source == S] == [
        (S, M1), (S, M2)
    ]  # fmt: skip
    assert stage.arrive(M1, R, source=S) == [M1]
    assert stage.arrive(M2, R, source=S) == [M2, M3]
    stage.arrive(M1, R, source=P)
    stage.arrive(M2, R, source=Q)
    assert stage.reasons(R) == {M1: "duplicate", M2: "duplicate"}


def test_in_figure_7_a_lost_message_comes_back_before_the_deadline() -> None:
    stage = figure("odca")
    stage.lose(M1, R)
    stage.lose(M2, R)
    stage.arrive(M3, R)
    stage.until(300)
    stage.arrive_flight(stage.find(S, kind="Solicit"))
    assert stage.arrive(M2, R, source=S) == []
    assert stage.arrive(M1, R, source=S) == [M1, M2, M3]
    assert stage.faults() == []


def test_without_repair_figure_7_delivers_the_last_message_alone() -> None:
    stage = figure("tdca")
    stage.lose(M1, R)
    stage.lose(M2, R)
    stage.arrive(M3, R)
    stage.until(2000)
    assert stage.order(R) == [M3]
