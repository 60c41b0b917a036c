"""All that differs between virtual time and live: how a shell reaches the world."""

from __future__ import annotations

from typing import Protocol

from testbed.core.model import Nanos, NodeId
from testbed.core.network import Arrivals
from testbed.core.node import Timer


class Port(Protocol):
    """What an engine offers to the shells of its nodes."""

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        """Put a frame on its link; the answer is its fate."""

    def arm(self, node: NodeId, timer: Timer, at: Nanos) -> None:
        """Call the shell's `fire` at this engine time; arming again moves the timer."""

    def disarm(self, node: NodeId, timer: Timer) -> None:
        """Forget a timer, if it is set."""

    def cpu_ns(self) -> int:
        """Processor time of this thread; constant where it must not show in the trace."""
