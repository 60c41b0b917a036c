"""`audit`, `stats`, `sql`, `report`: commands that read runs, most of them through Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from testbed.cli.terminal import console, print_json, wide
from testbed.core.errors import BadInput
from testbed.trace.audit import audit_run
from testbed.trace.oracle import Audit
from testbed.trace.rundir import MANIFEST, RunDir, is_uri, open_run


def find_runs(places: Sequence[str], *, series: bool = False) -> list[RunDir]:
    """The runs at these places; a folder of runs stands for all in it, a series for all of it."""
    runs = []
    for place in places:
        path = Path(place)
        if not is_uri(place) and path.is_dir() and not (path / "events").is_dir():
            inside = sorted(found.parent for found in path.glob(f"*/{MANIFEST}"))
            inside = [run for run in inside if not run.is_symlink()]
            if inside:
                runs += [open_run(str(run)) for run in inside]
                continue
        run = open_run(place)
        runs += _siblings(run) if series else [run]
    return runs


def _siblings(run: RunDir) -> list[RunDir]:
    """All runs that one `causalbed run` made, in the order of their making."""
    series = run.manifest().get("series")
    candidates = [RunDir(found.parent) for found in run.path.parent.glob(f"{series}-*/{MANIFEST}")]
    same = [one for one in candidates if one.manifest().get("series") == series]
    return sorted(same, key=lambda one: (one.manifest()["started"], one.id))


def audit_runs(
    places: Sequence[str], *, series: bool, spark: bool, master: str | None, as_json: bool
) -> int:
    """Audit each run; the exit code is that of the worst."""
    runs = find_runs(places, series=series)
    results = _audit_with_spark(runs, master) if spark else {run.id: _audit(run) for run in runs}
    if as_json:
        answers = [{"run": run} | msgspec.to_builtins(result) for run, result in results.items()]
        print_json(answers[0] if len(answers) == 1 else answers)
    else:
        for run, result in results.items():
            _print_audit(run, result)
    codes = [int(result.verdict.exit_code) for result in results.values()]
    return 1 if 1 in codes else max(codes)


def _audit(run: RunDir) -> Audit:
    complete = not (run.path / MANIFEST).exists() or run.manifest().get("status") == "complete"
    return audit_run(run, complete=complete)


def _audit_with_spark(runs: Sequence[RunDir], master: str | None) -> dict[str, Any]:
    from analysis.audit import audit_at_scale
    from analysis.session import spark_session
    from analysis.tables import register

    with console.status("auditing with Spark"), spark_session(master) as spark:
        register(spark, runs)
        return dict(audit_at_scale(spark))


def _print_audit(run: str, result: Audit) -> None:
    colour = {"valid": "green", "invalid": "red", "inconclusive": "yellow"}[result.verdict.value]
    evidence = result.evidence
    held_ms = evidence.held_ns_total / max(evidence.held, 1) / 1e6
    console.print(f"[{colour}]{result.verdict.value}[/] {run}: {result.why}", highlight=False)
    for label, value in (
        ("messages", result.messages),
        ("deliveries", f"{result.delivered} of {result.owed} owed"),
        ("out of causal order", result.inversions),
        ("more than once", result.duplicates),
        ("never delivered", result.undelivered),
        ("to a stranger", result.strangers),
        ("arrived out of order", evidence.arrived_out_of_order),
        ("held", f"{evidence.held}, {held_ms:.3f} ms on average"),
    ):
        console.print(f"  {label:<22}{value}", highlight=False)
    for finding in result.findings[1:5]:
        console.print(f"  also: {finding.prose}", highlight=False)


def print_statistics(
    places: Sequence[str],
    *,
    series: bool,
    only: str | None,
    master: str | None,
    as_json: bool,
    **settings: float,
) -> int:
    """The statistics that apply, or one; `settings` are constants of their queries."""
    from analysis.present import present
    from analysis.session import spark_session
    from analysis.statistics import applicable, names, require_columns, statistic
    from analysis.tables import register

    if only is not None and only not in names():
        raise BadInput(f"--only {only}: unknown table; known are {', '.join(names())}")
    runs = find_runs(places, series=series)
    with console.status("reading the trace with Spark"), spark_session(master) as spark:
        register(spark, runs)
        require_columns(spark)
        wanted = applicable(spark) if only is None else (only,)
        tables = {name: statistic(spark, name, **settings) for name in wanted}
    if as_json:
        print_json({name: table.to_dict("records") for name, table in tables.items()})
    else:
        for name, table in tables.items():
            wide.print(present(table, title=name.replace("_", " ")))
    return 0


def print_query(
    places: Sequence[str], query: str, *, series: bool, master: str | None, as_json: bool
) -> int:
    from analysis.present import present_rows
    from analysis.queries import query as ask
    from analysis.session import spark_session
    from analysis.tables import register

    runs = find_runs(places, series=series)
    with console.status("asking Spark"), spark_session(master) as spark:
        register(spark, runs)
        answer = ask(spark, query)
    if as_json:
        print_json(answer.to_dict("records"))
    else:
        wide.print(present_rows(answer))
    return 0


def make_report(
    places: Sequence[str], target: Path, *, series: bool, master: str | None, as_json: bool
) -> int:
    from analysis.present import present
    from analysis.report import write_report
    from analysis.session import spark_session
    from analysis.statistics import statistic
    from analysis.tables import register

    if target.is_dir() or not target.absolute().parent.is_dir():
        raise BadInput(f"--out {target}: it takes a file name in a folder that exists")
    runs = find_runs(places, series=series)
    with console.status("drawing the report"), spark_session(master) as spark:
        register(spark, runs)
        write_report(spark, runs, target)
        comparison = statistic(spark, "comparison")
    if as_json:
        print_json({"report": str(target), "runs": [run.id for run in runs]})
    else:
        wide.print(present(comparison, title="comparison"))
        console.print(f"report: {target}", highlight=False)
    return 0
