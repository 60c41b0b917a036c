"""The tables that SQL reads: `runs` from manifests, `events` from traces, `messages` from events.

Files are looked at with pyarrow before Spark sees them, so that a damaged one is named in a
sentence. A trace of another system needs only the columns of the audit: what it lacks is null,
and `runs.missing` says so.
"""

from __future__ import annotations

import functools
import urllib.parse
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from analysis.inhibition import inhibition
from analysis.queries import select
from testbed.core.errors import BadInput, DamagedRun
from testbed.trace.rundir import MANIFEST, RunDir
from testbed.trace.schema import AUDIT_COLUMNS, SCHEMA

ROWS_OF_A_LARGE_TRACE = 100_000
"""Where compiled queries begin to win: at 340,000 rows they take a third of the time."""

EVENTS_SCHEMA = from_arrow_schema(SCHEMA)

RUNS_COLUMNS = {
    "run": ("string", "run id, unique among the runs looked at"),
    "path": ("string", "its folder"),
    "name": ("string", "name of the experiment"),
    "series": ("string", "runs of one command share it"),
    "algorithm": ("string", "which algorithm ran"),
    "engine": ("string", "`sim` or `ray`"),
    "transport": ("string", "how copies travelled (live runs)"),
    "n": ("int", "number of nodes"),
    "seed": ("bigint", "what all randomness derives from"),
    "speed": ("double", "emulated seconds per second (live runs)"),
    "warmup_until": ("bigint", "emulated ns; what is sent up to then is not measured"),
    "guarantee": ("string", "what the audit holds it to; none: causal order"),
    "status": ("string", "`complete`, `aborted`, `failed` or `running`"),
    "verdict": ("string", "of the audit: `valid`, `invalid` or `inconclusive`"),
    "why": ("string", "the audit's reason in a sentence"),
    "arrived_out_of_order": ("bigint", "copies that arrived after one that they causally precede"),
    "lateness_p50_ns": ("bigint", "achieved minus intended arrival, median (live runs)"),
    "lateness_p99_ns": ("bigint", "the same, 99th percentile"),
    "lateness_max_ns": ("bigint", "the same, largest"),
    "lateness_budget_ns": ("bigint", "what p99 may be before the timing is not to be trusted"),
    "started": ("string", "when, ISO 8601"),
    "wall_seconds": ("double", "how long it took"),
    "content_hash": ("string", "hash of the trace; equal for equal runs in `sim`"),
    "stations": ("int", "stations of a mobile run"),
    "hosts": ("int", "its mobile hosts"),
    "columns": ("int", "cells in a row of its grid"),
    "cell_metres": ("double", "side of a cell"),
    "wired_bits_per_second": ("double", "bandwidth of a wire between stations; null: not limited"),
    "air_bits_per_second": ("double", "bandwidth of the air between a host and its station"),
    "loss_rate": ("double", "share of copies that the network is set to lose, where it is one"),
    "lifetime_ms": ("double", "how long messages are of use on average"),
    "repair_packets": ("array<string>", "packets by which members get what they miss"),
    "handoff_packets": ("array<string>", "packets by which stations hand a host over"),
    "missing": ("array<string>", "columns of the trace that its files lack"),
}
"""Name -> (Spark type, meaning)."""

MESSAGES_COLUMNS = {
    "run": ("string", "run id"),
    "origin": ("int", "who sent the message"),
    "number": ("bigint", "its how-manieth message it was"),
    "node": ("int", "the destination that this row speaks of"),
    "sent_time": ("bigint", "emulated ns"),
    "received_time": ("bigint", "emulated ns, of the first copy to arrive; null: none did"),
    "delivered_time": ("bigint", "emulated ns; null: never"),
    "waited_ns": ("bigint", "from arrival to delivery: time held"),
    "delay_ns": ("bigint", "from send to delivery"),
    "control_ints": ("int", "integers of control information of that copy"),
    "control_bytes": ("int", "bytes of its frame less the payload"),
    "control_units": ("int", "units by the paper"),
    "control_entries": ("int", "records that hold the units"),
    "control_empty": ("int", "of these, records without a unit"),
    "payload_bytes": ("int", "size of the payload"),
    "measured": ("boolean", "sent after the warm-up, so that statistics count it"),
}
"""Name -> (Spark type, meaning)."""

DERIVED = ("hops", "stays", "movers", "handoffs", "journeys", "fates")
"""Views of mobile runs and of runs with deadlines, worked out when asked for, in this order."""

