"""Statistics are what a reader would compute by hand from the rows of the trace."""

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from analysis.queries import queries
from analysis.statistics import WORD_BITS, names, statistics
from analysis.tables import register
from testbed.trace.rundir import RunDir
from testbed.trace.schema import SCHEMA
from tests.analysis.builders import simulate

pytestmark = pytest.mark.spark

N = 5


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDir]:
    out = tmp_path_factory.mktemp("measured")
    return {
        "ks": simulate(out, "ks", n=N, messages=200, warmup=50),
        "prs": simulate(out, "prs", n=N, messages=200, warmup=50),
        "rst": simulate(out, "rst", n=N, messages=200, warmup=50, loss=0.2, engine="ray"),
    }


@pytest.fixture(scope="module")
def measured(spark: SparkSession, runs: dict[str, RunDir]) -> dict[str, pd.DataFrame]:
    register(spark, list(runs.values()))
    return {name: frame.set_index("algorithm") for name, frame in statistics(spark).items()}


@pytest.fixture(scope="module")
def rows(runs: dict[str, RunDir]) -> dict[str, pd.DataFrame]:
    """The trace of each run, with the send time of its message beside each row."""
    frames = {}
    for algorithm, run in runs.items():
        frame = run.table(tuple(SCHEMA.names)).to_pandas()
        sends = frame[frame["event"] == "send"].set_index(["origin", "number"])["time"]
        frame = frame.join(sends.rename("sent_time"), on=["origin", "number"])
        frame["measured"] = frame["sent_time"] > run.manifest()["warmup_until"]
        frames[algorithm] = frame
    return frames


def received(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["event"] == "receive") & rows["measured"]]


def test_the_statistics_come_in_a_fixed_order(measured: dict[str, pd.DataFrame]) -> None:
    assert list(measured) == [name for name in names() if name in measured]
    assert set(queries("statistics")) <= set(measured)
    assert names()[0] == "comparison"


@pytest.mark.parametrize("algorithm", ["ks", "prs"])
def test_overhead_is_that_of_copies_sent_after_the_warm_up(
    measured: dict[str, pd.DataFrame], rows: dict[str, pd.DataFrame], algorithm: str
) -> None:
    copies = received(rows[algorithm])
    row = measured["overhead"].loc[algorithm]
    assert len(copies) == row["copies"]
    assert copies["control_ints"].mean() == pytest.approx(row["control_ints_mean"])
    assert copies["control_bytes"].mean() == pytest.approx(row["control_bytes_mean"])
    assert 100 * copies["control_ints"].mean() / N**2 == pytest.approx(row["control_percent_of_nn"])
    lower = copies["control_ints"].quantile(0.95, interpolation="lower")
    higher = copies["control_ints"].quantile(0.95, interpolation="higher")
    assert lower <= row["control_ints_p95"] <= higher
    payload = copies["payload_bytes"].sum()
    everything = payload + copies["control_bytes"].sum()
    assert 100 * payload / everything == pytest.approx(row["payload_percent"])


def test_a_message_costs_what_all_its_copies_carry(
    measured: dict[str, pd.DataFrame], rows: dict[str, pd.DataFrame]
) -> None:
    sends = rows["ks"].query("event == 'send' and measured")
    row = measured["overhead"].loc["ks"]
    assert (len(sends), row["messages"]) == (150, 150)
    assert sends["control_ints"].mean() == pytest.approx(row["control_ints_per_message_mean"])


def test_rst_carries_its_whole_matrix(measured: dict[str, pd.DataFrame]) -> None:
    row = measured["overhead"].loc["rst"]
    assert (row["control_ints_mean"], row["control_percent_of_nn"]) == (N**2, 100.0)


def test_gks_rule_is_shown_with_and_without_count_fields(
    measured: dict[str, pd.DataFrame], rows: dict[str, pd.DataFrame]
) -> None:
    copies = received(rows["ks"])
    row = measured["paper_units"].loc["ks"]
    counted = copies["control_ints"] - 1 - copies["control_entries"]
    assert copies["control_ints"].mean() == pytest.approx(row["gk_ints_mean"])
    assert counted.mean() == pytest.approx(row["gk_ints_without_count_mean"])
    assert copies["control_empty"].mean() == pytest.approx(row["empty_entries_mean"])
    assert measured["paper_units"]["gk_ints_mean"].drop("ks").isna().all()


