"""The audit of a run directory in plain Python: read, order by node, ask the oracle."""

from __future__ import annotations

import pyarrow as pa

from testbed.core.errors import DamagedRun
from testbed.core.model import NodeId
from testbed.trace.oracle import Audit, TraceEvent, audit_events
from testbed.trace.rundir import RunDir
from testbed.trace.schema import AUDIT_COLUMNS, Event

_EVENTS = {event.text: event for event in (Event.SEND, Event.RECEIVE, Event.DELIVER)}


def audit_run(run: RunDir, *, complete: bool = True) -> Audit:
    """Judge one run from its trace alone."""
    return audit_events(events_by_node(read_trace(run)), complete=complete)


def read_trace(run: RunDir) -> pa.Table:
    """The columns the audit needs, and `time` where there is one."""
    try:
        return run.table((*AUDIT_COLUMNS, "time"))
    except DamagedRun as error:
        if "'time'" not in str(error):
            raise
        return run.table(AUDIT_COLUMNS)


def events_by_node(table: pa.Table) -> dict[NodeId, list[TraceEvent]]:
    """Each node's sends, receives and deliveries, in the node's own order."""
    table = table.sort_by([("node", "ascending"), ("seq", "ascending")])
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    times = columns.get("time", [0] * table.num_rows)
    events_of: dict[NodeId, list[TraceEvent]] = {}
    rows = zip(*(columns[name] for name in AUDIT_COLUMNS), times, strict=True)
    last: tuple[NodeId, int] | None = None
    for node, seq, text, origin, number, dests, time in rows:
        if last == (node, seq):
            raise DamagedRun(f"node {node} has two events with seq {seq}; seq must be unique")
        last = (node, seq)
        mine = events_of.setdefault(node, [])
        event = _EVENTS.get(text)
        if event is not None and origin is not None:
            mine.append(TraceEvent(event, (origin, number), tuple(dests or ()), time))
    return events_of
