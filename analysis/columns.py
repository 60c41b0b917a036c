"""Causal order, column by column: each sender's column of all vector stamps needs only itself.

A stamp counts, for each sender, how many of its messages lie in a message's causal past. The
column of one sender is the maximum over the same column of what was delivered, so blocks of
columns are worked out apart, in parallel, and each block judges the messages of its own senders:
a message comes too late where something delivered (or arrived) before it has its count.

Runs inside Spark's workers, one run and block at a time: knows pyarrow and numpy, nothing else.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

SEND, DELIVER, PASS, GIVEN_UP = 0, 2, 3, 4
BLOCK_WIDTH = 64
"""Senders per block: below this the walk costs more than its vectors."""
PROSE_MAX = 100

BLOCK_SCHEMA = (
    "run string, block int, inversions bigint, arrived_out_of_order bigint, "
    "findings array<struct<rank: bigint, node: int, origin: int, number: bigint, prose: string>>, "
    "outdated array<struct<node: int, origin: int, number: bigint>>"
)

Id = tuple[int, int]


def judge_block(events: pa.Table) -> pa.Table:
    """What is out of causal order among the messages of one block of senders."""
    events = events.sort_by("rank")
    run, block = events.column("run")[0].as_py(), events.column("block")[0].as_py()
    judge = _Block(events, block)
    judge.walk()
    return pa.table(
        {
            "run": [run],
            "block": pa.array([block], pa.int32()),
            "inversions": [judge.inversions],
            "arrived_out_of_order": [judge.arrived_out_of_order],
            "findings": pa.array([judge.findings], _FINDINGS),
            "outdated": pa.array([judge.outdated], _OUTDATED),
        }
    )


_FINDINGS = pa.list_(
    pa.struct(
        [
            ("rank", pa.int64()),
            ("node", pa.int32()),
            ("origin", pa.int32()),
            ("number", pa.int64()),
            ("prose", pa.string()),
        ]
    )
)


_OUTDATED = pa.list_(
    pa.struct([("node", pa.int32()), ("origin", pa.int32()), ("number", pa.int64())])
)


class _Block:
    def __init__(self, events: pa.Table, block: int) -> None:
        names = ("rank", "node", "kind", "origin", "number", "dests", "sent_before")
        self._columns = [events.column(name).to_pylist() for name in names]
        nodes, kinds = events.column("node").to_numpy(), events.column("kind").to_numpy()
        senders = np.unique(nodes[kinds == SEND])
        mine = senders[block * BLOCK_WIDTH : (block + 1) * BLOCK_WIDTH].tolist()
        self._column_of = {node: column for column, node in enumerate(mine)}
        present = np.unique(nodes).tolist()
        width = len(mine)
        self._delivered = {node: np.zeros(width, np.int32) for node in present}
        self._arrived = {node: np.zeros(width, np.int32) for node in present}
        self._passed: dict[tuple[int, int], np.ndarray] = {}  # by station and destination
        self._dests: list[list[int]] = []
        self._history: dict[int, list[int]] = {node: [] for node in present}
        self._stamps = np.zeros((int((kinds == SEND).sum()), width), np.int32)
        self._index: dict[Id, int] = {}  # message -> row of its stamp
        self._ids: list[Id] = []
        self._senders: list[int] = []
        self._positions: list[int] = []
        self._sent_by: dict[int, int] = {}
        self.inversions = 0
        self.arrived_out_of_order = 0
        self.findings: list[dict[str, object]] = []
        self.outdated: list[dict[str, int]] = []
        """Given up for a host, although the message depends on what it sent after its return."""

    def walk(self) -> None:
        stamps, index = self._stamps, self._index
        for rank, node, kind, origin, number, dests, before in zip(*self._columns, strict=True):
            if kind == SEND:
                self._send(node, (origin, number), dests)
                continue
            row = index[origin, number]
            if kind == PASS:
                self._pass(node, row)
                continue
            if kind == GIVEN_UP:
                self._doubt(node, row, before)
                continue
            seen = (self._delivered if kind == DELIVER else self._arrived)[node]
            column = self._column_of.get(self._senders[row])
            late = column is not None and self._positions[row] <= seen[column]
            if kind == DELIVER:
                if late:
                    self._invert(rank, node, row)
                self._history[node].append(row)
            elif late:
                self.arrived_out_of_order += 1
            np.maximum(seen, stamps[row], out=seen)

    def _pass(self, station: int, row: int) -> None:
        """A copy at a station is late if one for a common destination overtook it."""
        column = self._column_of.get(self._senders[row])
        late = False
        for to in set(self._dests[row]):
            seen = self._passed.get((station, to))
            if seen is None:
                self._passed[station, to] = self._stamps[row].copy()
                continue
            late |= column is not None and bool(self._positions[row] <= seen[column])
            np.maximum(seen, self._stamps[row], out=seen)
        self.arrived_out_of_order += late

    def _doubt(self, host: int, row: int, sent_before: int) -> None:
        column = self._column_of.get(host)
        if column is not None and self._stamps[row, column] > sent_before:
            origin, number = self._ids[row]
            self.outdated.append({"node": host, "origin": origin, "number": number})

    def _send(self, node: int, message: Id, dests: list[int] | None) -> None:
        row = len(self._ids)
        position = self._sent_by.get(node, 0) + 1
        self._sent_by[node] = position
        self._stamps[row] = self._delivered[node]
        column = self._column_of.get(node)
        if column is not None:
            self._stamps[row, column] = position
        self._index[message] = row
        self._ids.append(message)
        self._dests.append(dests or [])
        self._senders.append(node)
        self._positions.append(position)

    # --- in prose -----------------------------------------------------------------------------

    def _invert(self, rank: int, node: int, late: int) -> None:
        self.inversions += 1
        if len(self.findings) < PROSE_MAX:
            early = self._first_after(late, node)
            path = " -> ".join(self._path(late, early))
            prose = f"{self._name(early)} was delivered at p{node} before {self._name(late)}"
            origin, number = self._ids[late]
            self.findings.append(
                {"rank": rank, "node": node, "origin": origin, "number": number,
                 "prose": f"{prose}, but {path}"}
            )  # fmt: skip

    def _first_after(self, message: int, node: int) -> int:
        """The first that `node` delivered of all that have `message` in their past."""
        column = self._column_of[self._senders[message]]
        history = self._history[node]
        follows = self._stamps[history, column] >= self._positions[message]
        return history[int(np.argmax(follows))]

    def _path(self, first: int, last: int) -> list[str]:
        """How word of `first` came to the sender of `last`: from its end to its beginning."""
        path = [f"send {self._name(last)}"]
        while self._senders[last] != self._senders[first]:
            relay = self._senders[last]
            last = self._first_after(first, relay)
            path.append(f"deliver {self._name(last)} at p{relay}")
            if last == first:
                break
            path.append(f"send {self._name(last)}")
        path.append(f"send {self._name(first)}")
        return path[::-1]

    def _name(self, message: int) -> str:
        origin, number = self._ids[message]
        return f"m{origin}.{number}"
