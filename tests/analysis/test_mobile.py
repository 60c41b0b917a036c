"""Statistics of mobile runs: a journey worked out by hand, then sums that must come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from analysis.mobile_figures import mobile_figures
from analysis.queries import query
from analysis.statistics import JOULES_RECEIVED, JOULES_SENT, applicable, statistic
from analysis.tables import register
from testbed.trace.rundir import RunDir
from testbed.trace.schema import SCHEMA
from tests.analysis.builders import roam, simulate, step, written

pytestmark = pytest.mark.spark

S0, S1, FROM, TO = 0, 1, 2, 3
UP, DATA, DOWN = "up", "data", "down"


def copy(
    node: int, time: int, event: str, peer: int | None, packet: str | None, ints: int
) -> dict[str, Any]:
    """A row about the one message of this trace; a control integer weighs two bytes here."""
    return step(
        node, time, event, peer, origin=FROM, number=1, packet=packet, payload_bytes=100,
        control_ints=ints, control_bytes=2 * ints,
    )  # fmt: skip


BY_HAND = [
    # The sender is out of reach at 0, registers at 5, is taken over by 20 and sends again at 10.
    step(FROM, 0, "send", origin=FROM, number=1, dests=[TO], payload_bytes=100),
    step(S0, 5, "handoff_begin", FROM),
    copy(FROM, 10, "retransmit", S0, UP, 3),
    copy(S0, 15, "receive", FROM, UP, 3),
    copy(S0, 20, "forward", S1, DATA, 9),
    step(S0, 25, "handoff_end", FROM),
    # It is held at the other station until 30, lost in the air, and sent again at 40.
    copy(S1, 27, "receive", S0, DATA, 9),
    copy(S1, 30, "forward", TO, DOWN, 1),
    copy(S1, 30, "drop", TO, DOWN, 1),
    copy(S1, 40, "retransmit", TO, DOWN, 1),
    copy(TO, 45, "receive", S1, DOWN, 1),
    copy(TO, 45, "deliver", None, None, 0),
]


def test_a_journey_is_split_as_one_would_by_hand(spark: SparkSession, tmp_path: Path) -> None:
    register(spark, [written(tmp_path / "hand", BY_HAND)])
    (row,) = query(spark, "SELECT * FROM journeys").to_dict("records")
    away_and_taken_over, lost_in_the_air = 10 + 5, 10
    assert row["handoff_ns"] == away_and_taken_over + lost_in_the_air
    assert (row["air_ns"], row["wired_ns"], row["held_ns"]) == (5 + 5, 7, 3)
    assert row["delay_ns"] == 45
    assert (row["wired_header_bytes"], row["air_header_bytes"]) == (18, 6 + 2)


def test_what_a_station_keeps_for_a_host_off_the_air_is_not_held_for_order(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [
        step(TO, 25, "disconnect", S1), step(TO, 60, "connect", S1),
        *(row for row in BY_HAND if row["time"] < 30),
        copy(S1, 65, "retransmit", TO, DOWN, 1), copy(TO, 70, "receive", S1, DOWN, 1),
        copy(TO, 70, "deliver", None, None, 0),
    ]  # fmt: skip
    register(spark, [written(tmp_path / "away", rows)])
    (row,) = query(spark, "SELECT * FROM journeys").to_dict("records")
    assert (row["held_ns"], row["handoff_ns"]) == (65 - 60, (10 + 5) + (60 - 27))


def test_a_hop_weighs_what_crossed_its_medium(spark: SparkSession, tmp_path: Path) -> None:
    register(spark, [written(tmp_path / "hops", BY_HAND)])
    hops = query(spark, "SELECT * FROM hops ORDER BY time, is_lost")
    assert hops[["source", "target", "medium", "is_lost", "bytes"]].to_numpy().tolist() == [
        [FROM, S0, "air", False, 106],
        [S0, S1, "wire", False, 118],
        [S1, TO, "air", True, 102],
        [S1, TO, "air", False, 102],
    ]


def test_energy_is_what_bytes_cost_and_can_be_set(spark: SparkSession, tmp_path: Path) -> None:
    register(spark, [written(tmp_path / "energy", BY_HAND)])
    (joules,) = statistic(spark, "air")["millijoules_per_host"]
    assert pytest.approx(joules) == 1e3 * (106 * JOULES_SENT + 102 * JOULES_RECEIVED) / 2
    (set_by_hand,) = statistic(spark, "air", joules_sent=1.0, joules_received=0.0)[
        "millijoules_per_host"
    ]
    assert pytest.approx(set_by_hand) == 1e3 * 106 / 2


def test_a_hand_off_counts_from_the_first_registration(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        step(S0, 3, "handoff_begin", FROM), step(S0, 7, "handoff_begin", FROM),
        step(S0, 9, "handoff_end", FROM), step(S0, 20, "handoff_begin", FROM),
        step(S0, 26, "handoff_end", FROM), step(S0, 30, "handoff_begin", FROM),
        step(FROM, 2, "enter", S0),
    ]  # fmt: skip
    register(spark, [written(tmp_path / "handoffs", rows)])
    found = query(spark, "SELECT begin_time, end_time FROM handoffs ORDER BY begin_time")
    assert found.to_numpy().tolist() == [[3, 9], [20, 26]]
    assert statistic(spark, "handoff")["handoffs"].tolist() == [2]


def test_a_stay_ends_where_the_host_leaves(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        step(FROM, 1, "receive", S1), step(FROM, 5, "leave", S1), step(FROM, 8, "enter", S0),
        step(FROM, 9, "disconnect", S0), step(FROM, 30, "connect", S1), step(TO, 40, "receive", S0),
    ]  # fmt: skip
    register(spark, [written(tmp_path / "stays", rows)])
    stays = query(
        spark,
        "SELECT host, station, start_time, end_time, disconnects FROM stays "
        "ORDER BY host, start_time",
    )
    assert stays.to_numpy().tolist() == [
        [FROM, S1, 0, 5, False], [FROM, S0, 8, 9, True], [FROM, S1, 30, 40, False],
        [TO, S0, 0, 40, False],
    ]  # fmt: skip


# --- a simulated run ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return roam(tmp_path_factory.mktemp("mobile"), "av1", stations=3, hosts=6, messages=150)


@pytest.fixture(scope="module")
def rows(run: RunDir) -> pd.DataFrame:
    return run.table(tuple(SCHEMA.names)).to_pandas()


@pytest.fixture(scope="module")
def mobile(spark: SparkSession, run: RunDir) -> dict[str, pd.Series]:
    register(spark, [run])
    names = [name for name in applicable(spark) if name in queries_of_mobile()]
    return {name: statistic(spark, name).iloc[0] for name in names}


def queries_of_mobile() -> set[str]:
    return {"journey", "inhibition", "handoff", "wires", "air", "stations"}


def test_mobile_statistics_are_asked_only_of_mobile_runs(
    spark: SparkSession, mobile: dict[str, pd.Series], tmp_path: Path
) -> None:
    assert set(mobile) == queries_of_mobile()
    register(spark, [simulate(tmp_path, "rst", messages=20)])
    assert not queries_of_mobile() & set(applicable(spark))


def test_the_parts_of_a_journey_add_up_and_none_is_negative(
    spark: SparkSession, run: RunDir, mobile: dict[str, pd.Series], rows: pd.DataFrame
) -> None:
    register(spark, [run])
    journeys = query(spark, "SELECT * FROM journeys")
    parts = journeys[["air_ns", "wired_ns", "held_ns", "handoff_ns"]]
    assert (parts.sum(axis=1) == journeys["delay_ns"]).all()
    assert (parts >= 0).all().all()
    assert (parts > 0).any().all(), "every part occurs in this run"
    assert len(journeys) == (rows["event"] == "deliver").sum() == mobile["journey"]["deliveries"]


def test_wires_and_hand_offs_are_those_of_the_trace(
    run: RunDir, mobile: dict[str, pd.Series], rows: pd.DataFrame
) -> None:
    between = (rows["role"] == "mss") & (rows["peer"] < 3) & (rows["event"] == "receive")
    sends = (rows["event"] == "send").sum()
    wires, handoff = mobile["wires"], mobile["handoff"]
    assert between.sum() / sends == pytest.approx(wires["packets_per_message"])
    data = rows[between & rows["origin"].notna()]
    assert data["control_ints"].mean() == pytest.approx(wires["header_ints_mean"])
    assert (rows["event"] == "handoff_end").sum() == handoff["handoffs"] > 0
    begun = rows[between & rows["packet"].isin(["handoff_begin", "handoff_over"])]
    assert len(begun) / handoff["handoffs"] == handoff["packets_per_handoff"]


def test_no_matrix_crosses_the_air_under_av1(mobile: dict[str, pd.Series]) -> None:
    hosts = 6
    assert mobile["air"]["control_ints_per_frame_mean"] < 2 + hosts < hosts**2
    assert hosts**2 < mobile["wires"]["header_ints_mean"]


def test_av1_inhibits_nothing_and_av2_does(spark: SparkSession, tmp_path: Path) -> None:
    runs = [roam(tmp_path, name, stations=4, hosts=8, messages=200) for name in ("av1", "av2")]
    register(spark, runs)
    table = statistic(spark, "inhibition").set_index("algorithm")
    delivered = query(spark, "SELECT count(*) AS c FROM events WHERE event = 'deliver'")["c"][0]
    assert table["released"].sum() >= delivered
    assert table.loc["av1", "waited"] > 0
    assert table.loc["av1", "inhibited"] == 0
    assert table.loc["av2", "inhibited"] > 0


def test_the_report_of_a_mobile_run_has_a_map(spark: SparkSession, run: RunDir) -> None:
    register(spark, [run])
    drawn = {figure.name: figure.svg for figure in mobile_figures(spark, {run.id: "av1"})}
    assert set(drawn) == {"journey_parts", "cells", "whereabouts"}
    assert all(f">s{station}<" in drawn["cells"] for station in range(3)), "each cell is named"
