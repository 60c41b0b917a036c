"""The run's clock: emulated time tied to the machine's monotonic clock by a speed.

All actors agree on a start before it comes. On one machine the monotonic clock is shared and the
agreement is exact; between machines the offset is estimated by round trips, and the error that
remains is kept and reported. Knows nothing of nodes or messages.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from testbed.core.model import Nanos

ROUND_TRIPS = 9
"""The shortest of these is the best estimate: it waited least."""


class RunClock:
    """Emulated nanoseconds since the agreed start; negative before it, never backwards."""

    __slots__ = ("_speed", "_start")

    def __init__(self, start: int, speed: float) -> None:
        """`start` is a reading of this machine's monotonic clock."""
        self._start = start
        self._speed = speed

    def now(self) -> Nanos:
        return int((time.monotonic_ns() - self._start) * self._speed)

    def seconds_until(self, at: Nanos) -> float:
        """Wall seconds from now until this emulated time; negative if it has passed."""
        return (at - self.now()) / self._speed * 1e-9


class Offset(msgspec.Struct, frozen=True):
    """Another machine's monotonic clock minus ours, and how wrong that may be, in wall ns."""

    value: int = 0
    error: int = 0


def measure_offset(read_other: Callable[[], int], trips: int = ROUND_TRIPS) -> Offset:
    """Ask the other clock several times; the error is half of the shortest round trip."""
    best: Offset | None = None
    for _ in range(trips):
        before = time.monotonic_ns()
        other = read_other()
        after = time.monotonic_ns()
        error = (after - before + 1) // 2
        if best is None or error < best.error:
            best = Offset(other - (before + after) // 2, error)
    assert best is not None
    return best


def clock_identity() -> str:
    """Equal for two processes exactly when they read the same monotonic clock."""
    return f"{_machine()}:{_namespace('time')}"


def loopback_identity() -> str:
    """Equal for two processes exactly when they reach each other on the loopback address."""
    return f"{_machine()}:{_namespace('net')}"


def _machine() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return socket.gethostname()  # no Linux: one machine, one clock, one loopback


def _namespace(kind: str) -> int:
    try:
        return os.stat(f"/proc/self/ns/{kind}").st_ino
    except OSError:
        return 0
