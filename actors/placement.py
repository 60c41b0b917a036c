"""Which actor hosts which node: consecutive nodes, equally many per actor."""

from __future__ import annotations

import math

from testbed.core.errors import BadInput

ACTOR_BYTES = 160 * 1024 * 1024
"""What one actor's process may need; measured between 90 and 130 MB."""
ACTORS_PER_CORE_AUTO = 20
"""More processes than this per core spend their time in taking turns."""


def homes(n: int, nodes_per_actor: int) -> tuple[int, ...]:
    """The actor of each node, actors numbered from 0 without gaps."""
    if nodes_per_actor < 1:
        raise BadInput(f"placement.nodes_per_actor is {nodes_per_actor}; it takes 1 or more")
    return tuple(node // nodes_per_actor for node in range(n))


def nodes_per_actor_auto(n: int, cores: float, memory_bytes: float) -> int:
    """One node per actor as long as half of the memory and twenty actors per core allow it."""
    by_memory = int(memory_bytes / 2 / ACTOR_BYTES)
    actors = max(1, min(n, by_memory, int(cores * ACTORS_PER_CORE_AUTO)))
    return math.ceil(n / actors)
