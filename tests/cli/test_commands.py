"""The command line as its user meets it: real processes, exit codes, one sentence per mistake."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

SMALL = """
name: small
engine: sim
algorithm: {algorithm}
nodes: 4
network: {{latency: {{kind: exponential, mean: 50ms}}}}
workload: {{interval: {{kind: exponential, mean: 10ms}}, multicast: 0.5}}
stop: {{messages: 60}}
"""


def causalbed(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from testbed.cli.main import main; main()", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an experiment and the runs of ks and immediate."""
    home = tmp_path_factory.mktemp("home")
    (home / "small.yaml").write_text(SMALL.format(algorithm="[ks, immediate]"))
    answer = causalbed("run", "small.yaml", cwd=home)
    assert answer.returncode == 1, answer.stderr
    return home


def damaged(home: Path, tmp_path: Path) -> Path:
    """A copy of the valid run, to break."""
    copy = tmp_path / "copy"
    shutil.copytree(home / "runs" / "small-0001-ks", copy)
    return copy


def test_a_run_is_named_kept_and_pointed_at(home: Path) -> None:
    names = sorted(path.name for path in (home / "runs").iterdir())
    assert names[:2] == ["latest", "small-0001-immediate"]
    assert (home / "runs" / "latest" / "manifest.json").is_file()


