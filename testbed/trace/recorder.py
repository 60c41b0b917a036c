"""Rows from the nodes to disk, in the background, safe against a kill.

A node packs its row into a buffer (half a microsecond); a thread turns full buffers into Arrow
batches and appends them to a spool, an Arrow IPC stream, which can be read up to its last whole
batch whatever happens to the writer. `publish` turns spools into the Parquet files of the run.
"""

from __future__ import annotations

import queue
import struct
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from testbed.trace.schema import ROW, ROW_FORMAT, SCHEMA, Event, to_batch

ROWS_PER_BATCH = 16_384
FLUSH_SECONDS = 0.5
"""A live recorder flushes this often, so that a kill costs at most this much trace."""


class Sink(Protocol):
    """Where shells put their rows: fields in the order of schema.PACKED."""

    def row(self, *fields: int) -> None:
        """One row; -1 stands for null."""

    def destinations(self, dests: tuple[int, ...]) -> None:
        """The destination set of the row that comes next."""


class Witness(ABC):
    """Who sees the application's events alone, in the order of the engine: an audit."""

    @abstractmethod
    def send(self, node: int, message: tuple[int, int], dests: tuple[int, ...]) -> None: ...
    @abstractmethod
    def receive(self, node: int, message: tuple[int, int], time: int) -> None: ...
    @abstractmethod
    def deliver(
        self, node: int, message: tuple[int, int], time: int, clock: int | None = None
    ) -> None:
        """`clock` is what the node's own clock shows; None: it is not known."""

    @abstractmethod
    def forward(self, node: int, message: tuple[int, int], to: int, time: int) -> None: ...
    @abstractmethod
    def waive(self, node: int, message: tuple[int, int]) -> None: ...
    @abstractmethod
    def moved(self, node: int, event: Event, peer: int, time: int) -> None: ...
    @abstractmethod
    def expire(self, message: tuple[int, int], deadline: int) -> None:
        """A message that was just sent has this deadline."""

    @abstractmethod
    def give_up(self, node: int, message: tuple[int, int]) -> None:
        """A copy for this node is known to be lost, refused or discarded."""

    @abstractmethod
    def crash(self, node: int) -> None: ...


class Recorder:
    """One spool file, fed by the nodes of one engine or actor."""

    def __init__(self, run: str, spool: Path, packets: tuple[str, ...]) -> None:
        """`packets` are the names behind the numbers in column `packet`."""
        self._run = run
        self._packets = packets
        self._pack_into = struct.Struct(ROW_FORMAT).pack_into
        self._full: queue.SimpleQueue[tuple[bytearray, int, dict[int, tuple[int, ...]]] | None]
        self._full = queue.SimpleQueue()
        self._new_buffer()
        self._handed_over = 0
        self._last_flush = time.monotonic()
        self._failure: BaseException | None = None
        self._stream = spool.open("wb")
        self._writer = pa.ipc.new_stream(self._stream, SCHEMA)
        self._thread = threading.Thread(target=self._write_batches, name="recorder", daemon=True)
        self._thread.start()

    @property
    def rows(self) -> int:
        """Rows recorded so far, written or not."""
        return self._handed_over + self._count

    def row(self, *fields: int) -> None:
        self._pack_into(self._buffer, self._offset, *fields)
        self._offset += ROW.itemsize
        self._count += 1
        if self._count == ROWS_PER_BATCH:
            self._hand_over()

    def destinations(self, dests: tuple[int, ...]) -> None:
        self._dests[self._count] = dests

    def flush_if_due(self) -> None:
        """Hand over what there is, if the last time is long enough ago; live engines call this."""
        if time.monotonic() - self._last_flush > FLUSH_SECONDS and self._count:
            self._hand_over()

    def close(self) -> None:
        """Write everything; raises what went wrong in the background."""
        if self._count:
            self._hand_over()
        self._full.put(None)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _new_buffer(self) -> None:
        self._buffer = bytearray(ROW.itemsize * ROWS_PER_BATCH)
        self._offset = 0
        self._count = 0
        self._dests: dict[int, tuple[int, ...]] = {}

    def _hand_over(self) -> None:
        self._dests.pop(self._count, None)  # an interrupt came between destinations and their row
        self._full.put((self._buffer, self._count, self._dests))
        self._handed_over += self._count
        self._last_flush = time.monotonic()
        self._new_buffer()

    def _write_batches(self) -> None:
        try:
            while (item := self._full.get()) is not None:
                buffer, count, dests = item
                rows = np.frombuffer(buffer, dtype=ROW, count=count)
                self._writer.write_batch(to_batch(self._run, rows, dests, self._packets))
                self._stream.flush()
            self._writer.close()
        except BaseException as error:  # noqa: BLE001 - handed to close(), which raises it
            self._failure = error
        finally:
            self._stream.close()
