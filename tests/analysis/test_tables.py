"""The tables say what the trace and the manifest say; what is damaged is named in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from analysis.queries import SQL, queries, query
from analysis.statistics import statistics
from analysis.tables import MESSAGES_COLUMNS, RUNS_COLUMNS, register
from testbed.core.errors import BadInput, DamagedRun
from testbed.trace.rundir import RunDir
from testbed.trace.schema import SCHEMA
from tests.analysis.builders import Step, at, simulate, write_trace

pytestmark = pytest.mark.spark

STEPS: dict[str, list[Step]] = {
    "a": [at(100, "send", "a1", "b", "c"), at(300, "send", "a2", "b")],
    "b": [
        at(250, "receive", "a1"),
        at(260, "receive", "a1"),
        at(290, "deliver", "a1"),
        at(400, "receive", "a2"),
    ],
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Three runs: one of another system in a folder with a space, two of ours of the same name."""
    out = tmp_path_factory.mktemp("tables")
    foreign = write_trace(out / "another system", STEPS)
    own = simulate(out / "one", "ks", messages=30, warmup=10)
    twin = simulate(out / "two", "ks", messages=20, seed=2)
    register(spark, [foreign, own, twin, own])
    return {name: spark.table(name).toPandas() for name in ("runs", "events", "messages")} | {
        "own": own.table(tuple(SCHEMA.names)).to_pandas(),
        "paths": [own.path, twin.path],
    }


def test_a_message_has_one_row_for_each_destination(tables: dict[str, Any]) -> None:
    rows = tables["messages"].query("run == 'another system'").sort_values(["number", "node"])
    times = rows[["number", "node", "sent_time", "received_time", "delivered_time"]]
    expected = [
        [1, 1, 100, 250, 290],
        [1, 2, 100, None, None],
        [2, 1, 300, 400, None],
    ]
    assert expected == times.astype(object).where(times.notna(), None).to_numpy().tolist()


def test_waiting_begins_with_the_first_copy_and_delay_with_the_send(
    tables: dict[str, Any],
) -> None:
    rows = tables["messages"].query("run == 'another system' and number == 1 and node == 1")
    assert rows[["waited_ns", "delay_ns"]].to_numpy().tolist() == [[40, 190]]


def test_runs_of_one_name_are_told_apart_by_their_folders_and_counted_once(
    tables: dict[str, Any],
) -> None:
    names = ["another system", *map(str, tables["paths"])]
    assert sorted(names) == sorted(tables["runs"]["run"])
    own = tables["events"][tables["events"]["run"] == names[1]]
    assert len(own) == len(tables["own"])


def test_what_is_sent_up_to_the_end_of_the_warm_up_is_not_measured(
    tables: dict[str, Any],
) -> None:
    rows = tables["messages"][tables["messages"]["run"] == str(tables["paths"][0])]
    messages = rows.drop_duplicates(["origin", "number"])
    assert ((~messages["measured"]).sum(), messages["measured"].sum()) == (10, 20)


def test_a_trace_without_manifest_says_what_it_lacks(tables: dict[str, Any]) -> None:
    row = tables["runs"].set_index("run").loc["another system"]
    assert row["n"] == 3
    assert row["algorithm"] is None
    assert "control_ints" in row["missing"]
    assert "time" not in row["missing"]


def test_the_tables_have_the_columns_that_the_dictionary_lists(
    tables: dict[str, Any],
) -> None:
    assert list(RUNS_COLUMNS) == list(tables["runs"].columns)
    assert sorted(MESSAGES_COLUMNS) == sorted(tables["messages"].columns)
    assert SCHEMA.names == list(tables["events"].columns)


def test_integers_of_any_width_and_files_of_several_shapes_make_one_trace(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = write_trace(tmp_path / "mixed", {"a": [("send", "a1", "b")]})
    schema = pa.schema(
        {
            "node": pa.int64(), "seq": pa.int16(), "event": pa.dictionary(pa.int8(), pa.string()),
            "origin": pa.int64(), "number": pa.int32(), "dests": pa.null(),
        }
    )  # fmt: skip
    row = {"node": 1, "seq": 0, "event": "deliver", "origin": 0, "number": 1, "dests": None}
    pq.write_table(pa.Table.from_pylist([row], schema), run.events / "b.parquet")
    register(spark, [run])
    events = query(spark, "SELECT node, event, origin, number, dests FROM events ORDER BY node")
    assert events["node"].tolist() == [0, 1]
    assert events["event"].tolist() == ["send", "deliver"]


# --- damage ---------------------------------------------------------------------------------------


def test_a_truncated_file_is_damage(spark: SparkSession, tmp_path: Path) -> None:
    run = write_trace(tmp_path / "cut", STEPS)
    file = run.events / "trace.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DamagedRun, match=r"trace\.parquet: not a readable Parquet file"):
        register(spark, [run])


def test_a_missing_column_is_damage(spark: SparkSession, tmp_path: Path) -> None:
    run = write_trace(tmp_path / "narrow", STEPS)
    file = run.events / "trace.parquet"
    pq.write_table(pq.read_table(file).drop_columns(["dests"]), file)
    with pytest.raises(DamagedRun, match="column 'dests' is missing"):
        register(spark, [run])


def test_a_column_of_another_kind_is_damage(spark: SparkSession, tmp_path: Path) -> None:
    run = write_trace(tmp_path / "odd", STEPS)
    file = run.events / "trace.parquet"
    table = pq.read_table(file)
    place = table.column_names.index("node")
    table = table.set_column(place, "node", table.column("node").cast(pa.string()))
    pq.write_table(table, file)
    with pytest.raises(DamagedRun, match="column 'node' holds string; it takes int32"):
        register(spark, [run])


def test_a_run_without_events_is_damage(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "empty" / "events").mkdir(parents=True)
    with pytest.raises(DamagedRun, match="no Parquet file in events/"):
        register(spark, [RunDir(tmp_path / "empty")])


def test_a_trace_that_cannot_be_measured_says_which_column_it_lacks(
    spark: SparkSession, tmp_path: Path
) -> None:
    register(spark, [write_trace(tmp_path / "bare", STEPS)])
    with pytest.raises(DamagedRun, match="bare: column 'control_ints' is missing"):
        statistics(spark)


# --- questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT nodes FROM events", "`nodes` cannot be resolved"),
        ("SELEC node FROM events", "Syntax error"),
        ("SELECT * FROM elsewhere", "`elsewhere` cannot be found"),
        ("SELECT 1 / 0 FROM events", "Division by zero"),
    ],
)
def test_a_bad_query_is_refused_in_one_sentence(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str], sql: str, reason: str
) -> None:
    register(spark, [write_trace(tmp_path / "asked", STEPS)])
    with pytest.raises(BadInput) as refusal:
        query(spark, sql)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert "SQLSTATE" not in str(refusal.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("folder", sorted(folder.name for folder in SQL.iterdir()))
def test_every_query_says_what_it_answers(folder: str) -> None:
    for one in queries(folder).values():
        assert one.question.endswith("?"), one.name
        assert one.grain, one.name
        assert one.reads, one.name
