"""Safety and liveness of every algorithm that promises causal order; the controls are caught."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.core.algorithm import Guarantee
from testbed.core.errors import BadInput
from testbed.core.network import Fifo
from testbed.trace.oracle import Fault, Verdict
from tests.families import STATIC
from tests.runs import plan, run
from tests.scene import Scene
from tests.schedules import from_choices, play

ALL = STATIC
CAUSAL = [name for name, a in ALL.items() if a.guarantee is Guarantee.CAUSAL]
OTHERS = [name for name in ALL if name not in CAUSAL]
ITSELF = [name for name in CAUSAL if ALL[name].refuses_self is None]
SENDS_TO_ITSELF_REFUSED = [name for name in ALL if ALL[name].refuses_self is not None]


def fifo_choices(name: str) -> list[Fifo]:
    return [Fifo.ON, Fifo.GK] if ALL[name].needs_fifo else [Fifo.OFF, Fifo.ON, Fifo.GK]


@pytest.mark.parametrize("n", range(2, 13))
@pytest.mark.parametrize("name", CAUSAL)
def test_every_message_is_delivered_once_and_in_causal_order(name: str, n: int) -> None:
    for seed, fifo in enumerate(fifo_choices(name)):
        for multicast in (0.0, 0.3, 1.0):
            made = plan(name, n=n, seed=seed, fifo=fifo, multicast=multicast, messages=60)
            outcome = run(made)
            audit = outcome.audit
            assert [finding.prose for finding in audit.findings] == []
            assert audit.delivered == audit.owed == outcome.totals.delivered
            assert outcome.totals.held == 0


@pytest.mark.parametrize("name", CAUSAL)
def test_a_run_that_reorders_puts_the_algorithm_to_the_test(name: str) -> None:
    audit = run(plan(name, n=6, messages=200)).audit
    assert audit.verdict is Verdict.VALID
    assert audit.evidence.arrived_out_of_order > 20
    assert audit.evidence.held > 20


@pytest.mark.parametrize("name", CAUSAL)
@given(n=st.integers(2, 6), choices=st.lists(st.integers(0, 59), max_size=160), fifo=st.booleans())
def test_no_schedule_breaks_order_or_leaves_a_message_behind(
    name: str, n: int, choices: list[int], fifo: bool
) -> None:
    algorithm = ALL[name]
    scene = play(
        Scene(algorithm, n), from_choices(choices), sends=12,
        fifo=fifo or algorithm.needs_fifo, itself=name in ITSELF,
    )  # fmt: skip
    assert [finding.prose for finding in scene.audit().findings] == []
    assert all(shell.held() == 0 for shell in scene.shells)


@pytest.mark.parametrize("n", [2, 5, 9])
@pytest.mark.parametrize("name", ITSELF)
def test_messages_to_oneself_are_delivered_like_any_other(name: str, n: int) -> None:
    outcome = run(plan(name, n=n, seed=n, itself=True, multicast=0.7, messages=80))
    to_itself = sum(
        row["origin"] == row["node"] for row in outcome.rows.named() if row["event"] == 2
    )
    assert to_itself > 5
    assert [finding.prose for finding in outcome.audit.findings] == []


@pytest.mark.parametrize("name", SENDS_TO_ITSELF_REFUSED)
def test_a_message_to_oneself_is_refused_with_its_reason(name: str) -> None:
    scene = Scene(ALL[name], 3)
    with pytest.raises(BadInput, match=f"{name} refuses a message to its own sender: "):
        scene.send(0, 0, 1, 2)


@pytest.mark.parametrize("name", [name for name in ALL if ALL[name].broadcast_only])
def test_a_multicast_is_refused_where_only_broadcasts_work(name: str) -> None:
    with pytest.raises(BadInput, match=f"{name} only broadcasts"):
        Scene(ALL[name], 4).send(0, 1)


@pytest.mark.parametrize("name", OTHERS)
def test_an_algorithm_without_the_guarantee_is_caught(name: str) -> None:
    audit = run(plan(name, n=6, messages=200)).audit
    assert audit.verdict is Verdict.INVALID
    assert {finding.fault for finding in audit.findings} == {Fault.CAUSAL_ORDER}
    assert audit.inversions > 10
    assert audit.undelivered == 0
