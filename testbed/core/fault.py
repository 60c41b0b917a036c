"""Faults as facts: what goes wrong, where and when, with nothing left to draw.

A plan holds a timeline of them; further kinds join the union `Fault`. This file knows no engine.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from testbed.core.model import Nanos, NodeId


class Crash(msgspec.Struct, frozen=True, tag="crash"):
    """These nodes stop for good at this time and lose their memory."""

    time: Nanos
    nodes: tuple[NodeId, ...]
    kills: bool = False
    """The live engine kills the actors of these nodes without warning, with all that live there."""


Fault = Crash


def ends(faults: Iterable[Fault]) -> dict[NodeId, Nanos]:
    """When each node that crashes does so first."""
    first: dict[NodeId, Nanos] = {}
    for fault in faults:
        for node in fault.nodes:
            first[node] = min(fault.time, first.get(node, fault.time))
    return first
