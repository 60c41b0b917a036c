"""Both audits agree on runs with deadlines, crashes and killed actors, which only some excuse."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from actors.graves import Kill, write_epitaph
from analysis.audit import audit_at_scale
from analysis.tables import register
from testbed.core.algorithm import Guarantee
from testbed.core.clocks import Clocks
from testbed.core.distribution import Exponential, Uniform
from testbed.core.fault import Crash
from testbed.core.network import Loss
from testbed.engine.plan import Plan
from testbed.engine.virtual import VirtualEngine
from testbed.trace.audit import audit_run
from testbed.trace.oracle import Audit, Verdict
from testbed.trace.recorder import Recorder
from testbed.trace.rundir import RunDir, create
from tests.runs import MS, plan

pytestmark = pytest.mark.spark

CRASHES = (Crash(250 * MS, (1,)), Crash(400 * MS, (3,)))


def recorded(out: Path, name: str, made: Plan, guarantee: Guarantee) -> RunDir:
    run = create(out, name)
    recorder = Recorder(run.id, run.spool / "nodes.arrows", ("data", "two", "three", "four"))
    VirtualEngine(made, recorder).run()
    recorder.close()
    run.publish()
    run.write_manifest({"run": name, "status": "complete", "guarantee": guarantee.value})
    return run


def mortal(algorithm: str, *, crashes: tuple[Crash, ...] = (), loss: float = 0.1) -> Plan:
    made = plan(algorithm, loss=Loss(loss), messages=150)
    traffic = msgspec.structs.replace(made.traffic, lifetime=Exponential(150 * MS))
    clocks = Clocks(ahead=Uniform(0, 10 * MS), drift_ppb=1_000_000)
    return msgspec.structs.replace(made, traffic=traffic, clocks=clocks, faults=crashes)


def cut_and_buried(run: RunDir) -> RunDir:
    """As if node 1 had lived in an actor that was killed: its last rows are gone."""
    (file,) = run.events.glob("*.parquet")
    table = pq.read_table(file)
    mine, now = pc.equal(table["node"], 1), pc.less(table["seq"], 200)
    pq.write_table(table.filter(pc.or_(pc.invert(mine), now)), file)
    kill = Kill(actor=0, nodes=(1,), time=600 * MS, process=1, rows_recorded=9, rows_read=5)
    write_epitaph(run.events, run.id, plan("immediate"), kill, file.stem)
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDir]:
    out = tmp_path_factory.mktemp("runs")
    causal, deadline = Guarantee.CAUSAL, Guarantee.DEADLINE
    faulty = msgspec.structs.replace(plan("bss"), faults=CRASHES)
    blocked = plan("bss", loss=Loss(0.2), retry_after=100 * MS)
    blocked = msgspec.structs.replace(blocked, faults=CRASHES)
    made = [
        recorded(out, "tdca", mortal("tdca"), deadline),
        recorded(out, "odca", mortal("odca", crashes=CRASHES), deadline),
        recorded(out, "late", mortal("bss", loss=0.0), deadline),
        recorded(out, "disorder", mortal("immediate", crashes=CRASHES), deadline),
        recorded(out, "endless", plan("immediate"), deadline),
        recorded(out, "ignored", mortal("bss", loss=0.0), causal),
        recorded(out, "crashed", faulty, causal),
        recorded(out, "blocked", blocked, causal),
        cut_and_buried(recorded(out, "killed", plan("bss", messages=300), causal)),
        cut_and_buried(recorded(out, "killed_tdca", mortal("tdca"), deadline)),
    ]
    return {run.id: run for run in made}


@pytest.fixture(scope="module")
def plain(runs: dict[str, RunDir]) -> dict[str, Audit]:
    return {name: audit_run(run) for name, run in runs.items()}


@pytest.fixture(scope="module")
def at_scale(spark: SparkSession, runs: dict[str, RunDir]) -> dict[str, Audit]:
    register(spark, list(runs.values()))
    return audit_at_scale(spark)


def test_both_audits_say_the_same_under_deadlines_and_crashes(
    plain: dict[str, Audit], at_scale: dict[str, Audit]
) -> None:
    assert plain.keys() == at_scale.keys()
    for name in plain:
        assert at_scale[name] == plain[name], name


def test_the_runs_put_every_excuse_to_the_test(plain: dict[str, Audit]) -> None:
    assert {audit.verdict for audit in plain.values()} >= {Verdict.VALID, Verdict.INVALID}
    for count in ("expired", "crashed", "unowed", "explained", "unrecorded"):
        assert any(getattr(audit, count) for audit in plain.values()), count
    assert plain["tdca"].verdict is Verdict.VALID
    assert plain["ignored"].expired == 0 < plain["late"].expired
    assert plain["killed"].strangers == 0