def test_prs_tuples_are_shown_as_a_bit_string_too(
    measured: dict[str, pd.DataFrame], rows: dict[str, pd.DataFrame]
) -> None:
    tuples = received(rows["prs"])["control_units"].mean()
    row = measured["paper_units"].loc["prs"]
    share = tuples / N**2
    assert 100 * share == pytest.approx(row["units_percent_of_nn"])
    assert (share + 1 / WORD_BITS) * N**2 == pytest.approx(row["prs_bit_string_ints_mean"])


def test_delay_and_hold_back_are_those_of_the_trace(
    measured: dict[str, pd.DataFrame], rows: dict[str, pd.DataFrame]
) -> None:
    key = ["node", "origin", "number"]
    arrivals = received(rows["ks"]).set_index(key)["time"]
    delivered = rows["ks"].query("event == 'deliver' and measured").set_index(key)
    waits = delivered["time"] - arrivals
    held = waits[waits > 0]
    delay, holdback = measured["delay"].loc["ks"], measured["holdback"].loc["ks"]
    mean = (delivered["time"] - delivered["sent_time"]).mean() / 1e6
    assert mean == pytest.approx(delay["delay_ms_mean"])
    assert len(held) == holdback["held"] > 0
    assert 100 * len(held) / len(waits) == pytest.approx(holdback["held_percent"])
    assert held.mean() / 1e6 == pytest.approx(holdback["held_ms_mean"])
    assert held.max() / 1e6 == pytest.approx(holdback["held_ms_max"])


def test_state_is_taken_at_every_event_after_the_warm_up(
    measured: dict[str, pd.DataFrame], rows: dict[str, pd.DataFrame], runs: dict[str, RunDir]
) -> None:
    until = runs["ks"].manifest()["warmup_until"]
    states = rows["ks"][rows["ks"]["time"] > until]["state_ints"]
    row = measured["state"].loc["ks"]
    assert states.mean() == pytest.approx(row["state_ints_mean"])
    assert states.max() == row["state_ints_max"]


def test_the_reliable_link_is_counted_apart(
    measured: dict[str, pd.DataFrame], rows: dict[str, pd.DataFrame]
) -> None:
    events = rows["rst"]["event"].value_counts()
    row = measured["network"].loc["rst"]
    assert events["drop"] == row["drops"]
    assert events["retransmit"] == row["retransmissions"]
    assert events["acknowledge"] == row["acknowledgements"]
    again = rows["rst"].query("event == 'retransmit'")["control_bytes"].sum()
    assert again == row["retransmission_bytes"] > 0
    assert measured["network"].loc["ks", "retransmissions"] == 0


def test_throughput_counts_what_happens_while_messages_are_sent(
    measured: dict[str, pd.DataFrame], rows: dict[str, pd.DataFrame], runs: dict[str, RunDir]
) -> None:
    since = runs["ks"].manifest()["warmup_until"]
    until = rows["ks"].query("event == 'send'")["time"].max()
    delivered = rows["ks"].query("event == 'deliver'")["time"].between(since + 1, until).sum()
    row = measured["throughput"].loc["ks"]
    assert 150 / ((until - since) / 1e9) == pytest.approx(row["messages_per_second"])
    assert delivered == row["deliveries"]


def test_processor_time_is_shown_for_live_runs_only(measured: dict[str, pd.DataFrame]) -> None:
    assert list(measured["cpu"].index) == ["rst"]


def test_the_comparison_repeats_what_the_other_tables_say(
    measured: dict[str, pd.DataFrame],
) -> None:
    comparison = measured["comparison"]
    assert comparison["verdict"].tolist() == ["valid"] * 3
    for column, table in (
        ("control_ints_mean", "overhead"),
        ("control_percent_of_nn", "overhead"),
        ("messages", "overhead"),
        ("state_ints_mean", "state"),
        ("delay_ms_p50", "delay"),
        ("delay_ms_p99", "delay"),
        ("held_percent", "holdback"),
        ("held_ms_mean", "holdback"),
    ):
        pd.testing.assert_series_equal(comparison[column], measured[table][column])
