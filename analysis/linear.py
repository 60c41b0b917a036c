"""A run's events in one order that respects causality, found from each node's own order.

Runs inside Spark's workers, one run at a time: knows pyarrow and numpy, nothing else.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

SEND = 0

ORDERED_SCHEMA = (
    "run string, node int, seq bigint, kind int, origin int, number bigint, dests array<int>, "
    "peer int, time bigint, rank bigint, known boolean"
)


def linearise(skeleton: pa.Table) -> pa.Table:
    """The events of one run with `rank`, their place in the order, and `known`: sent before it."""
    skeleton = skeleton.sort_by([("node", "ascending"), ("seq", "ascending")])
    kinds = skeleton.column("kind").to_numpy()
    messages = _message_numbers(skeleton)
    rank, known = _walk(_spans(skeleton.column("node").to_numpy()), kinds.tolist(), messages)
    return skeleton.append_column("rank", pa.array(rank, pa.int64())).append_column(
        "known", pa.array(known, pa.bool_())
    )


def _message_numbers(skeleton: pa.Table) -> list[int]:
    """One small integer per message instead of (origin, number)."""
    ids = np.column_stack(
        [
            skeleton.column("origin").to_numpy().astype(np.int64),
            skeleton.column("number").to_numpy().astype(np.int64),
        ]
    )
    _, inverse = np.unique(ids, axis=0, return_inverse=True)
    numbers: list[int] = inverse.ravel().tolist()
    return numbers


def _spans(nodes: np.ndarray) -> list[tuple[int, int]]:
    """Where each node's events begin and end in a table sorted by node."""
    starts = [0, *(np.flatnonzero(np.diff(nodes)) + 1).tolist()]
    ends = [*starts[1:], len(nodes)]
    return list(zip(starts, ends, strict=True)) if len(nodes) else []


def _walk(
    spans: list[tuple[int, int]], kinds: list[int], messages: list[int]
) -> tuple[list[int], list[bool]]:
    """Take each node as far as it goes; it stops before what is sent somewhere, but not yet.

    When all have stopped they wait in a circle: something was there before it was sent. The
    smallest such message is let pass as not known, and the walk goes on.
    """
    rank, known = [0] * len(kinds), [False] * len(kinds)
    place = 0
    upcoming = [start for start, _ in spans]
    ready = list(range(len(spans)))[::-1]
    stopped: dict[int, list[int]] = {}
    sent: set[int] = set()
    awaited = {message for kind, message in zip(kinds, messages, strict=True) if kind == SEND}
    while ready or stopped:
        if not ready:
            passed = min(stopped)
            awaited.discard(passed)
            ready = stopped.pop(passed)
        node = ready.pop()
        event, end = upcoming[node], spans[node][1]
        while event < end:
            message = messages[event]
            if kinds[event] == SEND:
                sent.add(message)
                awaited.discard(message)
                ready += stopped.pop(message, ())
            elif message in awaited:
                stopped.setdefault(message, []).append(node)
                break
            rank[event], known[event] = place, message in sent
            place += 1
            event += 1
        upcoming[node] = event
    return rank, known
