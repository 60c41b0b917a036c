"""Actors that a fault schedule kills: when, whom, and what the trace says of them afterwards.

A killed actor leaves a spool that ends with its last whole batch and says nothing of its end, so
the driver, which killed it, writes the `crash` rows of its nodes. Knows neither Ray nor messages.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from testbed.core.fault import Crash
from testbed.core.model import Nanos, NodeId
from testbed.engine.plan import Plan
from testbed.trace.schema import ABSENT, PACKED, REASONS, ROLES, ROW, SCHEMA, Event, to_batch


class Kill(msgspec.Struct, frozen=True, kw_only=True):
    """An actor that was killed on purpose, and the evidence of it."""

    actor: int
    nodes: tuple[NodeId, ...]
    time: Nanos
    """Emulated, when the driver had killed it."""
    process: int
    rows_recorded: int
    """At least so many, when it was last asked."""
    rows_read: int


def with_whole_actors(plan: Plan, homes: tuple[int, ...]) -> Plan:
    """Who kills an actor kills all nodes that live there, however they were placed."""
    faults = []
    for fault in plan.faults:
        if fault.kills:
            actors = {homes[node] for node in fault.nodes}
            nodes = tuple(node for node, home in enumerate(homes) if home in actors)
            fault = Crash(fault.time, nodes, kills=True)
        faults.append(fault)
    return msgspec.structs.replace(plan, faults=tuple(faults))


def executions(plan: Plan, homes: tuple[int, ...]) -> list[tuple[Nanos, int]]:
    """When to kill which actor, by time."""
    due: dict[int, Nanos] = {}
    for fault in plan.faults:
        if fault.kills:
            for node in fault.nodes:
                actor = homes[node]
                due[actor] = min(fault.time, due.get(actor, fault.time))
    return sorted((time, actor) for actor, time in due.items())


def write_epitaph(events: Path, run_id: str, plan: Plan, kill: Kill, spool_name: str) -> None:
    """One `crash` row per node of a killed actor, right behind the last row it left."""
    last = _last_rows(events / f"{spool_name}.parquet")
    clocks = plan.clocks
    rows = np.zeros(len(kill.nodes), dtype=ROW)
    for column in PACKED:
        if column.nullable:
            rows[column.name] = ABSENT
    for position, node in enumerate(kill.nodes):
        row = rows[position]
        row["node"], row["role"] = node, ROLES.index(plan.role(node).value)
        row["seq"] = last.get(node, -1) + 1
        row["time"], row["event"] = kill.time, Event.CRASH
        row["reason"] = REASONS.index("killed")
        row["clock"] = kill.time if clocks is None else clocks.of(node, plan.seed).show(kill.time)
    with pq.ParquetWriter(events / f"{spool_name}-killed.parquet", SCHEMA) as writer:
        writer.write_batch(to_batch(run_id, rows, {}, ()))


def _last_rows(file: Path) -> dict[NodeId, int]:
    """The last `seq` of each node in this file; nothing where there is none."""
    if not file.exists():
        return {}
    table = pq.read_table(file, columns=["node", "seq"])
    latest: pa.Table = table.group_by("node").aggregate([("seq", "max")])
    return dict(
        zip(latest.column("node").to_pylist(), latest.column("seq_max").to_pylist(), strict=True)
    )
