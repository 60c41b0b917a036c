"""The audit in Spark and the plain oracle, which share no code, say the same about every trace."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from analysis import columns, tables
from analysis.audit import audit_at_scale
from analysis.statistics import statistic
from analysis.tables import register
from testbed.core.errors import DamagedRun
from testbed.trace.audit import audit_run
from testbed.trace.oracle import Audit, Verdict
from testbed.trace.rundir import RunDir
from tests.analysis.builders import NODES, Step, at, roam, simulate, write_trace

pytestmark = pytest.mark.spark

TWO_HOPS = {
    # a1 goes to c slowly; its news reaches c sooner, through b and d
    "a": [("send", "a1", "b", "c")],
    "b": [("receive", "a1"), ("deliver", "a1"), ("send", "b1", "d")],
    "d": [("receive", "b1"), ("deliver", "b1"), ("send", "d1", "c")],
    "c": [("receive", "d1"), ("deliver", "d1"), ("receive", "a1"), ("deliver", "a1")],
}

BY_HAND: dict[str, dict[str, list[Step]]] = {
    "two_hops": TWO_HOPS,
    "two_hops_held": {
        "a": [at(0, "send", "a1", "b", "c")],
        "b": [at(1, "receive", "a1"), at(1, "deliver", "a1"), at(1, "send", "b1", "d")],
        "d": [at(2, "receive", "b1"), at(2, "deliver", "b1"), at(2, "send", "d1", "c")],
        "c": [
            at(5, "receive", "d1"),
            at(9, "receive", "a1"),
            at(9, "deliver", "a1"),
            at(9, "deliver", "d1"),
        ],
    },
    "swapped": {
        "a": [("send", "a1", "b"), ("send", "a2", "b")],
        "b": [("receive", "a1"), ("receive", "a2"), ("deliver", "a2"), ("deliver", "a1")],
    },
    "lost": {
        "a": [("send", "a1", "b", "c"), ("send", "a2", "b")],
        "b": [("receive", "a1"), ("receive", "a2"), ("deliver", "a1")],
    },
    "doubled": {
        "a": [("send", "a1", "b")],
        "b": [("receive", "a1"), ("deliver", "a1"), ("deliver", "a1")],
    },
    "never_sent": {"a": [("send", "a1", "b")], "b": [("deliver", "a1"), ("deliver", "c7")]},
    "not_addressed": {
        "a": [("send", "a1", "b")],
        "b": [("deliver", "a1")],
        "c": [("deliver", "a1")],
    },
    "sent_twice": {
        "a": [("send", "a1", "b"), ("send", "a1", "c")],
        "b": [("deliver", "a1")],
        "c": [("deliver", "a1")],
    },
    "before_it_was_sent": {
        "a": [("deliver", "b1"), ("send", "a1", "b")],
        "b": [("deliver", "a1"), ("send", "b1", "a"), ("deliver", "a1")],
    },
    "to_oneself": {
        "a": [
            ("send", "a1", "a"),
            ("send", "a2", "a"),
            ("receive", "a2"),
            ("deliver", "a2"),
            ("receive", "a1"),
            ("deliver", "a1"),
        ]
    },
    "nothing_tested": {
        "a": [("send", "a1", "b")],
        "b": [("receive", "a1"), at(10, "deliver", "a1")],
    },
    "a_station_holds_a_copy": {
        "a": [("send", "a1", "b"), ("send", "a2", "b", "c")],
        "d": [
            at(3, "receive", "a2"),
            at(5, "receive", "a1"),
            at(5, "forward", "a1", "b"),
            at(6, "forward", "a2", "b"),
            at(8, "forward", "a2", "c"),
            at(9, "forward", "a2", "a"),
            at(9, "forward", "a2", "c"),
        ],
        "b": [("receive", "a1"), ("deliver", "a1"), ("receive", "a2"), ("deliver", "a2")],
        "c": [("receive", "a2"), ("deliver", "a2")],
    },
    "given_up_while_away": {
        "a": [("send", "a1", "b"), ("send", "a2", "b")],
        "b": [("receive", "a1"), ("deliver", "a1"), ("disconnect",)],
        "d": [("receive", "a1"), ("forward", "a1", "b"), ("discard", "a2", "b")],
    },
    "given_up_for_one_who_was_there": {
        "a": [("send", "a1", "b", "c"), ("send", "a2", "b")],
        "b": [("receive", "a1"), ("deliver", "a1")],
        "c": [("disconnect",), ("connect",)],
        "d": [("discard", "a2", "b"), ("discard", "a1", "c"), ("discard", "a2", "c")],
    },
    "given_up_after_its_return": {
        "a": [("receive", "b1"), ("deliver", "b1"), ("send", "a1", "b"), ("send", "a2", "b")],
        "b": [("disconnect",), ("connect",), ("send", "b1", "a")],
        "d": [("discard", "a1", "b"), ("discard", "a1", "b"), ("discard", "a9", "b")],
    },
    "given_up_and_delivered_all_the_same": {
        "a": [("send", "a1", "b")],
        "b": [("disconnect",), ("connect",), ("receive", "a1"), at(90, "deliver", "a1")],
        "d": [("discard", "a1", "b")],
    },
    "away_again": {
        "a": [("receive", "b1"), ("deliver", "b1"), ("send", "a1", "b")],
        "b": [("connect",), ("send", "b1", "a"), ("disconnect",)],
        "d": [("discard", "a1", "b")],
    },
    "no_receives": {"a": [("send", "a1", "b")], "b": [("deliver", "a1")]},
}

RANDOM_TRACES = 30


def random_trace(seed: int) -> dict[str, list[Step]]:
    """Anything goes: losses, repetitions, strangers, circles; sends outnumber nonsense."""
    draw = random.Random(seed)
    nodes = NODES[: draw.randint(2, 5)]
    messages = [f"{node}{number}" for node in nodes for number in range(1, draw.randint(2, 6))]
    steps_of: dict[str, list[Step]] = {node: [] for node in nodes}
    for name in messages:
        sender = name[0] if draw.random() < 0.95 else draw.choice(nodes)
        if draw.random() < 0.97:
            to = draw.sample(nodes, draw.randint(1, len(nodes)))
            steps_of[sender].append(("send", name, *to))
    for node in nodes:
        for _ in range(draw.randint(0, 4 * len(messages))):
            place = draw.randint(0, len(steps_of[node]))
            event = draw.choice(("receive", "receive", "deliver"))
            steps_of[node].insert(place, (event, draw.choice(messages)))
        for _ in range(draw.randint(0, 6) if seed % 2 else 0):
            place = draw.randint(0, len(steps_of[node]))
            about = (draw.choice(messages), draw.choice(nodes))
            kinds = (("forward", *about), ("discard", *about), ("disconnect",), ("connect",))
            steps_of[node].insert(place, draw.choice(kinds))
    return steps_of


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDir]:
    out = tmp_path_factory.mktemp("runs")
    made = [
        simulate(out, "ks", n=6, messages=300),
        simulate(out, "prs", messages=200),
        simulate(out, "rst", messages=200, itself=True),
        simulate(out, "bss", messages=100),
        simulate(out, "ks", messages=120, loss=0.1),
        simulate(out, "immediate", n=8, messages=1500, multicast=1.0),
        simulate(out, "fifo", n=8, messages=1500, multicast=1.0, itself=True),
        simulate(out, "immediate", n=70, messages=400),
        roam(out, "av1"),
        roam(out, "av1", keeps=False),
        roam(out, "prs-mobile", seed=2),
        roam(out, "badrinath", seed=3),
    ]
    made += [write_trace(out / name, steps) for name, steps in BY_HAND.items()]
    made += [
        write_trace(out / f"random{seed}", random_trace(seed), timed=seed % 3 > 0)
        for seed in range(RANDOM_TRACES)
    ]
    return {run.id: run for run in made}


@pytest.fixture(scope="module")
def plain(runs: dict[str, RunDir]) -> dict[str, Audit]:
    return {name: audit_run(run) for name, run in runs.items()}


@pytest.fixture(scope="module")
def at_scale(spark: SparkSession, runs: dict[str, RunDir]) -> dict[str, Audit]:
    register(spark, list(runs.values()))
    return audit_at_scale(spark)


def test_both_audits_say_the_same_of_every_trace(
    plain: dict[str, Audit], at_scale: dict[str, Audit]
) -> None:
    assert plain.keys() == at_scale.keys()
    different = [name for name in plain if plain[name] != at_scale[name]]
    assert different == []


def test_the_traces_cover_every_verdict_and_every_fault(plain: dict[str, Audit]) -> None:
    """Agreement on traces that are all alike would prove little."""
    audits = plain.values()
    assert {audit.verdict for audit in audits} == set(Verdict)
    assert sum(audit.inversions > 1000 for audit in audits) >= 2
    assert sum(audit.waived > 0 for audit in audits) >= 3
    assert sum(audit.groundless > 0 for audit in audits) >= 3
    for count in ("duplicates", "undelivered", "strangers"):
        assert sum(getattr(audit, count) > 0 for audit in audits) >= 5
    assert sum(audit.evidence.held > 0 for audit in audits) >= 5


def test_more_senders_than_one_block_are_judged_in_several(runs: dict[str, RunDir]) -> None:
    senders = len(set(runs["small-0008-immediate"].table(("node",)).column("node").to_pylist()))
    assert senders > columns.BLOCK_WIDTH


def test_a_chain_over_two_hops_is_told_in_full(at_scale: dict[str, Audit]) -> None:
    expected = (
        "m3.1 was delivered at p2 before m0.1, but send m0.1 -> deliver m0.1 at p1 -> "
        "send m1.1 -> deliver m1.1 at p3 -> send m3.1"
    )
    assert at_scale["two_hops"].why == expected


def test_what_is_held_for_its_past_is_evidence(at_scale: dict[str, Audit]) -> None:
    audit = at_scale["two_hops_held"]
    assert audit.verdict is Verdict.VALID
    assert (audit.evidence.held, audit.evidence.held_ns_total) == (1, 4)
    assert audit.evidence.arrived_out_of_order == 1


def test_a_run_that_was_cut_short_may_owe_deliveries(spark: SparkSession, tmp_path: Path) -> None:
    run = write_trace(tmp_path / "cut", BY_HAND["lost"])
    run.write_manifest({"status": "aborted"})
    register(spark, [run])
    assert audit_at_scale(spark)["cut"] == audit_run(run, complete=False)


def test_a_trace_tuned_as_large_is_judged_and_measured_alike(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large traces are compiled, spread over tasks and planned anew on the way."""
    run = simulate(tmp_path, "immediate", messages=200)
    register(spark, [run])
    small = statistic(spark, "overhead")
    monkeypatch.setattr(tables, "ROWS_OF_A_LARGE_TRACE", 0)
    register(spark, [run])
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    assert audit_at_scale(spark)[run.id] == audit_run(run)
    assert statistic(spark, "overhead").equals(small)


def test_two_events_with_one_seq_are_damage(spark: SparkSession, tmp_path: Path) -> None:
    run = write_trace(tmp_path / "torn", BY_HAND["doubled"])
    (run.events / "again.parquet").write_bytes((run.events / "trace.parquet").read_bytes())
    register(spark, [run])
    with pytest.raises(DamagedRun, match="node 0 has two events with seq 0"):
        audit_at_scale(spark)
