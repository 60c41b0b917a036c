"""The audit of a run directory in plain Python: read, order by node, ask the oracle."""

from __future__ import annotations

import pyarrow as pa

from testbed.core.algorithm import Guarantee
from testbed.core.errors import DamagedRun
from testbed.core.model import NodeId
from testbed.trace.events import ABSENCES, NOTHING, TraceEvent, audit_events
from testbed.trace.oracle import Audit
from testbed.trace.rundir import MANIFEST, RunDir
from testbed.trace.schema import AUDIT_COLUMNS, Event

_NEVER_NULL = ("node", "seq", "event")
_EVENTS = {
    event.text: event
    for event in (
        Event.SEND, Event.RECEIVE, Event.DELIVER, Event.FORWARD, Event.DISCARD, Event.DROP,
        Event.CRASH, *ABSENCES,
    )
}  # fmt: skip
_OPTIONAL = ("time", "peer", "reason", "clock", "deadline")
"""What the audit uses where a trace has it: how long copies were held, what was waived or lost,
and whether deliveries were in time."""
_WAIVED = "disconnected"
_MAY_BE_BARE = (Event.RECEIVE, Event.FORWARD, Event.DISCARD, Event.DROP)
_BY_RECEIVER = ("no_room", "crashed")
"""Copies that came to their end and were dropped there."""


def audit_run(run: RunDir, *, complete: bool = True) -> Audit:
    """Judge one run from its trace, and from its manifest what its algorithm promises."""
    events = events_by_node(read_trace(run))
    return audit_events(events, complete=complete, guarantee=guarantee_of(run))


def guarantee_of(run: RunDir) -> Guarantee:
    """What the manifest says that the algorithm promises; causal order where nobody says."""
    promised = run.manifest().get("guarantee") if (run.path / MANIFEST).exists() else None
    if promised is None:
        return Guarantee.CAUSAL
    try:
        return Guarantee(promised)
    except ValueError as error:
        known = ", ".join(guarantee.value for guarantee in Guarantee)
        raise DamagedRun(
            f"{run.path}: the manifest's guarantee is {promised!r}; known are {known}"
        ) from error


def read_trace(run: RunDir) -> pa.Table:
    """The columns the audit needs, and those that it can use."""
    return run.table(AUDIT_COLUMNS, optional=_OPTIONAL)


def events_by_node(table: pa.Table) -> dict[NodeId, list[TraceEvent]]:
    """Each node's sends, receives and deliveries, in the node's own order."""
    _check(table)
    table = table.sort_by([("node", "ascending"), ("seq", "ascending")])
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    none = [None] * table.num_rows
    names = (*AUDIT_COLUMNS, *_OPTIONAL)
    events_of: dict[NodeId, list[TraceEvent]] = {}
    last: tuple[NodeId, int] | None = None
    for node, seq, text, origin, number, dests, time, peer, reason, clock, deadline in zip(
        *(columns.get(name, none) for name in names), strict=True
    ):
        if last == (node, seq):
            raise DamagedRun(f"node {node} has two events with seq {seq}; seq must be unique")
        last = (node, seq)
        mine = events_of.setdefault(node, [])
        event = _EVENTS.get(text)
        if event is Event.CRASH or event in ABSENCES:
            mine.append(TraceEvent(event, NOTHING, (), time or 0, reason=reason))
            continue
        if event is None or (event in _MAY_BE_BARE and origin is None):
            continue  # not of the application, or a packet without a message
        if event is Event.DROP and reason in _BY_RECEIVER:
            peer = None
        elif peer is None and (event is Event.DROP or reason == _WAIVED):
            continue  # it does not say for whom
        if origin is None or number is None:
            raise DamagedRun(f"node {node}, seq {seq}: {text} does not name its message")
        to = -1 if peer is None else peer
        mine.append(
            TraceEvent(
                event, (origin, number), tuple(dests or ()), time or 0, to, reason, clock, deadline
            )
        )
    return events_of


def _check(table: pa.Table) -> None:
    """A trace of another system may hold anything: say what does not fit before it is read."""
    types = {name: table.schema.field(name).type for name in AUDIT_COLUMNS}
    types["dests"] = getattr(types["dests"], "value_type", types["dests"])
    for name, found in types.items():
        is_right = _is_text if name == "event" else pa.types.is_integer
        if not is_right(found) and not (pa.types.is_null(found) and name not in _NEVER_NULL):
            takes = "text" if name == "event" else "integers"
            raise DamagedRun(f"column '{name}' of the trace holds {found}; it takes {takes}")
    for name in _NEVER_NULL:
        if table.column(name).null_count:
            raise DamagedRun(f"column '{name}' of the trace has empty places; every row needs it")


def _is_text(found: pa.DataType) -> bool:
    if pa.types.is_dictionary(found):
        found = found.value_type
    return bool(pa.types.is_string(found) or pa.types.is_large_string(found))
