"""A plan's faults as what happens to single nodes: blows, in order, the same in both engines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from testbed.core.fault import ends
from testbed.core.model import Nanos, NodeId
from testbed.engine.plan import Plan
from testbed.engine.shell import Shell


class Blow(NamedTuple):
    """One node crashes, or its reliable link learns that a peer has."""

    time: Nanos
    node: NodeId
    lost_peer: NodeId | None = None


def blows(plan: Plan) -> Iterator[Blow]:
    """Crashes by time, then what the reliable links of the living learn of them.

    A link learns it after its own patience, as a connection is reset when its other end is gone;
    the algorithm above is not told.
    """
    down = ends(plan.faults)
    for node, time in sorted(down.items(), key=lambda item: (item[1], item[0])):
        yield Blow(time, node)
    if plan.retry_after is None:
        return
    for peer, time in sorted(down.items(), key=lambda item: (item[1], item[0])):
        for node in range(plan.n):
            if node != peer:
                yield Blow(time + plan.retry_after, node, peer)


def strike(shell: Shell, blow: Blow, now: Nanos) -> None:
    """Tell the shell of the node; the engine forgets its timers itself."""
    if shell.is_down:
        return
    if blow.lost_peer is None:
        shell.crash(now)
    else:
        shell.abandon(blow.lost_peer)
