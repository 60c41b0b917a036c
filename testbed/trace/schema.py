"""The trace schema, defined once: every column, every event, every reason.

Arrow schema, the recorder's packed row, the data dictionary in docs/ and the test builders derive
from this file. Columns may be added, never changed; the version is in each file's metadata.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np
import pyarrow as pa

SCHEMA_VERSION = "1"


class Event(enum.IntEnum):
    """What happened; the lower-case name is what the trace says."""

    SEND = 0
    RECEIVE = 1
    DELIVER = 2
    DISCARD = 3
    DROP = 4
    DUPLICATE = 5
    RETRANSMIT = 6
    ACKNOWLEDGE = 7
    MALFORMED = 8
    FORWARD = 9
    ENTER = 10
    LEAVE = 11
    DISCONNECT = 12
    CONNECT = 13
    HANDOFF_BEGIN = 14
    HANDOFF_END = 15
    CRASH = 16
    SUSPECT = 17
    TRUST = 18
    REPAIR = 19

    @property
    def text(self) -> str:
        return self.name.lower()


EVENT_MEANING = {
    Event.SEND: "the application sent a message; one row per message",
    Event.RECEIVE: "a copy arrived, before any ordering",
    Event.DELIVER: "the application got a message; one row per message and destination",
    Event.DISCARD: "the algorithm gave a message up; `reason` says why",
    Event.DROP: "the network lost a copy; written by its sender, or by the receiver that could not "
    "take it (`no_room`, `crashed`)",
    Event.DUPLICATE: "the network made a second copy; written by its sender",
    Event.RETRANSMIT: "a copy was sent again, by the reliable link or by the algorithm",
    Event.ACKNOWLEDGE: "the reliable link acknowledged a copy; bytes with the copy's header",
    Event.MALFORMED: "bytes arrived that are no packet; refused",
    Event.FORWARD: "a station sent a copy of somebody's message on, to `peer`",
    Event.ENTER: "a host heard the beacon of `peer`: it is in that cell from now on",
    Event.LEAVE: "a host left the cell of `peer`, without a word",
    Event.DISCONNECT: "a host that had told its station `peer` went off the air",
    Event.CONNECT: "a host that had disconnected is in the cell of `peer` from now on",
    Event.HANDOFF_BEGIN: "a station began to take over the host `peer`",
    Event.HANDOFF_END: "a station has taken over the host `peer`; the hand-off is over",
    Event.CRASH: "the node stopped for good; nothing of its own follows",
    Event.SUSPECT: "the failure detector of this node believes that `peer` has crashed",
    Event.REPAIR: "a member sent `peer` a packet without a message, to make up for a loss",
    Event.TRUST: "the failure detector of this node heard of the suspected `peer` again",
}

ROLES = ("process", "mss", "mh")

REASONS = (
    "loss", "malformed", "oversized", "left_cell", "duplicate", "disconnected",
    "expired", "overtaken", "no_room", "unasked", "crashed",
    "killed",
)  # fmt: skip
"""What `reason` may say; new reasons are added at the end."""

ABSENT = -1
"""The packed row's sign for null."""


class Column(NamedTuple):
    """One column: its name, its types, and what it means."""

    name: str
    arrow: pa.DataType
    packed: str
    """numpy type in the recorder's row, '' where the column is not packed."""
    nullable: bool
    meaning: str


