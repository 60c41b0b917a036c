"""The shell: it interprets every effect, and holds algorithms to the contract."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.core.distribution import Constant
from testbed.core.errors import BadInput, ContractViolation
from testbed.core.model import Submission
from testbed.core.node import Node, Turn, View
from testbed.engine.virtual import VirtualEngine
from testbed.trace.schema import REASONS, Event
from tests.engine.alarm import ALGORITHM, Alarm
from tests.runs import network, plan
from tests.scene import Rows, Scene


def alarmed(*submissions: Submission) -> tuple[list[Any], Rows]:
    """The nodes and rows of a run of the alarm, over links that take 5 ns."""
    import msgspec

    made = msgspec.structs.replace(
        plan("immediate", n=3), algorithm="tests.engine.alarm:ALGORITHM",
        network=network(Constant(5)),
    )  # fmt: skip
    rows = Rows()
    engine = VirtualEngine(made, rows)
    engine.play(iter(submissions))
    return [shell.node for shell in engine.shells.values()], rows


def heard(node: Any) -> list[str]:
    assert isinstance(node, Alarm)
    return node.heard[1:]


def test_every_node_is_started_once_at_time_zero() -> None:
    nodes, _ = alarmed()
    assert [node.heard for node in nodes] == [["started at 0"]] * 3


def test_setting_a_timer_again_moves_it() -> None:
    nodes, _ = alarmed(Submission(100, 1, (0,), 1))
    assert heard(nodes[1]) == ["ring at 130"]


def test_a_cancelled_timer_does_not_ring() -> None:
    nodes, _ = alarmed(Submission(100, 1, (0,), 2))
    assert heard(nodes[1]) == []


def test_timers_of_two_nodes_do_not_meddle() -> None:
    nodes, _ = alarmed(Submission(100, 1, (0,), 1), Submission(105, 2, (0,), 2))
    assert (heard(nodes[1]), heard(nodes[2])) == (["ring at 130"], [])


def test_a_packet_without_a_message_travels_where_the_algorithm_declares_it() -> None:
    nodes, rows = alarmed(Submission(100, 1, (2,), 3))
    assert heard(nodes[2]) == ["bell of 1 at 105"]
    (row,) = rows.named(Event.RECEIVE)
    assert (row["origin"], row["number"], row["peer"]) == (-1, -1, 1)
    (send,) = rows.named(Event.SEND)
    assert (send["copies"], send["control_bytes"]) == (0, 0), "a bell is no copy of the message"


def test_a_discard_is_traced_with_its_reason() -> None:
    _, rows = alarmed(Submission(100, 1, (2,), 4))
    (row,) = rows.named(Event.DISCARD)
    assert (row["origin"], row["number"], REASONS[row["reason"]]) == (1, 1, "oversized")


def test_a_discard_for_an_unknown_reason_breaks_the_contract() -> None:
    with pytest.raises(ContractViolation, match="alarm at node 1: unknown reason 'bad mood'"):
        alarmed(Submission(100, 1, (2,), 5))


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda node, turn: node.on_submitted(None, (), turn), "a submitted message"),
        (lambda node, turn: node.on_received(None, turn), "a received packet"),
        (lambda node, turn: node.on_timer("ring", turn), "a timer"),
    ],
)
def test_an_input_without_a_handler_is_named(call: Any, what: str) -> None:
    with pytest.raises(TypeError, match=rf"testbed\.core\.node\.Node cannot take {what}"):
        call(Node(View(0, (0, 1))), Turn(0))


def test_seq_counts_each_nodes_rows_from_zero_without_gaps() -> None:
    scene = Scene(ALGORITHM, 3)
    scene.arrive_everywhere(scene.send(0, 1, 2))
    scene.inject(1, b"junk")
    scene.arrive_everywhere(scene.send(1, 0, 2))
    for node in range(3):
        seqs = [row["seq"] for row in scene.rows.named() if row["node"] == node]
        assert seqs == list(range(len(seqs)))
        assert seqs


def test_a_refused_message_leaves_no_trace() -> None:
    from testbed.algorithms import find

    scene = Scene(find("prs"), 2)
    with pytest.raises(BadInput):
        scene.send(0, 0)
    assert scene.rows.rows == []


def test_rows_of_one_message_tell_its_whole_way() -> None:
    from testbed.algorithms import find

    scene = Scene(find("rst"), 3)
    slow = scene.send(0, 2)
    scene.arrive(scene.send(0, 1), 1)
    quick = scene.send(1, 2)
    scene.arrive(quick, 2)
    scene.arrive(slow, 2)
    at_2 = [row for row in scene.rows.named() if row["node"] == 2]
    told = [(Event(r["event"]).text, r["origin"], r["peer"], r["pending"]) for r in at_2]
    assert told == [
        ("receive", 1, 1, 1), ("receive", 0, 0, 0), ("deliver", 0, -1, 0), ("deliver", 1, -1, 0),
    ]  # fmt: skip
    assert {row["control_ints"] for row in at_2[:2]} == {9}
    assert {row["state_ints"] for row in at_2} == {9}
