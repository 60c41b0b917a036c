"""Transport `ray`: one plain actor call per message, for comparison and for closed networks."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

BATCHES_PER_TAKE = 256


class CallCarrier:
    """Sends by calling `take_envelope` of the peers; the actor puts what it is called with here."""

    def __init__(self) -> None:
        self._inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._next: list[bytes] = []
        self._peers: dict[int, Any] = {}

    def connect(self, peers: dict[int, Any]) -> None:
        """Ray handles of the peers, by actor."""
        self._peers = peers

    def put(self, batch: bytes) -> None:
        """A peer called."""
        self._inbox.put(batch)

    def send(self, actor: int, envelopes: list[bytes]) -> None:
        take = self._peers[actor].take_envelope
        for envelope in envelopes:
            take.remote(envelope)

    def take(self) -> Iterator[bytes]:
        yield from self._next
        self._next = []
        try:
            for _ in range(BATCHES_PER_TAKE):
                yield self._inbox.get_nowait()
        except queue.Empty:
            return

    def wait(self, seconds: float) -> None:
        try:
            self._next.append(self._inbox.get(timeout=max(seconds, 0.0)))
        except queue.Empty:
            return

    def close(self) -> None:
        self._peers = {}
