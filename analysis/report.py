"""The report: verdict first, then what it cost, then what was run. One HTML file, no network.

This file gathers; how a section reads is in sections.py, how a plot looks in figures.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from analysis import sections
from analysis.audit import audit_at_scale
from analysis.deadline_figures import deadline_figures
from analysis.figures import PALETTE, figures
from analysis.mobile_figures import mobile_figures
from analysis.page import document
from analysis.queries import query
from analysis.sections import Entry
from analysis.statistics import missing_column, statistics
from analysis.tables import is_registered, manifest_of, register, run_names
from analysis.words import series_names
from testbed.core.errors import BadInput
from testbed.trace.rundir import RunDir

__all__ = ["query", "write_report"]


def write_report(spark: SparkSession, runs: Sequence[RunDir], target: Path) -> None:
    """Write one self-contained HTML file about these runs, whole or not at all."""
    if not is_registered(spark, runs):
        register(spark, runs)
    entries = _entries(spark, runs)
    gap = missing_column(spark)
    body = [sections.opening(entries), sections.warnings(entries, gap), sections.verdicts(entries)]
    if gap is None:
        tables = statistics(spark)
        called = {entry.id: entry.name for entry in entries}
        if "journey" in tables:
            plots = mobile_figures(spark, called) + figures(spark, called, ("delay_distribution",))
            body.append(sections.mobile(entries, tables))
        elif "deadlines" in tables and not tables["deadlines"].empty:
            plots = deadline_figures(spark, called) + figures(spark, called)
            body.append(sections.deadlines(entries, tables))
            body.append(sections.comparison(entries, tables["comparison"]))
        else:
            plots = figures(spark, called)
            body.append(sections.comparison(entries, tables["comparison"]))
        body += [sections.plots(plots), sections.details(entries, tables)]
    body += [sections.experiment(entries), sections.origin(entries), sections.repeat(entries)]
    _write(target, document(sections.title(entries), "".join(body)))


def _entries(spark: SparkSession, runs: Sequence[RunDir]) -> list[Entry]:
    """Each run with its verdict: the one in its manifest, or else a fresh audit's."""
    named = run_names(runs)
    manifests = {name: manifest_of(run) for name, run in named.items()}
    names = series_names(spark.table("runs").select("run", "algorithm").toPandas())
    audits: dict[str, dict[str, Any]] = {
        name: manifest["audit"] for name, manifest in manifests.items() if manifest.get("audit")
    }
    if len(audits) < len(named):
        audits = {
            name: {
                "verdict": audit.verdict.value,
                "why": audit.why,
                "findings": [{"prose": finding.prose} for finding in audit.findings],
            }
            for name, audit in audit_at_scale(spark).items()
        } | audits
    return [
        Entry(
            id=name,
            name=names[name],
            path=run.path,
            manifest=manifests[name],
            verdict=audits[name].get("verdict", "unknown"),
            why=audits[name].get("why", ""),
            findings=[finding["prose"] for finding in audits[name].get("findings", [])],
            colour=PALETTE[place % len(PALETTE)],
        )
        for place, (name, run) in enumerate(named.items())
    ]


def _write(target: Path, page: str) -> None:
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        temporary.write_text(page, encoding="utf-8")
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BadInput(f"report '{target}' cannot be written ({error.strerror})") from error
