"""`causalbed run`: an experiment file in, run directories with trace, verdict and manifest out."""

from __future__ import annotations

import datetime
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.fs

from testbed.algorithms import find
from testbed.cli.outcome import content_hash, facts_of, machine, versions
from testbed.cli.terminal import console, progress_bar
from testbed.config.experiment import Experiment
from testbed.config.load import find_experiment, load
from testbed.config.planning import Planned, plans
from testbed.core.algorithm import Guarantee
from testbed.core.errors import BadInput, CausalbedError
from testbed.engine.plan import Plan, Roam
from testbed.engine.virtual import VirtualEngine
from testbed.trace.audit import audit_run
from testbed.trace.oracle import Verdict
from testbed.trace.recorder import Recorder
from testbed.trace.rundir import RunDir, create, is_uri, next_series, point_latest
from workloads.mobility.groups import Groups

Progress = Callable[[int], None]


class Outcome(msgspec.Struct):
    """One finished run, as `--json` prints it."""

    run: str
    path: str
    algorithm: str
    status: str
    verdict: str
    why: str
    warnings: list[str]


def run_experiment(
    name: str, *, engine: str | None, settings: list[str], out: str, quiet: bool = False
) -> list[Outcome]:
    """Run an experiment once for each of its algorithms."""
    source = find_experiment(name)
    if engine is not None:
        settings = [*settings, f"engine={engine}"]
    experiment = load(source, settings)
    planned = plans(experiment, source)
    with _output_folder(out) as folder, _engine_session(experiment):
        series = next_series(folder, experiment.name)
        outcomes = []
        for one in planned:
            run = create(folder, f"{series}-{_label(one.plan.algorithm)}")
            outcomes.append(_run_one(experiment, one, run, series, quiet=quiet))
    return outcomes


