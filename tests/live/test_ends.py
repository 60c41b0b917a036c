"""How a live run ends when it does not end well: interrupted, or with an actor killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from actors.engine import ActorLost
from testbed.trace.audit import audit_run
from testbed.trace.oracle import Verdict
from testbed.trace.rundir import RunDir
from tests.live.conftest import MS, is_alive, plan_of

pytestmark = pytest.mark.ray

PATIENCE_SECONDS = 120


def test_ctrl_c_ends_cleanly_with_no_actor_left_and_a_readable_trace(tmp_path):
    """The whole process group gets the signal, as from a terminal; a second one follows at once."""
    command = [sys.executable, "-m", "tests.live.interrupted", str(tmp_path)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    actors = json.loads(process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "stopping\n"
    os.killpg(process.pid, signal.SIGINT)
    output, complaints = process.communicate(timeout=PATIENCE_SECONDS)

    assert output == "aborted\n"
    assert complaints == ""
    assert process.returncode == 130
    assert len(actors) == 3
    assert not any(is_alive(actor) for actor in actors)
    run = RunDir(tmp_path / "interrupted")
    assert not run.spool.exists()
    assert audit_run(run, complete=False).verdict is not Verdict.INVALID
    assert audit_run(run, complete=False).messages > 0


def test_a_killed_actor_leaves_a_readable_trace_and_its_loss_is_stated(live):
    plan = plan_of("ks", n=3, messages=2_000, interval=10 * MS)
    first, _ = live(plan_of("ks", n=3, messages=5))
    victim = first.processes[1]

    def kill_in_the_middle(done: int, total: int) -> None:
        if done > 100 and is_alive(victim):
            os.kill(victim, signal.SIGKILL)

    with pytest.raises(ActorLost, match=r"actor 1 \(nodes 1\) died") as caught:
        live(plan, progress=kill_in_the_middle)

    report = caught.value.report
    (death,) = report.deaths
    assert death.actor == 1
    assert death.rows_recorded > 0
    assert report.rows_lost == death.rows_recorded - death.rows_read
    assert any("actor 1 died" in warning for warning in report.warnings)


def test_what_a_killed_actor_had_flushed_is_in_the_trace(live, tmp_path):
    plan = plan_of("fifo", n=3, messages=3_000, interval=10 * MS)
    first, _ = live(plan_of("fifo", n=3, messages=5))
    victim = first.processes[2]

    def kill_after_a_flush(done: int, total: int) -> None:
        if done > 600 and is_alive(victim):
            os.kill(victim, signal.SIGKILL)

    with pytest.raises(ActorLost) as caught:
        live(plan, progress=kill_after_a_flush)

    run = RunDir(max(tmp_path.glob("live-*")))
    nodes = run.table(("node",)).column("node").to_pylist()
    assert nodes.count(2) == caught.value.report.deaths[0].rows_read > 0
    assert audit_run(run, complete=False).messages > 0


def test_the_next_run_works_after_an_actor_was_killed(live):
    first, _ = live(plan_of("fifo", n=3, messages=5))

    def kill_at_once(done: int, total: int) -> None:
        if is_alive(first.processes[0]):
            os.kill(first.processes[0], signal.SIGKILL)

    with pytest.raises(ActorLost):
        live(plan_of("fifo", n=3, messages=500), progress=kill_at_once)
    report, run = live(plan_of("ks", n=3))

    assert audit_run(run).verdict is Verdict.VALID
    assert not set(report.processes) & set(first.processes)
