"""What a failure detector is set to; plan data. What it does is in testbed/engine/detector.py."""

from __future__ import annotations

import msgspec

from testbed.core.model import Nanos


class TimeoutDetection(msgspec.Struct, frozen=True, kw_only=True, tag="timeout"):
    """Who was silent for longer than a fixed time is suspected."""

    interval: Nanos
    """Between two heartbeats of one node to each other."""
    timeout: Nanos
    linger: Nanos = 0
    """Heartbeats go on for so long after the last send of the run."""


class PhiDetection(msgspec.Struct, frozen=True, kw_only=True, tag="phi"):
    """Phi accrual (Hayashibara et al. 2004): who is silent for unlikely long is suspected."""

    interval: Nanos
    threshold: float
    """Suspected when a silence so long has a probability below 10 to the minus this."""
    linger: Nanos = 0


Detection = TimeoutDetection | PhiDetection
