"""What statistics call a hand-off's packets is what the algorithm's record says."""

from __future__ import annotations

import pytest

from testbed.core.model import Role
from tests.families import MOBILE


@pytest.mark.parametrize("name", MOBILE)
def test_an_algorithm_with_stations_names_the_packets_of_its_hand_off(name: str) -> None:
    algorithm = MOBILE[name]
    assert set(algorithm.handoff) <= set(algorithm.packets)
    assert set(algorithm.handoff) <= set(algorithm.bare), "a hand-off's packets carry no message"
    assert bool(algorithm.handoff) == (Role.STATION in algorithm.roles)
