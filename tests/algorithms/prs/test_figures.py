"""PRS figures 2 and 8, message by message, as their prose states them.

The figures themselves are not in the text. Figure 2's prose does not say who sends M4 and M5, or
where M5 goes. Here M4 goes from P1 to P5 after M1: it is concurrent with M3 and M6, visits P5 and
not P3, and precedes M7. It arrives at P5 between M1 and M2; later, it would bring M1 back into what
P5 holds for P3, and M7 would carry more than the prose says (a test shows it).
M5 goes from P1 to P4 and arrives after M6 was sent: it precedes none of M6, M7, M8, as the prose
lists M5 among the predecessors of none of them.
"""

from __future__ import annotations

import pytest

from testbed.algorithms import find
from tests.algorithms.prs.barriers import barrier, state_of
from tests.scene import Scene

P1, P2, P3, P4, P5 = range(5)
PRS = find("prs")


class Figure2:
    """The whole execution; each message under its name in the figure."""

    def __init__(self, *, m4_arrives_last: bool = False) -> None:
        scene = self.scene = Scene(PRS, 5)
        self.m1 = scene.send(P1, P2, P3, P5)
        scene.arrive(self.m1, P2)
        self.m2 = scene.send(P2, P3, P4, P5)
        scene.arrive(self.m1, P3)
        scene.arrive(self.m2, P3)
        self.m3 = scene.send(P3, P5)
        self.m4 = scene.send(P1, P5)
        self.m5 = scene.send(P1, P4)
        scene.arrive(self.m2, P4)
        self.m6 = scene.send(P4, P3, P5)
        scene.arrive(self.m5, P4)
        others = [self.m2, self.m3, self.m6]
        for message in (
            [self.m1, *others, self.m4] if m4_arrives_last else [self.m1, self.m4, *others]
        ):
            scene.arrive(message, P5)
        self.m7 = scene.send(P5, P3)
        self.m7_before_m6 = scene.arrive(self.m7, P3)
        self.m6_at_p3 = scene.arrive(self.m6, P3)
        self.m8 = scene.send(P3, P5)
        self.m8_at_p5 = scene.arrive(self.m8, P5)

    def carries(self, message: tuple[int, int]) -> dict[int, set[tuple[int, int]]]:
        return barrier(self.scene.packet(message))


@pytest.fixture(scope="module")
def figure2() -> Figure2:
    return Figure2()


def test_m1_carries_nothing(figure2: Figure2) -> None:
    assert figure2.carries(figure2.m1) == {}


def test_m2_depends_on_m1_where_both_go(figure2: Figure2) -> None:
    assert figure2.carries(figure2.m2) == {P2: {(P1, 1)}, P3: {(P1, 1)}, P5: {(P1, 1)}}


def test_m3_carries_its_direct_dependency_on_m2_and_not_the_transitive_one_on_m1(
    figure2: Figure2,
) -> None:
    assert figure2.carries(figure2.m3)[P5] == {figure2.m2}


def test_m4_carries_no_dependency_on_m6_nor_m6_on_m4(figure2: Figure2) -> None:
    assert figure2.m6 not in figure2.carries(figure2.m4)[P5]
    assert figure2.m4 not in figure2.carries(figure2.m6)[P5]


def test_m6_carries_m2_for_both_destinations_and_not_m1(figure2: Figure2) -> None:
    carried = figure2.carries(figure2.m6)
    assert (carried[P3], carried[P5]) == ({figure2.m2}, {figure2.m2})


def test_m7_carries_m6_alone_for_p3(figure2: Figure2) -> None:
    assert figure2.carries(figure2.m7)[P3] == {figure2.m6}


def test_m7_tells_what_p5_delivered_most_recently(figure2: Figure2) -> None:
    assert figure2.carries(figure2.m7)[P5] == {figure2.m3, figure2.m4, figure2.m6}


def test_m7_waits_at_p3_for_m6(figure2: Figure2) -> None:
    assert (figure2.m7_before_m6, figure2.m6_at_p3) == ([], [figure2.m6, figure2.m7])


def test_m8_carries_no_constraint_for_p5(figure2: Figure2) -> None:
    assert P5 not in figure2.carries(figure2.m8)
    assert figure2.m8_at_p5 == [figure2.m8]


def test_figure_2_ends_with_everything_delivered_in_order(figure2: Figure2) -> None:
    assert figure2.scene.flying == []
    assert figure2.scene.audit().why.startswith("13 deliveries in causal order")


def test_m4_after_m2_would_bring_m1_back_as_a_redundant_constraint_for_p3() -> None:
    late = Figure2(m4_arrives_last=True)
    assert late.carries(late.m7)[P3] == {late.m6, late.m1}


def test_figure_8_knowledge_of_a_delivery_travels_one_hop_only() -> None:
    scene = Scene(PRS, 4)
    m1 = scene.send(P1, P2, P4)
    scene.arrive(m1, P4)
    assert state_of(scene.node(P4))[P2] == {(P1, 1)}
    scene.arrive(m1, P2)
    m2 = scene.send(P2, P3)
    assert barrier(scene.packet(m2))[P2] == {(P1, 1)}
    scene.arrive(m2, P3)
    assert scene.node(P3).delivered[P2][P1] == 1
    m3 = scene.send(P3, P4)
    assert P2 not in barrier(scene.packet(m3))
    assert scene.arrive(m3, P4) == [m3]
    assert state_of(scene.node(P4))[P2] == {(P1, 1)}
    redundant = scene.send(P4, P2)
    assert barrier(scene.packet(redundant))[P2] == {(P1, 1)}


def test_figure_8_in_the_broadcast_case_the_constraint_is_gone() -> None:
    scene = Scene(PRS, 4)
    m1 = scene.send(P1, P2, P3, P4)
    scene.arrive_everywhere(m1)
    m2 = scene.send(P2, P1, P3, P4)
    scene.arrive_everywhere(m2)
    assert (P1, 1) not in state_of(scene.node(P4)).get(P2, set())