def test_the_manifest_tells_what_was_run_and_how_it_ended(home: Path) -> None:
    manifest = json.loads((home / "runs/small-0001-ks/manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["verdict"] == "valid"
    assert manifest["experiment"]["network"]["latency"] == {"kind": "exponential", "mean": "50ms"}
    assert manifest["audit"]["evidence"]["held"] > 0
    assert len(manifest["content_hash"]) == 64


def test_an_invalid_run_exits_with_one_and_says_why_in_prose(home: Path) -> None:
    answer = causalbed("audit", "runs/small-0001-immediate", cwd=home)
    assert answer.returncode == 1
    assert "was delivered at" in answer.stdout
    assert "but send m" in answer.stdout


def test_a_valid_run_exits_with_zero_and_counts_its_evidence(home: Path) -> None:
    answer = causalbed("audit", "runs/small-0001-ks", "--json", cwd=home)
    assert answer.returncode == 0
    result = json.loads(answer.stdout)
    assert result["verdict"] == "valid"
    assert result["evidence"]["arrived_out_of_order"] > 0


def test_a_run_in_which_nothing_was_tested_is_inconclusive(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL.format(algorithm="ks"))
    slow = ["--set", "network.latency=1us", "--set", "workload.interval.mean=1s"]
    answer = causalbed("run", "small.yaml", *slow, cwd=tmp_path)
    assert answer.returncode == 2
    assert "nothing was tested" in answer.stdout


def test_the_same_seed_gives_the_same_content_hash_and_another_does_not(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL.format(algorithm="prs"))
    for seed in ("1", "1", "2"):
        causalbed("run", "small.yaml", "--set", f"seed={seed}", cwd=tmp_path)
    first, second, third = (
        json.loads((tmp_path / f"runs/small-000{i}-prs/manifest.json").read_text())["content_hash"]
        for i in (1, 2, 3)
    )
    assert first == second
    assert first != third


def test_runs_are_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL.format(algorithm="ks"))
    for _ in range(2):
        causalbed("run", "small.yaml", "--out", "kept", cwd=tmp_path)
    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert names == ["latest", "small-0001-ks", "small-0002-ks"]


def test_a_run_can_be_written_to_and_read_from_a_uri(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL.format(algorithm="ks"))
    target = tmp_path / "bucket"
    target.mkdir()
    answer = causalbed("run", "small.yaml", "--out", target.as_uri(), cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    answer = causalbed("audit", (target / "small-0001-ks").as_uri(), cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr


BAD_CALLS = {
    "fly": "No such command 'fly'",
    "run": "Missing argument 'EXPERIMENT'",
    "run nope": "no experiment 'nope'",
    "run small.yaml --set nodes=1": "nodes: got 1, takes a number of at least 2",
    "run small.yaml --set network.loss=-0.1": "network.loss: got -0.1",
    "run small.yaml --engine abacus": "engine: got 'abacus', takes 'ray' or 'sim'",
    "run small.yaml --out /proc/nope": "output folder '/proc/nope' cannot be written",
    "run small.yaml --out small.yaml": "output folder 'small.yaml' cannot be written",
    "audit nowhere": "'nowhere' is no directory; it takes a run directory",
    "audit .": "is no run directory",
    "check nobody": "unknown algorithm 'nobody'; known are",
    "check ks --schedules 0": "0 is not in the range",
    "check ks --replay small.yaml": "small.yaml",
    "sql runs/latest": "takes run directories and then a query",
    "report runs/latest --out nowhere/x.html": "takes a file name in a folder that exists",
}


@pytest.mark.parametrize(("call", "sentence"), BAD_CALLS.items(), ids=BAD_CALLS)
def test_bad_input_exits_with_64_and_one_sentence(home: Path, call: str, sentence: str) -> None:
    before = sorted(home.rglob("*"))
    answer = causalbed(*call.split(), cwd=home)
    assert answer.returncode == 64, answer.stderr
    assert sentence in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1
    assert sorted(home.rglob("*")) == before


def test_a_truncated_trace_is_refused_as_damaged(home: Path, tmp_path: Path) -> None:
    run = damaged(home, tmp_path)
    file = next((run / "events").glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-100])
    answer = causalbed("audit", str(run), cwd=home)
    assert answer.returncode == 3
    assert "not a readable Parquet file" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_trace_without_a_needed_column_is_refused_as_damaged(home: Path, tmp_path: Path) -> None:
    run = damaged(home, tmp_path)
    file = next((run / "events").glob("*.parquet"))
    pq.write_table(pq.read_table(file).drop_columns(["origin"]), file)
    answer = causalbed("audit", str(run), cwd=home)
    assert answer.returncode == 3
    assert "column 'origin' is missing" in answer.stderr


def test_the_hunter_finds_saves_and_replays_a_schedule(tmp_path: Path) -> None:
    answer = causalbed("check", "immediate", "--schedules", "50", "--save", "finds", cwd=tmp_path)
    assert answer.returncode == 1
    assert "but send" in answer.stdout
    saved = sorted((tmp_path / "finds").glob("*.json"))
    again = causalbed("check", "immediate", "--replay", str(saved[0]), cwd=tmp_path)
    assert again.returncode == 1
    corrected = causalbed("check", "ks", "--replay", str(saved[0]), cwd=tmp_path)
    assert corrected.returncode != 1


def test_the_hunter_is_content_with_ks(tmp_path: Path) -> None:
    answer = causalbed("check", "ks", "--schedules", "300", "--json", cwd=tmp_path)
    assert answer.returncode == 0
    assert json.loads(answer.stdout)["verdict"] == "valid"


def test_an_interrupted_run_is_aborted_with_a_readable_trace(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL.format(algorithm="ks"))
    program = "from testbed.cli.main import main; main()"
    long = ["run", "small.yaml", "--set", "stop.messages=10000000", "--set", "nodes=9"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *long], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    spool = tmp_path / "runs/small-0001-ks/spool/part-0000.arrows"
    while not (spool.exists() and spool.stat().st_size > 500_000):
        assert process.poll() is None, process.communicate()
    os.kill(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "Traceback" not in complaint
    manifest = json.loads((tmp_path / "runs/small-0001-ks/manifest.json").read_text())
    assert manifest["status"] == "aborted"
    answer = causalbed("audit", "runs/small-0001-ks", cwd=tmp_path)
    assert answer.returncode == 2
    assert "cut short" in answer.stdout


def test_doctor_names_what_it_found(tmp_path: Path) -> None:
    answer = causalbed("doctor", "--json", cwd=tmp_path)
    found = {check["what"]: check["ok"] for check in json.loads(answer.stdout)}
    assert found["Python"]
    assert found["pyspark"]
    assert (answer.returncode == 0) == all(
        check["ok"] for check in json.loads(answer.stdout) if check["needed"]
    )


def test_every_command_has_help(tmp_path: Path) -> None:
    for command in [
        "run",
        "audit",
        "stats",
        "sql",
        "report",
        "check",
        "algorithms",
        "doctor",
        "bench",
    ]:
        answer = causalbed(command, "--help", cwd=tmp_path)
        assert answer.returncode == 0
        assert "Usage" in answer.stdout
