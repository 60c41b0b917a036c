"""Mobile experiments as their user meets them: run, audit, what lies in the run directory."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.test_commands import causalbed

MOBILE = """
name: walkers
engine: sim
algorithm: [av1, badrinath]
topology: {stations: 4, hosts: 8, cell: 50m}
network: {latency: {kind: exponential, mean: 30ms}}
mobility:
  beacon: 100ms
  groups:
    - {kind: waypoint, hosts: 4, slow: 20m/s, fast: 40m/s}
    - {kind: exponential, mean: 300ms, disconnect: {share: 0.3, lasts: 200ms}}
workload: {interval: {kind: exponential, mean: 100ms}, multicast: 0.5}
stop: {messages: 400}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    (home / "walkers.yaml").write_text(MOBILE)
    answer = causalbed("run", "walkers.yaml", cwd=home)
    assert answer.returncode == 1, answer.stderr
    return home


def manifest(home: Path, run: str) -> dict[str, object]:
    content: dict[str, object] = json.loads((home / "runs" / run / "manifest.json").read_text())
    return content


def test_an_ordered_mobile_algorithm_is_valid_and_one_without_order_is_not(home: Path) -> None:
    assert manifest(home, "walkers-0001-av1")["verdict"] == "valid"
    assert manifest(home, "walkers-0001-badrinath")["verdict"] == "invalid"
    assert causalbed("audit", "runs/walkers-0001-av1", cwd=home).returncode == 0
    assert causalbed("audit", "runs/walkers-0001-badrinath", cwd=home).returncode == 1


def test_the_manifest_of_a_mobile_run_describes_its_world(home: Path) -> None:
    world = {"stations": 4, "hosts": 8, "columns": 2, "cell_metres": 50.0}
    assert manifest(home, "walkers-0001-av1")["world"] == world
    assert manifest(home, "walkers-0001-av1")["nodes"] == 12


def test_every_host_leaves_a_trail_inside_the_area(home: Path) -> None:
    trails = pq.read_table(home / "runs/walkers-0001-av1/trails.parquet").to_pylist()
    assert {place["node"] for place in trails} == set(range(4, 12))
    assert all(0 <= place["x"] <= 100 and 0 <= place["y"] <= 100 for place in trails)
    steps = [(a, b) for a, b in pairwise(trails) if a["node"] == b["node"]]
    assert all(a["time"] <= b["time"] for a, b in steps)


def test_hosts_enter_the_cells_that_their_trails_lead_into(home: Path) -> None:
    run = home / "runs/walkers-0001-av1"
    events = pq.read_table(run / "events").to_pylist()
    trails = pq.read_table(run / "trails.parquet").to_pylist()
    entered = [row for row in events if row["event"] == "enter" and row["node"] < 8]
    assert len(entered) >= 10
    for row in entered:
        mine = [place for place in trails if place["node"] == row["node"]]
        before = max((p for p in mine if p["time"] <= row["time"]), key=lambda p: p["time"])
        after = next((p for p in mine if p["time"] >= row["time"]), before)
        share = (row["time"] - before["time"]) / max(after["time"] - before["time"], 1)
        x = before["x"] + share * (after["x"] - before["x"])
        y = before["y"] + share * (after["y"] - before["y"])
        assert row["peer"] == int(y // 50) * 2 + int(x // 50)


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("topology.capacity=1", "takes at most 4 hosts, because 4 cells hold 1 each"),
        ("algorithm=ks", "ks runs on processes that stay where they are"),
        ("mobility={kind: ns2, file: nowhere.tcl}", "nowhere.tcl cannot be read: No such file"),
        ("topology.wireless.bandwidth=fast", "takes a data rate with its unit"),
    ],
)
def test_a_mobile_mistake_costs_sixty_four_and_one_line(
    home: Path, setting: str, part: str
) -> None:
    answer = causalbed("run", "walkers.yaml", "--set", setting, cwd=home)
    assert answer.returncode == 64
    assert part in " ".join(answer.stderr.split())
    assert "Traceback" not in answer.stderr


def test_a_mobile_algorithm_without_a_topology_costs_sixty_four(home: Path) -> None:
    fixed = MOBILE.partition("topology")[0] + "nodes: 4\nstop: {messages: 9}\n"
    (home / "fixed.yaml").write_text(fixed + "workload: {interval: 10ms}\n")
    answer = causalbed("run", "fixed.yaml", cwd=home)
    assert answer.returncode == 64
    assert "av1 runs on stations and hosts: add a topology" in " ".join(answer.stderr.split())
