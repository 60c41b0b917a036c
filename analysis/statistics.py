"""The statistics of runs: every file in sql/statistics and its siblings, by name.

Knows no number by itself. What speaks of mobile hosts, of deadlines or of
crashes is asked only where there are some.
"""

from __future__ import annotations

import pandas as pd
from pyspark.sql import SparkSession

from analysis.queries import queries, select
from testbed.core.errors import DamagedRun

FAMILIES = {
    "statistics": (
        "comparison", "overhead", "paper_units", "state", "delay", "holdback", "throughput",
        "network", "cpu",
    ),
    "mobile": ("journey", "inhibition", "handoff", "wires", "air", "stations"),
    "deadline": ("deadlines", "repair", "buffers", "suspicions"),
}  # fmt: skip
"""Folders below sql/, and what a reader of each wants first; the rest follows by alphabet."""

ACCURACY = 10_000
"""Percentiles are exact up to one in so many ranks."""

WORD_BITS = 32
"""W of PRS section 7.1: bits in an integer."""

NEEDED = (
    "time", "control_ints", "control_bytes", "control_units", "control_entries", "control_empty",
    "copies", "payload_bytes", "state_ints", "cpu_ns",
)  # fmt: skip
"""Columns without which a trace can be audited but not measured."""


JOULES_SENT, JOULES_RECEIVED = 1.9e-6, 0.5e-6
"""Per byte over the air: the slopes that Feeney and Nilsson measured for an 802.11 card (2001)."""


def statistics(spark: SparkSession, **settings: float) -> dict[str, pd.DataFrame]:
    """All statistics that apply to the registered runs: name of the SQL file -> its rows."""
    require_columns(spark)
    return {name: statistic(spark, name, **settings) for name in applicable(spark)}


def names() -> tuple[str, ...]:
    """The statistics there are, in the order in which they are shown."""
    return tuple(name for family in FAMILIES for name in _of(family))


def applicable(spark: SparkSession) -> tuple[str, ...]:
    """Those of them that have something to say of the registered runs."""
    chosen = ["statistics"]
    if not spark.table("events").where("role = 'mh'").isEmpty():
        chosen.append("mobile")
    if not spark.table("events").where("deadline IS NOT NULL OR event = 'crash'").isEmpty():
        chosen.append("deadline")
    return tuple(name for family in chosen for name in _of(family))


def statistic(spark: SparkSession, name: str, **settings: float) -> pd.DataFrame:
    """One statistic of the registered runs; `settings` change the constants of its query."""
    constants = {
        "accuracy": ACCURACY, "word_bits": WORD_BITS,
        "joules_sent": JOULES_SENT, "joules_received": JOULES_RECEIVED,
    }  # fmt: skip
    rows = select(spark, family_of(name), name, **(constants | settings))
    frame: pd.DataFrame = rows.toPandas()
    return frame


def family_of(name: str) -> str:
    """The folder of the query with this name."""
    return next(family for family in FAMILIES if name in queries(family))


def _of(family: str) -> tuple[str, ...]:
    first, known = FAMILIES[family], queries(family)
    return (*(n for n in first if n in known), *(n for n in known if n not in first))


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
