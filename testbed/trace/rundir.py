"""A run directory: manifest, spools while it runs, Parquet when it is done.

    RUN/manifest.json      what was run, on what, how it ended
    RUN/spool/*.arrows     the trace while it is being written; gone once published
    RUN/events/*.parquet   the trace
    RUN/trails.parquet     of a mobile run: where hosts were, for a map

Everything works on local folders; a pyarrow.fs URI is copied in before and out after.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from testbed.core.errors import BadInput, DamagedRun
from testbed.trace.schema import AUDIT_COLUMNS, SCHEMA

MANIFEST = "manifest.json"
TRAILS = pa.schema(
    [
        pa.field("node", pa.int32(), nullable=False),
        pa.field("time", pa.int64(), nullable=False),
        pa.field("x", pa.float64(), nullable=False),
        pa.field("y", pa.float64(), nullable=False),
    ]
)
"""Emulated nanoseconds, and metres from the corner of the first cell."""


def is_uri(path: str) -> bool:
    return re.match(r"^[a-z][a-z0-9+.-]*://", path) is not None


class RunDir:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def events(self) -> Path:
        return self.path / "events"

    @property
    def spool(self) -> Path:
        return self.path / "spool"

    def write_trails(self, places: Iterable[tuple[int, int, float, float]]) -> None:
        """Node, time, x and y of hosts; between two places of a host its way is straight."""
        rows = [dict(zip(TRAILS.names, place, strict=True)) for place in places]
        pq.write_table(pa.Table.from_pylist(rows, schema=TRAILS), self.path / "trails.parquet")

    def manifest(self) -> dict[str, Any]:
        try:
            content = json.loads((self.path / MANIFEST).read_text())
        except (OSError, ValueError) as error:
            raise DamagedRun(f"{self.path}: {MANIFEST} cannot be read: {error}") from error
        if not isinstance(content, dict):
            raise DamagedRun(f"{self.path}: {MANIFEST} holds no object")
        return content

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Whole or not at all: a reader never sees half a manifest."""
        temporary = self.path / f".{MANIFEST}.tmp"
        temporary.write_text(json.dumps(manifest, indent=2) + "\n")
        temporary.replace(self.path / MANIFEST)

    def update_manifest(self, **changes: Any) -> None:
        self.write_manifest(self.manifest() | changes)

    def publish(self) -> int:
        """Turn each spool into a Parquet file; the number of rows that could be read."""
        self.events.mkdir(exist_ok=True)
        rows = sum(
            publish_spool(spool, self.events) for spool in sorted(self.spool.glob("*.arrows"))
        )
        shutil.rmtree(self.spool, ignore_errors=True)
        return rows

    def table(
        self, columns: tuple[str, ...] = AUDIT_COLUMNS, optional: tuple[str, ...] = ()
    ) -> pa.Table:
        """These columns of all events; raises DamagedRun where they are not to be had."""
        files = sorted(self.events.glob("*.parquet"))
        if not files:
            raise DamagedRun(f"{self.path}: no Parquet file in events/")
        tables = [_read(file, columns, optional) for file in files]
        try:
            return pa.concat_tables(tables, promote_options="permissive")
        except pa.ArrowException as error:
            raise DamagedRun(
                f"{self.path}: files in events/ do not fit together: {error}"
            ) from error

    def files(self) -> list[str]:
        return [str(file) for file in sorted(self.events.glob("*.parquet"))]


def publish_spool(spool: Path, events: Path) -> int:
    """One spool to one Parquet file, up to its last whole batch; the rows it had."""
    target = events / f"{spool.stem}.parquet"
    temporary = events / f".{spool.stem}.tmp"
    rows = 0
    with pq.ParquetWriter(temporary, SCHEMA, compression="zstd", compression_level=1) as writer:
        for batch in _whole_batches(spool):
            writer.write_batch(batch)
            rows += batch.num_rows
    temporary.replace(target)
    spool.unlink()
    return rows


def _whole_batches(spool: Path) -> Iterator[pa.RecordBatch]:
    with spool.open("rb") as stream:
        try:
            reader = pa.ipc.open_stream(stream)
            yield from reader
        except (pa.ArrowException, OSError):
            return  # a killed writer leaves a stream that ends in the middle


def _read(file: Path, columns: tuple[str, ...], optional: tuple[str, ...]) -> pa.Table:
    try:
        parquet = pq.ParquetFile(file)
        names = parquet.schema_arrow.names
        missing = [column for column in columns if column not in names]
        if missing:
            raise DamagedRun(f"{file}: column '{missing[0]}' is missing; the trace needs it")
        return parquet.read(columns=[*columns, *(name for name in optional if name in names)])
    except (pa.ArrowException, OSError) as error:
        raise DamagedRun(f"{file}: not a readable Parquet file ({error}); run it again") from error


# --- making and finding ---------------------------------------------------------------------------


def next_series(out: Path, name: str) -> str:
    """`name-0001`, one beyond what is there; all algorithms of one command share it."""
    pattern = re.compile(re.escape(name) + r"-(\d{4,})(-|$)")
    numbers = [int(m[1]) for p in out.glob(f"{name}-*") if (m := pattern.match(p.name))]
    return f"{name}-{max(numbers, default=0) + 1:04d}"


def create(out: Path, run_id: str) -> RunDir:
    """A new run directory; never an existing one."""
    run = RunDir(out / run_id)
    try:
        run.spool.mkdir(parents=True)
    except FileExistsError as error:
        raise BadInput(f"{run.path} exists already; runs are never overwritten") from error
    except OSError as error:
        raise BadInput(
            f"output folder '{out}' cannot be written ({error.strerror}); name another by --out"
        ) from error
    return run


def point_latest(run: RunDir) -> None:
    """`latest` beside the runs points at the newest."""
    latest = run.path.parent / "latest"
    temporary = run.path.parent / ".latest.tmp"
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(run.path.name)
    os.replace(temporary, latest)


def open_run(where: str) -> RunDir:
    """The run at this path or URI; an unfinished one is published first."""
    path = _fetched(where) if is_uri(where) else Path(where)
    if not path.is_dir():
        raise BadInput(f"'{where}' is no directory; it takes a run directory")
    if not (path / MANIFEST).exists() and not (path / "events").is_dir():
        raise BadInput(
            f"'{where}' is no run directory: it has no {MANIFEST} and no events/; "
            "it takes what `causalbed run` printed"
        )
    run = RunDir(path.resolve())
    if run.spool.is_dir() and run.manifest().get("status") != "running":
        run.publish()
    return run


def _fetched(uri: str) -> Path:
    try:
        filesystem, path = pyarrow.fs.FileSystem.from_uri(uri)
        target = Path(tempfile.mkdtemp(prefix="causalbed-")) / path.rstrip("/").rsplit("/", 1)[-1]
        target.mkdir()
        pyarrow.fs.copy_files(path, str(target), source_filesystem=filesystem)
    except (pa.ArrowInvalid, OSError, ValueError) as error:
        raise BadInput(f"'{uri}' cannot be read: {error}") from error
    return Path(target)