COLUMNS = (
    Column("run", pa.string(), "", False, "run id"),
    Column("node", pa.int32(), "i4", False, "logical node id, unique over all roles"),
    Column("role", pa.string(), "i1", False, "`process`, `mss` or `mh`"),
    Column("seq", pa.int64(), "i8", False, "position in this node's own order, from 0, no gaps"),
    Column("time", pa.int64(), "i8", False, "emulated nanoseconds since the start"),
    Column("event", pa.string(), "i1", False, "what happened, see the events below"),
    Column("origin", pa.int32(), "i4", True, "who sent the application message"),
    Column("number", pa.int64(), "i8", True, "its how-manieth message it was, from 1"),
    Column("dests", pa.list_(pa.int32()), "", True, "on `send`: destination nodes"),
    Column("peer", pa.int32(), "i4", True, "other end of the copy"),
    Column(
        "control_ints", pa.int32(), "i4", True,
        "integers of control information, by the rule on the algorithm's page: of this copy, "
        "on `send` of all copies together",
    ),
    Column(
        "control_bytes", pa.int32(), "i4", True,
        "bytes of the frame less the payload: of this copy, on `send` of all copies together",
    ),
    Column(
        "control_units", pa.int32(), "i4", True,
        "independent units by the paper: KS 6.2 units, PRS 7.1 tuples, RST n*n, BSS n",
    ),
    Column(
        "control_entries", pa.int32(), "i4", True,
        "records that hold the units: KS log entries, PRS barrier rows",
    ),
    Column("control_empty", pa.int32(), "i4", True, "of these, records without a unit (KS)"),
    Column("copies", pa.int32(), "i4", True, "on `send`: number of copies"),
    Column("payload_bytes", pa.int32(), "i4", True, "size of the payload"),
    Column(
        "state_ints", pa.int64(), "i8", False,
        "integers of ordering state the algorithm keeps after the event",
    ),
    Column("pending", pa.int32(), "i4", False, "messages held after the event"),
    Column("deadline", pa.int64(), "i8", True, "value of any node's own clock, where one is set"),
    Column(
        "cpu_ns", pa.int64(), "i8", False,
        "processor time the algorithm spent on this event (0 in `sim`)",
    ),
    Column("reason", pa.string(), "i1", True, "why, on `discard`, `drop`, `malformed` and `crash`"),
    Column(
        "packet", pa.string(), "i1", True,
        "kind of packet, by the algorithm's own name, on `receive`, `drop`, `forward` and so on",
    ),
    Column("clock", pa.int64(), "i8", False, "what the node's own clock showed, emulated ns"),
    Column(
        "buffer_bytes", pa.int64(), "i8", True,
        "payload bytes the node keeps after the event, where its algorithm keeps messages",
    ),
)  # fmt: skip

PACKED = tuple(column for column in COLUMNS if column.packed)
ROW = np.dtype([(column.name, f"<{column.packed}") for column in PACKED])
"""One packed row, little-endian, without padding."""

SCHEMA = pa.schema(
    [pa.field(column.name, column.arrow, nullable=column.nullable) for column in COLUMNS],
    metadata={"causalbed.schema": SCHEMA_VERSION},
)

AUDIT_COLUMNS = ("node", "seq", "event", "origin", "number", "dests")
"""All that the audit needs: a trace of any other system with these can be audited."""

_STRUCT_CODES = {"i1": "b", "i4": "i", "i8": "q"}
ROW_FORMAT = "<" + "".join(_STRUCT_CODES[column.packed] for column in PACKED)
_TEXTS = {"role": ROLES, "event": tuple(event.text for event in Event), "reason": REASONS}


def to_batch(
    run: str, rows: np.ndarray, dests: dict[int, tuple[int, ...]], packets: tuple[str, ...]
) -> pa.RecordBatch:
    """Packed rows as an Arrow batch; `dests` maps a row's index to its destinations."""
    texts = _TEXTS | {"packet": packets}
    arrays = []
    for column in COLUMNS:
        if column.name == "run":
            array = pa.array([run]).take(pa.array(np.zeros(len(rows), dtype=np.int32)))
        elif column.name == "dests":
            array = _lists(dests, len(rows))
        else:
            array = _unpack(column, rows[column.name], texts)
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _unpack(column: Column, values: np.ndarray, texts: dict[str, tuple[str, ...]]) -> pa.Array:
    values = np.ascontiguousarray(values)
    mask = values == ABSENT if column.nullable else None
    if column.name in texts:
        codes = pa.array(values, mask=mask)
        words = pa.array(texts[column.name], type=pa.string())
        return pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())
    return pa.array(values, type=column.arrow, mask=mask)


def _lists(dests: dict[int, tuple[int, ...]], rows: int) -> pa.Array:
    """One list per row, null where there is none; few rows have one."""
    lengths = np.zeros(rows + 1, dtype=np.int32)
    absent = np.ones(rows, dtype=bool)
    for row, nodes in dests.items():
        lengths[row + 1] = len(nodes)
        absent[row] = False
    values = [node for row in sorted(dests) for node in dests[row]]
    offsets = pa.array(np.cumsum(lengths, dtype=np.int32))
    mask = pa.array(absent)
    return pa.ListArray.from_arrays(offsets, pa.array(values, type=pa.int32()), mask=mask)