def _label(algorithm: str) -> str:
    """`av3[k=2]` as part of a path: `av3-k-2`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", algorithm.replace(":", ".")).strip("-")


def _run_one(
    experiment: Experiment,
    planned: Planned,
    run: RunDir,
    series: str,
    *,
    quiet: bool,
) -> Outcome:
    plan, warnings = planned
    begun = time.monotonic()
    run.write_manifest(_first_manifest(experiment, planned, run, series))
    if plan.roam is not None:
        run.write_trails(_trails(plan, plan.roam))
    point_latest(run)
    status, facts = "failed", {}
    try:
        with progress_bar(f"{plan.algorithm:>10}", experiment.stop.messages, quiet=quiet) as tick:
            if experiment.engine == "sim":
                facts = _run_virtual(planned, run, tick)
            else:
                facts = _run_live(experiment, planned, run, tick)
        status = "complete"
    except KeyboardInterrupt:
        status = "aborted"
        raise
    except CausalbedError as error:
        facts = {"warnings": [*warnings, str(error)]}
        raise
    finally:
        _conclude(run, status, facts, warnings, time.monotonic() - begun)
    manifest = run.manifest()
    return Outcome(
        run.id, str(run.path), plan.algorithm, status, manifest["verdict"],
        manifest["audit"]["why"], manifest["warnings"],
    )  # fmt: skip


def _trails(plan: Plan, roam: Roam) -> Iterator[tuple[int, int, float, float]]:
    """Where every host went, as far as its model knows."""
    if not isinstance(roam.mobility, Groups):
        return
    until = plan.last_send()
    for host in roam.world.host_ids:
        for place in roam.mobility.trail(host, until):
            yield host, *place


def _world(plan: Plan) -> dict[str, Any] | None:
    return None if plan.roam is None else msgspec.to_builtins(plan.roam.world)


def _run_virtual(planned: Planned, run: RunDir, tick: Progress) -> dict[str, Any]:
    recorder = Recorder(
        run.id, run.spool / "part-0000.arrows", find(planned.plan.algorithm).packet_names
    )
    try:
        totals = VirtualEngine(planned.plan, recorder).run(tick)
    finally:
        recorder.close()
    return {"totals": msgspec.to_builtins(totals)}


def _run_live(
    experiment: Experiment, planned: Planned, run: RunDir, tick: Progress
) -> dict[str, Any]:
    from actors.engine import run_live

    report = run_live(planned.plan, run, _live_options(experiment), progress=lambda n, _: tick(n))
    return {
        "totals": msgspec.to_builtins(report.totals),
        "lateness_ns": report.lateness_ns,
        "speed": report.speed,
        "actors": report.actors,
        "kills": msgspec.to_builtins(report.kills),
        "warnings": planned.warnings + report.warnings,
    }


def _conclude(
    run: RunDir, status: str, facts: dict[str, Any], warnings: list[str], wall_seconds: float
) -> None:
    """Publish the trace, audit it, and say so in the manifest, however the run ended."""
    run.publish()
    changes: dict[str, Any] = {"status": status, "wall_seconds": round(wall_seconds, 3)}
    changes |= {"warnings": warnings} | facts
    if any(run.events.glob("*.parquet")):
        audit = audit_run(run, complete=status == "complete")
        changes["verdict"] = audit.verdict.value
        changes["audit"] = msgspec.to_builtins(audit)
        changes["content_hash"] = content_hash(run)
    else:
        changes["verdict"] = Verdict.INCONCLUSIVE.value
        changes["audit"] = {"why": "there is no trace"}
    run.update_manifest(**changes)


def _first_manifest(
    experiment: Experiment, planned: Planned, run: RunDir, series: str
) -> dict[str, Any]:
    live = experiment.engine == "ray"
    return {
        "run": run.id,
        "name": experiment.name,
        "series": series,
        "algorithm": planned.plan.algorithm,
        "guarantee": _promise(planned.plan.algorithm),
        "engine": experiment.engine,
        "seed": experiment.seed,
        "nodes": experiment.nodes,
        "world": _world(planned.plan),
        "transport": experiment.transport if live else None,
        "speed": experiment.speed if live else None,
        "warmup_until": planned.plan.warmup_until(),
        "facts": facts_of(planned.plan),
        "experiment": experiment.model_dump(mode="json", by_alias=True),
        "versions": versions(),
        "machine": machine(),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "status": "running",
        "verdict": None,
        "audit": None,
        "lateness_ns": None,
        "warnings": planned.warnings,
    }


def _promise(algorithm: str) -> str:
    """What the audit holds the run to; controls are held to causal order, to show what it costs."""
    deadline = find(algorithm).guarantee is Guarantee.DEADLINE
    return (Guarantee.DEADLINE if deadline else Guarantee.CAUSAL).value


@contextmanager
def _output_folder(out: str) -> Iterator[Path]:
    """A local folder to write runs into; for a URI, a temporary one that is copied there."""
    if not is_uri(out):
        yield Path(out)
        return
    try:
        filesystem, path = pyarrow.fs.FileSystem.from_uri(out)
    except (OSError, ValueError) as error:
        raise BadInput(f"--out {out}: cannot be used: {error}") from error
    staging = Path(tempfile.mkdtemp(prefix="causalbed-"))
    try:
        yield staging
        (staging / "latest").unlink(missing_ok=True)
        pyarrow.fs.copy_files(str(staging), path, destination_filesystem=filesystem)
    finally:
        shutil.rmtree(staging)


def _live_options(experiment: Experiment) -> Any:
    from actors.engine import LiveOptions

    packed = experiment.placement.nodes_per_actor
    return LiveOptions(
        transport=experiment.transport,
        nodes_per_actor=0 if packed == "auto" else packed,
        speed=None if experiment.speed == "auto" else experiment.speed,
        address=os.environ.get("CAUSALBED_RAY_ADDRESS"),
    )


@contextmanager
def _engine_session(experiment: Experiment) -> Iterator[None]:
    """One Ray for all algorithms of the experiment; nothing for virtual time."""
    if experiment.engine == "sim":
        yield
        return
    from actors.engine import ray_session

    with ray_session(_live_options(experiment)):
        yield


def print_outcomes(outcomes: list[Outcome]) -> None:
    colours = {"valid": "green", "invalid": "red", "inconclusive": "yellow"}
    for outcome in outcomes:
        verdict = f"[{colours[outcome.verdict]}]{outcome.verdict}[/]"
        console.print(f"{verdict} {outcome.path}: {outcome.why}", highlight=False)
        for warning in outcome.warnings:
            console.print(f"  [yellow]warning[/]: {warning}", highlight=False)
