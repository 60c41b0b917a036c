"""Fault schedules: from shares and names to a timeline of facts, drawn by the seed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from testbed.core.draw import stream
from testbed.core.fault import Crash, Fault
from testbed.core.model import Nanos, NodeId
from workloads.destinations import pick


class Failure(NamedTuple):
    """What an experiment says of one crash: these nodes, or a share of all."""

    time: Nanos
    nodes: tuple[NodeId, ...] | None = None
    fraction: float | None = None
    kills: bool = False
    """It takes whole actors."""


class NotEnough(ValueError):
    """More is to crash than is there."""


def timeline(
    failures: Sequence[Failure], n: int, seed: int, per_actor: int = 1
) -> tuple[Fault, ...]:
    """Each failure with its nodes, by time; a share is drawn among those that still run."""
    alive = set(range(n))
    faults = []
    for number, failure in sorted(enumerate(failures), key=lambda one: (one[1].time, one[0])):
        size = per_actor if failure.kills else 1
        if failure.nodes is not None:
            groups = sorted({node // size for node in failure.nodes})
        else:
            groups = _drawn(failure, alive, n, size, seed, number)
        of_group = (range(group * size, min((group + 1) * size, n)) for group in groups)
        nodes = tuple(node for node in chain.from_iterable(of_group) if node in alive)
        if not nodes:
            raise NotEnough(f"nodes {failure.nodes} have crashed before; a node crashes once")
        alive.difference_update(nodes)
        faults.append(Crash(failure.time, nodes, failure.kills))
    return tuple(faults)


def _drawn(
    failure: Failure, alive: set[NodeId], n: int, size: int, seed: int, number: int
) -> list[int]:
    """So many of the nodes, or actors, that still run."""
    assert failure.fraction is not None
    running = sorted({node // size for node in alive})
    wanted = max(1, round(failure.fraction * -(-n // size)))
    what = "nodes" if size == 1 else f"actors of {size} nodes"
    if wanted > len(running):
        raise NotEnough(
            f"{wanted} {what} are to crash, but only {len(running)} still run: "
            "it takes fractions that add up to at most 1"
        )
    return list(pick(running, wanted, stream(seed, b"fault", number)))
