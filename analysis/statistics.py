"""The statistics of runs: every file in sql/statistics, by name. Knows no number by itself."""

from __future__ import annotations

import pandas as pd
from pyspark.sql import SparkSession

from analysis.queries import queries, select
from testbed.core.errors import DamagedRun

ORDER = (
    "comparison", "overhead", "paper_units", "state", "delay", "holdback", "throughput", "network",
    "cpu",
)  # fmt: skip
"""What a reader wants first; files that are not named here follow in alphabetical order."""

ACCURACY = 10_000
"""Percentiles are exact up to one in so many ranks."""

WORD_BITS = 32
"""W of PRS section 7.1: bits in an integer."""

NEEDED = (
    "time", "control_ints", "control_bytes", "control_units", "control_entries", "control_empty",
    "copies", "payload_bytes", "state_ints", "cpu_ns",
)  # fmt: skip
"""Columns without which a trace can be audited but not measured."""


def statistics(spark: SparkSession) -> dict[str, pd.DataFrame]:
    """All statistics of the registered runs: name of the SQL file -> its rows."""
    require_columns(spark)
    return {name: statistic(spark, name) for name in names()}


def names() -> tuple[str, ...]:
    """The statistics there are, in the order in which they are shown."""
    known = queries("statistics")
    return (*(n for n in ORDER if n in known), *(n for n in known if n not in ORDER))


def statistic(spark: SparkSession, name: str) -> pd.DataFrame:
    """One statistic of the registered runs."""
    rows = select(spark, "statistics", name, accuracy=ACCURACY, word_bits=WORD_BITS)
    frame: pd.DataFrame = rows.toPandas()
    return frame


def require_columns(spark: SparkSession) -> None:
    """Raises DamagedRun that names the first column that a run lacks."""
    gap = missing_column(spark)
    if gap is not None:
        raise DamagedRun(gap)


def missing_column(spark: SparkSession) -> str | None:
    """A sentence on the first column without which a registered run cannot be measured."""
    for run, missing in spark.table("runs").select("run", "missing").collect():
        for column in NEEDED:
            if column in missing:
                return (
                    f"{run}: column '{column}' is missing; the trace can be audited, "
                    "but statistics need it"
                )
    return None