_ARROW_TYPES = {
    "string": pa.string(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64(),
    "array<string>": pa.list_(pa.string()),
}  # fmt: skip


def register(spark: SparkSession, runs: Sequence[RunDir]) -> None:
    """Make the temporary views `runs`, `events` and `messages` of these runs."""
    if not runs:
        raise BadInput("no run was named; it takes at least one run directory")
    named = run_names(runs)
    schemas = {name: trace_schemas(run) for name, run in named.items()}
    spark.catalog.clearCache()
    rows = sum(_rows(run) for run in named.values())
    _tune(spark, rows)
    manifests = [_runs_row(name, run, schemas[name]) for name, run in named.items()]
    spark.createDataFrame(_runs_table(manifests)).createOrReplaceTempView("runs")
    events = _events(spark, named, schemas)
    if rows <= ROWS_OF_A_LARGE_TRACE:
        events = events.persist()
    events.createOrReplaceTempView("events")
    select(spark, "tables", "messages").persist().createOrReplaceTempView("messages")
    _trails(spark, named).createOrReplaceTempView("trails")
    inhibition(spark).createOrReplaceTempView("inhibition")
    for table in DERIVED:
        select(spark, "tables", table).createOrReplaceTempView(table)


def _trails(spark: SparkSession, named: dict[str, RunDir]) -> DataFrame:
    """Where hosts were, of the runs that say it."""
    walked = {name: run.path / "trails.parquet" for name, run in named.items()}
    frames = [
        spark.read.parquet(str(file)).select(f.lit(name).alias("run"), "*")
        for name, file in walked.items()
        if file.is_file()
    ]
    if frames:
        return functools.reduce(DataFrame.unionByName, frames)
    return spark.createDataFrame([], "run string, node int, time bigint, x double, y double")


def is_registered(spark: SparkSession, runs: Sequence[RunDir]) -> bool:
    """Whether the views there are speak of these runs and of no others."""
    if not spark.catalog.tableExists("runs"):
        return False
    paths = {row.path for row in spark.table("runs").select("path").collect()}
    return paths == {str(run.path) for run in runs}


def _tune(spark: SparkSession, rows: int) -> None:
    """Compiling queries to Java and spreading them over tasks pays only for many rows."""
    large = rows > ROWS_OF_A_LARGE_TRACE
    partitions = spark.sparkContext.getConf().get("spark.sql.shuffle.partitions", "200")
    spark.conf.set("spark.sql.codegen.wholeStage", str(large).lower())
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if large else "NO_CODEGEN")
    spark.conf.set("spark.sql.adaptive.enabled", str(large).lower())
    spark.conf.set("spark.sql.shuffle.partitions", partitions if large else "1")


def _rows(run: RunDir) -> int:
    return sum(pq.read_metadata(file).num_rows for file in run.files())


def run_names(runs: Sequence[RunDir]) -> dict[str, RunDir]:
    """Each run once under a name of its own; equal names are told apart by their folders."""
    distinct = list({run.path.resolve(): run for run in runs}.values())
    names = [manifest_of(run).get("run") or run.id for run in distinct]
    counts = Counter(names)
    return {
        name if counts[name] == 1 else str(run.path): run
        for name, run in zip(names, distinct, strict=True)
    }


def trace_schemas(run: RunDir) -> dict[str, pa.Schema]:
    """Each file's columns; raises DamagedRun where one cannot be read or cannot be audited."""
    files = run.files()
    if not files:
        raise DamagedRun(f"{run.path}: no Parquet file in events/")
    schemas = {}
    for file in files:
        schema = _footer(file)
        _check_columns(file, schema)
        schemas[file] = schema
    return schemas


def _check_columns(file: str, schema: pa.Schema) -> None:
    for column in AUDIT_COLUMNS:
        if column not in schema.names:
            raise DamagedRun(f"{file}: column '{column}' is missing; the trace needs it")
    for column in _filled(schema):
        got, takes = schema.field(column).type, SCHEMA.field(column).type
        if _kind(got) != _kind(takes):
            raise DamagedRun(f"{file}: column '{column}' holds {got}; it takes {takes}")


def _filled(schema: pa.Schema) -> list[str]:
    """The columns of ours that a file has; a column of Arrow's type null is as good as none."""
    return [
        name
        for name in SCHEMA.names
        if name in schema.names and not pa.types.is_null(schema.field(name).type)
    ]


def _kind(of: pa.DataType) -> str:
    """What can be brought to one another: integers of any width, text of any encoding."""
    if pa.types.is_dictionary(of):
        return _kind(of.value_type)
    if pa.types.is_list(of) or pa.types.is_large_list(of):
        return f"list of {_kind(of.value_type)}"
    if pa.types.is_string(of) or pa.types.is_large_string(of):
        return "text"
    return "integer" if pa.types.is_integer(of) else str(of)


def _footer(file: str) -> pa.Schema:
    try:
        return pq.read_schema(file).remove_metadata()
    except (pa.ArrowException, OSError) as error:
        raise DamagedRun(f"{file}: not a readable Parquet file ({error}); run it again") from error


# --- runs -----------------------------------------------------------------------------------------


