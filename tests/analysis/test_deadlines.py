"""Statistics of deadlines: every cause of a miss by hand, then a group that loses a member."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from analysis.deadline_figures import deadline_figures
from analysis.queries import query
from analysis.report import write_report
from analysis.statistics import applicable, statistic
from analysis.tables import register
from testbed.core.clocks import Clocks
from testbed.core.distribution import Exponential, Uniform
from testbed.core.fault import Crash
from testbed.trace.rundir import RunDir
from testbed.trace.schema import SCHEMA
from tests.analysis.builders import MS, simulate, step, written

pytestmark = pytest.mark.spark

SENDER, OTHER, LATER = 0, 1, 2
AHEAD = 5
"""By so much is the clock of node OTHER ahead of the run's; deadlines are 100 after the send."""


def sent(number: int, sender: int = SENDER, to: int = OTHER) -> dict[str, Any]:
    return step(
        sender, 0, "send", origin=sender, number=number, dests=[to], deadline=100, clock=0
    )  # fmt: skip


def seen(
    event: str, number: int, time: int, *, sender: int = SENDER, node: int = OTHER, **more: Any
) -> dict[str, Any]:
    return step(
        node, time, event, origin=sender, number=number, deadline=100, clock=time + AHEAD, **more
    )


FATES: dict[str, list[dict[str, Any]]] = {
    "delivered": [sent(1), seen("receive", 1, 20), seen("deliver", 1, 60)],
    "lost": [sent(2), step(SENDER, 0, "drop", OTHER, origin=SENDER, number=2, reason="loss")],
    "arrived late": [sent(3), seen("receive", 3, 120), seen("discard", 3, 120, reason="expired")],
    "clock error": [sent(4), seen("receive", 4, 98), seen("discard", 4, 98, reason="expired")],
    "held too long": [sent(5), seen("receive", 5, 20), seen("discard", 5, 95, reason="expired")],
    "successor delivered": [
        sent(6), seen("receive", 6, 20), seen("discard", 6, 20, reason="overtaken"),
    ],
    "no room": [sent(7), seen("drop", 7, 20, reason="no_room")],
    "delivered late": [sent(8), seen("receive", 8, 120), seen("deliver", 8, 120)],
    "unexplained": [sent(9)],
    "sender crashed": [sent(1, sender=LATER)],
    "receiver crashed": [sent(10, to=LATER)],
}  # fmt: skip
CRASH = step(LATER, 50, "crash", clock=50)


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    rows = [row for rows in FATES.values() for row in rows]
    return written(tmp_path_factory.mktemp("fates") / "hand", [*rows, CRASH])


def test_every_miss_has_the_cause_that_one_would_name(spark: SparkSession, by_hand: RunDir) -> None:
    register(spark, [by_hand])
    found = query(spark, "SELECT origin, number, fate FROM fates")
    expected = {
        (row["origin"], row["number"]): fate
        for fate, rows in FATES.items()
        for row in rows
        if row["event"] == "send"
    }
    assert {(r.origin, r.number): r.fate for r in found.itertuples()} == expected


def test_shares_are_of_what_is_owed_and_add_up(spark: SparkSession, by_hand: RunDir) -> None:
    register(spark, [by_hand])
    row = statistic(spark, "deadlines").iloc[0]
    assert (row["owed"], row["not_owed_receiver_crashed"]) == (10, 1)
    shares = [row[name] for name in row.index if name.endswith("_percent")]
    assert sum(shares) == pytest.approx(100)
    assert row["delivered_percent"] == pytest.approx(10)
    assert row["slack_ms_mean"] * 1e6 == pytest.approx(100 - 60 - AHEAD)


def test_a_suspicion_before_the_crash_is_wrong(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        CRASH, step(SENDER, 40, "suspect", LATER), step(OTHER, 70, "suspect", LATER),
        step(SENDER, 90, "suspect", OTHER),
    ]  # fmt: skip
    register(spark, [written(tmp_path / "suspicions", rows)])
    row = statistic(spark, "suspicions").iloc[0]
    assert (row["crashed"], row["suspicions"], row["wrong_suspicions"]) == (1, 3, 2)
    assert row["detection_ms_mean"] * 1e6 == pytest.approx(20)


