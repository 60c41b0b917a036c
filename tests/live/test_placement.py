"""Which actor hosts which node."""

from __future__ import annotations

import pytest

from actors.placement import ACTOR_BYTES, homes, nodes_per_actor_auto
from testbed.core.errors import BadInput


def test_by_default_every_node_has_an_actor_of_its_own():
    assert homes(4, 1) == (0, 1, 2, 3)


def test_packed_nodes_fill_actors_in_order_and_the_last_may_have_fewer():
    assert homes(7, 3) == (0, 0, 0, 1, 1, 1, 2)


def test_an_actor_without_nodes_is_refused():
    with pytest.raises(BadInput, match="nodes_per_actor is -1; it takes 1 or more"):
        homes(4, -1)


def test_automatic_placement_gives_each_node_an_actor_where_memory_and_cores_allow():
    assert nodes_per_actor_auto(8, cores=2, memory_bytes=100 * ACTOR_BYTES) == 1


def test_automatic_placement_packs_where_memory_is_short():
    assert nodes_per_actor_auto(40, cores=64, memory_bytes=20 * ACTOR_BYTES) == 4


def test_automatic_placement_packs_where_cores_are_few():
    assert nodes_per_actor_auto(1000, cores=2, memory_bytes=1e15) == 25


def test_automatic_placement_works_where_nothing_is_known_of_the_machine():
    assert nodes_per_actor_auto(10, cores=1, memory_bytes=0) == 10
