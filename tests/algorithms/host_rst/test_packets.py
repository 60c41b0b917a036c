"""Frames that no host and no station can have sent are refused, whatever the relay carries."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from testbed.algorithms import find
from testbed.core.errors import MalformedFrame
from testbed.core.wire import Codec
from tests.roaming import wandering
from tests.runs import run

STATIONS, NODES = 2, 5
MESSAGE = [2, 1, b"", None]
CONTROL: dict[str, Any] = {
    "host-rst": [0, [0] * 9],
    "host-prs-relayed": [0, 1, 2, [[1, 0, 1]]],
}
FOREIGN: dict[str, Any] = {
    "host-rst": [0, [0] * 25],
    "host-prs-relayed": [0, 1, 2, [[4, 0, 1]]],
}
"""Of a system in which all nodes, not the hosts alone, are processes."""


def packets(control: Any) -> dict[str, tuple[Any, Any]]:
    """One of each that carries control information: message, packet."""
    return {
        "up": (MESSAGE, [1, 1, [3, 4], control]),
        "down": (MESSAGE, [3, 1, False, control]),
        "data": (MESSAGE, [11, [3, 4], control]),
        "handoff over": (None, [12, 2, 0, 1, [[MESSAGE, [3, 1, False, control]]]]),
    }


def refused(name: str, message: Any, packet: Any) -> bool:
    codec = Codec(find(name), NODES, stations=STATIONS)
    try:
        codec.decode(msgspec.msgpack.encode([1, message, packet, None]))
    except MalformedFrame:
        return True
    return False


@pytest.mark.parametrize("kind", packets(None))
@pytest.mark.parametrize("name", CONTROL)
def test_control_information_of_another_system_is_refused_in_every_packet(
    name: str, kind: str
) -> None:
    assert not refused(name, *packets(CONTROL[name])[kind])
    assert refused(name, *packets(FOREIGN[name])[kind])
    assert refused(name, *packets(None)[kind])


IMPOSSIBLE = {
    "up to a station": (MESSAGE, [1, 1, [1], None]),
    "up to nobody": (MESSAGE, [1, 1, [], None]),
    "data for a station": (MESSAGE, [11, [1, 3], None]),
    "data for nobody": (MESSAGE, [11, [], None]),
    "data beyond the system": (MESSAGE, [11, [5], None]),
    "a message of a station": ([1, 1, b"", None], [3, 1, False, None]),
    "down without a message": (None, [3, 1, False, None]),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
@pytest.mark.parametrize("name", CONTROL)
def test_a_packet_that_names_impossible_nodes_is_refused(name: str, case: str) -> None:
    message, packet = IMPOSSIBLE[case]
    assert refused(name, message, [*packet[:-1], CONTROL[name]])


@pytest.mark.parametrize(
    "packet",
    [
        [12, 1, 0, 0, []],
        [12, 5, 0, 0, []],
        [10, 1, 0, 0, 0],
        [10, 2, 0, 0, 2],
        [13, 2, 3, 0],
        [13, 0, 0, 0],
        [0, 1, 2, 0],
    ],
)
@pytest.mark.parametrize("name", CONTROL)
def test_a_hand_off_of_no_host_or_to_no_station_is_refused(name: str, packet: Any) -> None:
    assert refused(name, None, packet)


@pytest.mark.parametrize("name", CONTROL)
def test_no_frame_of_a_real_run_is_refused(name: str) -> None:
    for seed in range(10):
        outcome = run(wandering(name, seed))
        assert outcome.totals.malformed == 0
        assert outcome.totals.copies > 100