def manifest_of(run: RunDir) -> dict[str, Any]:
    """A trace of another system has none."""
    return run.manifest() if (run.path / MANIFEST).exists() else {}


def _runs_table(rows: list[dict[str, Any]]) -> pa.Table:
    fields = [(column, _ARROW_TYPES[kind]) for column, (kind, _) in RUNS_COLUMNS.items()]
    return pa.Table.from_pylist(rows, pa.schema(fields))


def _runs_row(name: str, run: RunDir, schemas: dict[str, pa.Schema]) -> dict[str, Any]:
    manifest = manifest_of(run)
    audit = manifest.get("audit") or {}
    lateness = manifest.get("lateness_ns") or {}
    nodes = manifest.get("nodes")
    values = (
        manifest
        | (manifest.get("world") or {})
        | (manifest.get("facts") or {})
        | {
            "run": name,
            "path": str(run.path),
            "n": nodes if isinstance(nodes, int) else _count_nodes(run),
            "why": audit.get("why"),
            "arrived_out_of_order": (audit.get("evidence") or {}).get("arrived_out_of_order"),
            "lateness_p50_ns": lateness.get("p50"),
            "lateness_p99_ns": lateness.get("p99"),
            "lateness_max_ns": lateness.get("max"),
            "lateness_budget_ns": lateness.get("budget"),
            "missing": [
                column
                for column in SCHEMA.names
                if not all(column in _filled(schema) for schema in schemas.values())
            ],
        }
    )
    return {column: _typed(values.get(column), kind) for column, (kind, _) in RUNS_COLUMNS.items()}


def _typed(value: Any, kind: str) -> Any:
    """Manifests are JSON: a number may be an integer where the table has a double, and so on."""
    if value is None or kind.startswith("array"):
        return value
    if kind == "string":
        return str(value)
    try:
        return float(value) if kind == "double" else int(value)
    except (TypeError, ValueError):
        return None


def _count_nodes(run: RunDir) -> int:
    table = run.table(("node", "dests"))
    nodes = set(table.column("node").unique().to_pylist())
    if not pa.types.is_null(table.schema.field("dests").type):
        nodes |= set(pc.list_flatten(table.column("dests")).unique().to_pylist())
    return len(nodes - {None})


# --- events ---------------------------------------------------------------------------------------


def _events(
    spark: SparkSession, named: dict[str, RunDir], schemas: dict[str, dict[str, pa.Schema]]
) -> DataFrame:
    """All files of our own making in one scan, and one more for each other set of columns."""
    own: list[str] = []
    others: dict[str, tuple[pa.Schema, dict[str, str]]] = {}
    for name in named:
        for file, schema in schemas[name].items():
            if _is_canonical(schema) and _runs_in(file) <= {name}:
                own.append(file)
            else:
                others.setdefault(str(schema), (schema, {}))[1][file] = name
    frames = [_conformed(spark, schema, run_of) for schema, run_of in others.values()]
    if own:
        frames.append(spark.read.schema(EVENTS_SCHEMA).parquet(*own))
    return functools.reduce(DataFrame.unionByName, frames)


def _is_canonical(schema: pa.Schema) -> bool:
    return all(
        field.name in schema.names and schema.field(field.name).type == field.type
        for field in SCHEMA
    )


def _runs_in(file: str) -> set[str | None]:
    """What a file's statistics say of its column `run`; None stands for not known."""
    metadata = pq.read_metadata(file)
    column = metadata.schema.names.index("run")
    values: set[str | None] = set()
    for group in range(metadata.num_row_groups):
        statistics = metadata.row_group(group).column(column).statistics
        values |= {statistics.min, statistics.max} if statistics else {None}
    return values


def _conformed(spark: SparkSession, schema: pa.Schema, run_of: dict[str, str]) -> DataFrame:
    """The rows of files that share a schema, with our columns in our types, null where none is."""
    filled = pa.schema([schema.field(name) for name in _filled(schema) if name != "run"])
    rows = spark.read.schema(from_arrow_schema(filled)).parquet(*run_of)
    rows = rows.select("*", f.col("_metadata.file_path").alias("place"))
    rows = rows.join(f.broadcast(_places(spark, run_of)), "place")
    columns = [
        (f.col(field.name) if field.name in rows.columns else f.lit(None))
        .cast(field.dataType)
        .alias(field.name)
        for field in EVENTS_SCHEMA
    ]
    return rows.select(columns)


def _places(spark: SparkSession, run_of: dict[str, str]) -> DataFrame:
    """Which run a file belongs to, by every way in which Spark may write the file's address."""
    places: dict[str, str] = {}
    for file, run in run_of.items():
        for path in {file, urllib.parse.quote(file)}:
            places |= {f"file:{path}": run, f"file://{path}": run}
    return spark.createDataFrame(pa.table({"place": list(places), "run": list(places.values())}))
