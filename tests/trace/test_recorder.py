"""Rows come back from the spool as they went in, and survive the death of their writer."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testbed.trace import recorder as recorder_module
from testbed.trace.recorder import ROWS_PER_BATCH, Recorder
from testbed.trace.rundir import create, open_run
from testbed.trace.schema import ABSENT, COLUMNS, PACKED, REASONS, ROLES, SCHEMA, Event

LIMITS = {"i4": (1 << 31) - 1, "i8": (1 << 63) - 1}
PACKETS = ("data", "handoff_begin")
CODES = {"role": len(ROLES), "event": len(Event), "reason": len(REASONS), "packet": len(PACKETS)}


def values(column: object) -> st.SearchStrategy[int]:
    name, packed, nullable = column.name, column.packed, column.nullable
    highest = CODES[name] - 1 if name in CODES else LIMITS[packed]
    return st.integers(ABSENT if nullable else 0, highest)


rows_with_dests = st.lists(
    st.tuples(
        st.tuples(*(values(column) for column in PACKED)),
        st.one_of(st.none(), st.lists(st.integers(0, 99), max_size=4).map(tuple)),
    ),
    max_size=11,
)


def expected(fields: tuple[int, ...], dests: tuple[int, ...] | None) -> dict[str, object]:
    """A row as the trace must show it, worked out without the schema's code."""
    row: dict[str, object] = {"run": "r", "dests": None if dests is None else list(dests)}
    for column, value in zip(PACKED, fields, strict=True):
        shown: object = value
        if column.nullable and value == -1:
            shown = None
        elif column.name == "role":
            shown = ("process", "mss", "mh")[value]
        elif column.name == "event":
            shown = Event(value).name.lower()
        elif column.name == "reason":
            shown = REASONS[value]
        elif column.name == "packet":
            shown = PACKETS[value]
        row[column.name] = shown
    return row


def write(spool: Path, rows: list[tuple[tuple[int, ...], tuple[int, ...] | None]]) -> None:
    recorder = Recorder("r", spool, PACKETS)
    for fields, dests in rows:
        if dests is not None:
            recorder.destinations(dests)
        recorder.row(*fields)
    assert recorder.rows == len(rows)
    recorder.close()


def read(spool: Path) -> list[dict[str, object]]:
    with spool.open("rb") as stream:
        table = pa.ipc.open_stream(stream).read_all()
    assert table.schema.equals(SCHEMA, check_metadata=True)
    return table.to_pylist()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows_with_dests)
def test_rows_come_back_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tuple]
) -> None:
    monkeypatch.setattr(recorder_module, "ROWS_PER_BATCH", 4)
    write(tmp_path / "spool.arrows", rows)
    assert read(tmp_path / "spool.arrows") == [expected(*row) for row in rows]


def test_minus_one_is_null_only_where_the_column_may_be_null(tmp_path: Path) -> None:
    write(tmp_path / "s", [(tuple(-1 if c.nullable else 0 for c in PACKED), None)])
    (row,) = read(tmp_path / "s")
    assert {name for name, value in row.items() if value is None} == {
        column.name for column in COLUMNS if column.nullable
    }


def test_an_empty_spool_has_the_schema_and_no_rows(tmp_path: Path) -> None:
    write(tmp_path / "s", [])
    assert read(tmp_path / "s") == []


def test_what_fails_in_the_background_is_raised_at_the_end(tmp_path: Path) -> None:
    recorder = Recorder("r", tmp_path / "s", PACKETS)
    recorder._writer.close()
    recorder._stream.close()
    recorder.row(*(0 for _ in PACKED))
    with pytest.raises((ValueError, pa.ArrowException)):
        recorder.close()


def test_destinations_whose_row_was_interrupted_are_forgotten(tmp_path: Path) -> None:
    recorder = Recorder("r", tmp_path / "s", PACKETS)
    recorder.row(*(0 for _ in PACKED))
    recorder.destinations((1, 2))
    recorder.close()
    (row,) = read(tmp_path / "s")
    assert row["dests"] is None


WRITER = """
import sys, time
from pathlib import Path
import pyarrow as pa
from testbed.trace.recorder import Recorder, ROWS_PER_BATCH
from testbed.trace.schema import PACKED
spool = Path(sys.argv[1])
recorder = Recorder("r", spool, ("data",))
zeros = [0] * (len(PACKED) - 3)
for seq in range(2 * ROWS_PER_BATCH + 100):
    recorder.row(0, 0, seq, *zeros)
def readable():
    rows = 0
    try:
        for batch in pa.ipc.open_stream(spool.open("rb")):
            rows += batch.num_rows
    except (pa.ArrowException, OSError):
        pass
    return rows
for _ in range(3_000):
    if readable() == 2 * ROWS_PER_BATCH:
        break
    time.sleep(0.01)
else:
    recorder.close()  # it says what failed
print("flushed", flush=True)
sys.stdin.read()
"""


def test_a_killed_writer_leaves_everything_up_to_its_last_flush(tmp_path: Path) -> None:
    run = create(tmp_path, "killed-0001")
    run.write_manifest({"status": "aborted"})
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(run.spool / "node-0.arrows")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stdout.readline() == "flushed\n"
    writer.kill()
    assert writer.wait() == -signal.SIGKILL
    writer.stdin.close()
    writer.stdout.close()
    table = open_run(str(run.path)).table(("seq",))
    assert table.column("seq").to_pylist() == list(range(2 * ROWS_PER_BATCH))
    assert not run.spool.exists()


def test_a_spool_cut_anywhere_gives_the_batches_before_the_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "ROWS_PER_BATCH", 4)
    whole = tmp_path / "whole"
    write(whole, [((0, 0, seq, *[0] * (len(PACKED) - 3)), None) for seq in range(12)])
    content = whole.read_bytes()
    seen = set()
    for cut in (*range(0, len(content), 97), len(content) - 8, len(content)):
        run = create(tmp_path, f"cut-{cut:05d}")
        run.write_manifest({"status": "aborted"})
        (run.spool / "a.arrows").write_bytes(content[:cut])
        rows = run.publish()
        assert run.table(("seq",)).column("seq").to_pylist() == list(range(rows))
        seen.add(rows)
    assert seen == {0, 4, 8, 12}