def test_a_round_trip_runs_from_a_lone_question_to_its_answer(
    spark: SparkSession, tmp_path: Path
) -> None:
    def ask(time: int) -> dict[str, Any]:
        return step(OTHER, time, "repair", SENDER, packet="solicit")

    def answer(time: int, number: int) -> dict[str, Any]:
        return seen("receive", number, time, peer=SENDER, packet="reply")

    rows = [
        sent(1), sent(2), sent(3), ask(10), answer(40, 1), answer(45, 2),
        ask(100), ask(110), answer(150, 3),
    ]  # fmt: skip
    facts = {"repair_packets": ["solicit", "reply"]}
    register(spark, [written(tmp_path / "asked", rows, facts=facts)])
    row = statistic(spark, "repair").iloc[0]
    assert row["round_trip_ms_p50"] * 1e6 == pytest.approx(30), "two open questions count not"


# --- simulated groups -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDir]:
    out = tmp_path_factory.mktemp("groups")
    settings: dict[str, Any] = {
        "loss": 0.1, "messages": 150, "lifetime": Exponential(400 * MS),
        "clocks": Clocks(ahead=Uniform(0, 5 * MS)),
    }  # fmt: skip
    crash = (Crash(600 * MS, (0,)),)
    return {
        "odca": simulate(out, "odca", n=5, **settings),
        "tdca": simulate(out, "tdca", n=5, faults=crash, **settings),
        "larger": simulate(out, "odca", n=8, **settings),
    }


def test_fates_agree_with_the_trace(spark: SparkSession, groups: dict[str, RunDir]) -> None:
    register(spark, [groups["odca"]])
    rows = groups["odca"].table(tuple(SCHEMA.names)).to_pandas()
    assert {"deadlines", "repair", "buffers"} <= set(applicable(spark))
    deadlines, repair = (statistic(spark, name).iloc[0] for name in ("deadlines", "repair"))
    delivered = rows[(rows["event"] == "deliver") & (rows["node"] != rows["origin"])]
    assert (delivered["clock"] <= delivered["deadline"]).all()
    assert deadlines["delivered_percent"] == pytest.approx(100 * len(delivered) / deadlines["owed"])
    assert deadlines["missed_unexplained_percent"] == 0
    moved = rows[rows["event"].isin(["receive", "drop"]) & rows["packet"].notna()]
    assert (moved["packet"] == "reply").sum() == repair["replies"] > 0
    assert moved["packet"].isin(["solicit", "nothing"]).sum() == repair["solicitations"]
    assert repair["repaired_deliveries"] > 0
    asked = rows[(rows["event"] == "repair") & (rows["packet"] == "solicit")]
    assert len(asked) == (moved["packet"] == "solicit").sum()
    assert 0 < repair["round_trip_ms_p50"] < repair["round_trip_ms_p99"]


def test_what_differs_between_runs_is_what_the_plot_is_over(
    spark: SparkSession, groups: dict[str, RunDir]
) -> None:
    register(spark, list(groups.values()))
    names = {run.id: name for name, run in groups.items()}
    drawn = {figure.name: figure for figure in deadline_figures(spark, names)}
    assert set(drawn) == {"delivered_by_size", "delivered_over_time", "misses"}
    assert all("<svg" in figure.svg for figure in drawn.values())


def test_nothing_is_owed_to_a_member_that_crashed(
    spark: SparkSession, groups: dict[str, RunDir]
) -> None:
    register(spark, [groups["tdca"]])
    row = statistic(spark, "deadlines").iloc[0]
    fates = query(spark, "SELECT node, fate FROM fates WHERE fate = 'receiver crashed'")
    assert len(fates) == row["not_owed_receiver_crashed"] > 0
    assert set(fates["node"]) == {0}
    assert pd.isna(statistic(spark, "repair").iloc[0]["repaired_arrival_ms_mean"])


def test_the_report_promises_no_delivery_that_deadlines_took(
    spark: SparkSession, groups: dict[str, RunDir], tmp_path: Path
) -> None:
    runs = [groups["odca"], groups["larger"]]
    write_report(spark, runs, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "What was delivered was in causal order" in page
    assert "Every message was delivered" not in page
    assert "Met and missed" in page
