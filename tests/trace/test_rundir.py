"""Run directories: made once, numbered, published, found again; and what is damaged is said so."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from testbed.algorithms import find
from testbed.core.errors import BadInput, DamagedRun
from testbed.engine.virtual import VirtualEngine
from testbed.trace.audit import audit_run
from testbed.trace.oracle import Verdict
from testbed.trace.recorder import Recorder
from testbed.trace.rundir import (
    MANIFEST,
    RunDir,
    create,
    is_uri,
    next_series,
    open_run,
    point_latest,
)
from testbed.trace.schema import AUDIT_COLUMNS, SCHEMA
from tests.runs import plan, run


def written(out: Path, name: str = "run-0001", *, algorithm: str = "rst") -> RunDir:
    """A small run on disk, finished and published."""
    made = create(out, name)
    recorder = Recorder(name, made.spool / "sim.arrows", find(algorithm).packet_names)
    VirtualEngine(plan(algorithm, messages=60), recorder).run()
    recorder.close()
    made.publish()
    made.write_manifest({"status": "finished"})
    return made


def foreign(out: Path, rows: list[tuple], **types: pa.DataType) -> RunDir:
    """A trace of some other system: the six columns of the audit and no manifest."""
    (out / "events").mkdir(parents=True)
    columns = dict(zip(AUDIT_COLUMNS, zip(*rows, strict=True), strict=True))
    fields = {name: SCHEMA.field(name).type for name in AUDIT_COLUMNS} | types
    table = pa.table({name: pa.array(columns[name], fields[name]) for name in AUDIT_COLUMNS})
    pq.write_table(table, out / "events" / "theirs.parquet")
    return RunDir(out)


GOOD = [
    (0, 0, "send", 0, 1, [1]), (0, 1, "send", 0, 2, [1]),
    (1, 0, "receive", 0, 2, None), (1, 1, "receive", 0, 1, None),
    (1, 2, "deliver", 0, 1, None), (1, 3, "deliver", 0, 2, None),
]  # fmt: skip
SWAPPED = [*GOOD[:4], (1, 2, "deliver", 0, 2, None), (1, 3, "deliver", 0, 1, None)]


# --- publishing -----------------------------------------------------------------------------------


def test_publishing_turns_spools_into_parquet_and_takes_them_away(tmp_path: Path) -> None:
    made = written(tmp_path)
    assert not made.spool.exists()
    assert [Path(file).name for file in made.files()] == ["sim.parquet"]
    schema = pq.read_schema(made.files()[0])
    assert schema.metadata[b"causalbed.schema"] == b"1"
    assert schema.names == SCHEMA.names


def test_a_published_trace_says_what_the_engine_did(tmp_path: Path) -> None:
    made = written(tmp_path)
    in_memory = run(plan("rst", messages=60))
    assert audit_run(made) == in_memory.audit
    assert made.table(("node", "seq", "time")).num_rows == len(in_memory.rows.rows)


def test_an_unfinished_run_is_published_when_it_is_opened(tmp_path: Path) -> None:
    made = create(tmp_path, "run-0001")
    made.write_manifest({"status": "aborted"})
    Recorder("run-0001", made.spool / "a.arrows", ()).close()
    assert open_run(str(made.path)).files() == [str(made.events / "a.parquet")]


def test_a_run_that_still_runs_is_left_alone(tmp_path: Path) -> None:
    made = create(tmp_path, "run-0001")
    made.write_manifest({"status": "running"})
    open_run(str(made.path))
    assert made.spool.is_dir()


# --- manifests, names, latest ---------------------------------------------------------------------


def test_a_manifest_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = create(tmp_path, "run-0001")
    made.write_manifest({"status": "running", "seed": 1})
    before = (made.path / MANIFEST).read_text()

    def broken(self: Path, target: Path) -> None:
        assert json.loads(self.read_text())["status"] == "finished", "whole before it is moved"
        raise OSError("the machine stops here")

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(OSError, match="stops here"):
        made.update_manifest(status="finished")
    assert (made.path / MANIFEST).read_text() == before


def test_an_update_keeps_what_it_does_not_name(tmp_path: Path) -> None:
    made = create(tmp_path, "run-0001")
    made.write_manifest({"status": "running", "seed": 1})
    made.update_manifest(status="finished")
    assert made.manifest() == {"status": "finished", "seed": 1}


def test_series_are_numbered_one_beyond_what_is_there(tmp_path: Path) -> None:
    assert next_series(tmp_path, "quick") == "quick-0001"
    for name in (
        "quick-0001-ks",
        "quick-0001-rst",
        "quick-0007",
        "quicker-0040",
        "quick-start-0090",
    ):
        (tmp_path / name).mkdir()
    assert next_series(tmp_path, "quick") == "quick-0008"
    assert next_series(tmp_path, "quick-start") == "quick-start-0091"


def test_numbers_go_on_beyond_four_digits(tmp_path: Path) -> None:
    (tmp_path / "a-9999").mkdir()
    assert next_series(tmp_path, "a") == "a-10000"
    (tmp_path / "a-10000-ks").mkdir()
    assert next_series(tmp_path, "a") == "a-10001"


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    create(tmp_path, "run-0001")
    with pytest.raises(BadInput, match="run-0001 exists already; runs are never overwritten"):
        create(tmp_path, "run-0001")


def test_an_output_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(BadInput, match=r"cannot be written .* name another by --out"):
        create(file, "run-0001")


def test_latest_points_at_the_newest_and_can_be_opened(tmp_path: Path) -> None:
    first, second = written(tmp_path, "run-0001"), written(tmp_path, "run-0002")
    point_latest(first)
    point_latest(second)
    assert os.readlink(tmp_path / "latest") == "run-0002"
    assert open_run(str(tmp_path / "latest")).id == "run-0002"


def test_a_run_is_fetched_from_a_uri(tmp_path: Path) -> None:
    made = written(tmp_path / "there")
    assert is_uri(made.path.as_uri())
    assert not is_uri(str(made.path))
    fetched = open_run(made.path.as_uri())
    assert fetched.path != made.path
    assert audit_run(fetched) == audit_run(made)


# --- what is no run, and what is damaged ----------------------------------------------------------


def test_what_is_no_run_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no directory; it takes a run directory"):
        open_run(str(tmp_path / "nowhere"))
    with pytest.raises(BadInput, match=r"no manifest\.json and no events/"):
        open_run(str(tmp_path))
    with pytest.raises(BadInput, match="cannot be read"):
        open_run("file:///no/such/folder")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_parquet_file_is_damage(tmp_path: Path, share: float) -> None:
    made = written(tmp_path)
    file = Path(made.files()[0])
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DamagedRun, match=r"sim\.parquet: not a readable Parquet file"):
        audit_run(open_run(str(made.path)))


@pytest.mark.parametrize("column", AUDIT_COLUMNS)
def test_a_missing_column_is_damage_and_is_named(tmp_path: Path, column: str) -> None:
    made = written(tmp_path)
    file = Path(made.files()[0])
    pq.write_table(pq.read_table(file).drop_columns([column]), file)
    with pytest.raises(DamagedRun, match=f"column '{column}' is missing"):
        audit_run(made)


def test_a_run_without_a_trace_is_damage(tmp_path: Path) -> None:
    made = create(tmp_path, "run-0001")
    made.write_manifest({"status": "finished"})
    with pytest.raises(DamagedRun, match="no Parquet file"):
        audit_run(open_run(str(made.path)))


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00"])
def test_a_manifest_that_cannot_be_read_is_damage(tmp_path: Path, text: str) -> None:
    made = create(tmp_path, "run-0001")
    (made.path / MANIFEST).write_text(text)
    with pytest.raises(DamagedRun, match=MANIFEST):
        made.manifest()


# --- traces of other systems ----------------------------------------------------------------------


def test_a_foreign_trace_with_the_six_columns_is_audited(tmp_path: Path) -> None:
    audit = audit_run(open_run(str(foreign(tmp_path / "theirs", GOOD).path)))
    assert (audit.verdict, audit.delivered) == (Verdict.VALID, 2)


def test_a_foreign_trace_that_breaks_order_is_caught(tmp_path: Path) -> None:
    audit = audit_run(foreign(tmp_path, SWAPPED))
    assert audit.why == "m0.2 was delivered at p1 before m0.1, but send m0.1 -> send m0.2"


def test_rows_may_come_in_any_order_and_in_wider_types(tmp_path: Path) -> None:
    wide = {"node": pa.int64(), "origin": pa.int64(), "event": pa.large_string(),
            "dests": pa.list_(pa.int64())}  # fmt: skip
    audit = audit_run(foreign(tmp_path, SWAPPED[::-1], **wide))
    assert audit.inversions == 1


def test_files_with_integers_of_different_width_are_read_together(tmp_path: Path) -> None:
    made = foreign(tmp_path, GOOD[:2], node=pa.int64())
    other = foreign(tmp_path / "other", GOOD[2:])
    Path(other.files()[0]).rename(made.events / "more.parquet")
    assert audit_run(made).verdict is Verdict.VALID


def test_a_repeated_seq_is_damage(tmp_path: Path) -> None:
    with pytest.raises(DamagedRun, match="node 1 has two events with seq 3"):
        audit_run(foreign(tmp_path, [*GOOD, GOOD[-1]]))


@pytest.mark.parametrize("column", ["node", "seq", "event"])
def test_an_empty_place_where_every_row_needs_a_value_is_damage(
    tmp_path: Path, column: str
) -> None:
    at = AUDIT_COLUMNS.index(column)
    holed = (*GOOD[0][:at], None, *GOOD[0][at + 1 :])
    with pytest.raises(DamagedRun, match=f"column '{column}' of the trace has empty places"):
        audit_run(foreign(tmp_path, [holed, *GOOD[1:]]))


def test_a_delivery_that_does_not_name_its_message_is_damage(tmp_path: Path) -> None:
    with pytest.raises(DamagedRun, match="node 1, seq 4: deliver does not name its message"):
        audit_run(foreign(tmp_path, [*GOOD, (1, 4, "deliver", 0, None, None)]))


def test_a_column_of_another_type_is_damage(tmp_path: Path) -> None:
    texts = [(str(node), *rest) for node, *rest in GOOD]
    with pytest.raises(
        DamagedRun, match="column 'node' of the trace holds string; it takes integers"
    ):
        audit_run(foreign(tmp_path, texts, node=pa.string()))
