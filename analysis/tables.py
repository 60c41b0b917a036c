"""The tables that SQL reads: `runs` from manifests, `events` from traces, `messages` from events.

Files are looked at with pyarrow before Spark sees them, so that a damaged one is named in a
sentence. A trace of another system needs only the columns of the audit: what it lacks is null,
and `runs.missing` says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from analysis.queries import select
from testbed.core.errors import BadInput, DamagedRun
from testbed.trace.rundir import MANIFEST, RunDir
from testbed.trace.schema import AUDIT_COLUMNS, SCHEMA

ROWS_WORTH_COMPILING = 2_000_000

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
    "missing": ("array<string>", "columns of the trace that its files lack"),
}
"""Name -> (Spark type, meaning)."""

_RUNS_DDL = ", ".join(f"{name} {kind}" for name, (kind, _) in RUNS_COLUMNS.items())


def register(spark: SparkSession, runs: Sequence[RunDir]) -> None:
    """Make the temporary views `runs`, `events` and `messages` of these runs."""
    if not runs:
        raise BadInput("no run was named; it takes at least one run directory")
    named = run_names(runs)
    schemas = {name: trace_schema(run) for name, run in named.items()}
    spark.catalog.clearCache()
    _compile_for(spark, sum(_rows(run) for run in named.values()))
    rows = [_runs_row(name, run, schemas[name]) for name, run in named.items()]
    spark.createDataFrame(rows, _RUNS_DDL).createOrReplaceTempView("runs")
    _events(spark, named, schemas).createOrReplaceTempView("events")
    select(spark, "tables", "messages").persist().createOrReplaceTempView("messages")


def _compile_for(spark: SparkSession, rows: int) -> None:
    """Compiling a query to Java pays only where it then runs over many rows."""
    large = rows > ROWS_WORTH_COMPILING
    spark.conf.set("spark.sql.codegen.wholeStage", str(large).lower())
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if large else "NO_CODEGEN")


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


def trace_schema(run: RunDir) -> pa.Schema:
    """The columns of a run's trace; raises DamagedRun where a file is none or lacks what is needed."""
    files = run.files()
    if not files:
        raise DamagedRun(f"{run.path}: no Parquet file in events/")
    found: pa.Schema | None = None
    for file in files:
        schema = _footer(file)
        _check_columns(file, schema)
        if found is not None and not found.equals(schema):
            raise DamagedRun(f"{file}: its columns differ from those of {files[0]}")
        found = schema
    assert found is not None
    return found


def _check_columns(file: str, schema: pa.Schema) -> None:
    for column in AUDIT_COLUMNS:
        if column not in schema.names:
            raise DamagedRun(f"{file}: column '{column}' is missing; the trace needs it")
    for column in SCHEMA.names:
        if column not in schema.names:
            continue
        got, takes = schema.field(column).type, SCHEMA.field(column).type
        if _kind(got) != _kind(takes):
            raise DamagedRun(f"{file}: column '{column}' holds {got}; it takes {takes}")


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
    except (pa.ArrowInvalid, OSError) as error:
        raise DamagedRun(f"{file}: not a readable Parquet file ({error}); run it again") from error


# --- runs -----------------------------------------------------------------------------------------


def manifest_of(run: RunDir) -> dict[str, Any]:
    """A trace of another system has none."""
    return run.manifest() if (run.path / MANIFEST).exists() else {}


def _runs_row(name: str, run: RunDir, schema: pa.Schema) -> tuple[Any, ...]:
    manifest = manifest_of(run)
    audit = manifest.get("audit") or {}
    lateness = manifest.get("lateness_ns") or {}
    nodes = manifest.get("nodes")
    values = manifest | {
        "run": name,
        "path": str(run.path),
        "n": nodes if isinstance(nodes, int) else _count_nodes(run),
        "why": audit.get("why"),
        "arrived_out_of_order": (audit.get("evidence") or {}).get("arrived_out_of_order"),
        "lateness_p50_ns": lateness.get("p50"),
        "lateness_p99_ns": lateness.get("p99"),
        "lateness_max_ns": lateness.get("max"),
        "lateness_budget_ns": lateness.get("budget"),
        "missing": [column for column in SCHEMA.names if column not in schema.names],
    }
    return tuple(
        _typed(values.get(column), kind) for column, (kind, _) in RUNS_COLUMNS.items()
    )


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
    addressed = pc.list_flatten(table.column("dests"))
    nodes = set(table.column("node").unique().to_pylist())
    return len(nodes | set(addressed.unique().to_pylist()))


# --- events ---------------------------------------------------------------------------------------


def _events(
    spark: SparkSession, named: dict[str, RunDir], schemas: dict[str, pa.Schema]
) -> DataFrame:
    """All runs of our own making in one scan; each other one brought to our columns by itself."""
    own, frames = [], []
    for name, run in named.items():
        if _is_canonical(schemas[name]) and all(_runs_in(file) <= {name} for file in run.files()):
            own += run.files()
        else:
            frames.append(_conformed(spark.read.parquet(*run.files()), name))
    if own:
        frames.insert(0, spark.read.schema(EVENTS_SCHEMA).parquet(*own))
    events = frames[0]
    for frame in frames[1:]:
        events = events.unionByName(frame)
    return events


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


def _conformed(frame: DataFrame, name: str) -> DataFrame:
    """These rows with all columns of the schema, in its types; null where there is none."""
    columns = []
    for field in EVENTS_SCHEMA:
        if field.name == "run":
            column = f.lit(name)
        elif field.name in frame.columns:
            column = f.col(field.name).cast(field.dataType)
        else:
            column = f.lit(None).cast(field.dataType)
        columns.append(column.alias(field.name))
    return frame.select(columns)
