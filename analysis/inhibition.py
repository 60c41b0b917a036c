"""The table `inhibition`: one task per run walks its trace in time; all else is SQL.

What counts as inhibition, and why, is in testbed/trace/inhibition.py, which Spark's workers import:
on a cluster they need this project installed.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

from analysis.queries import select
from testbed.trace.inhibition import Hold, Step, holds
from testbed.trace.schema import Event

SCHEMA = (
    "run string, origin int, number bigint, host int, station int, "
    "arrived bigint, deliverable bigint, released bigint, inhibited bigint"
)
_EVENTS = {event.text: event for event in Event}


def inhibition(spark: SparkSession) -> DataFrame:
    """One row for each message that stations let go to one of its hosts, worked out when asked."""
    return select(spark, "tables", "steps").groupBy("run").applyInPandas(_holds, SCHEMA)


def _holds(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows.sort_values(["time", "node", "seq"])
    run, stations, n = rows[["run", "stations", "n"]].iloc[0]
    released = holds(map(_step, rows.itertuples()), int(stations), int(n))
    found = pd.DataFrame(released, columns=Hold._fields)
    found.insert(0, "run", run)
    return found


def _step(row: Any) -> Step:
    return Step(
        event=_EVENTS[row.event],
        node=row.node,
        time=row.time,
        message=None if pd.isna(row.origin) else (int(row.origin), int(row.number)),
        dests=() if row.dests is None else tuple(int(d) for d in row.dests),
        peer=-1 if pd.isna(row.peer) else int(row.peer),
        packet=row.packet,
        reason=row.reason,
    )
