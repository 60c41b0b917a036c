"""A round trip is measured from a lone question to its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.solicitations import round_trips
from tests.analysis.builders import step, written

ASKER, PEER = 0, 1


def asked(time: int) -> dict[str, Any]:
    return step(ASKER, time, "repair", PEER, packet="solicit")


def answered(time: int, number: int) -> dict[str, Any]:
    return step(ASKER, time, "receive", PEER, packet="reply", origin=PEER, number=number)


def test_only_a_question_that_stands_alone_counts(tmp_path: Path) -> None:
    rows = [asked(10), answered(40, 1), answered(45, 2), asked(100), asked(110), answered(150, 3)]
    assert round_trips(written(tmp_path / "asked", rows))[0] == [30]


def test_the_networks_own_round_trip_is_two_trips_of_messages(tmp_path: Path) -> None:
    rows = [
        step(PEER, 0, "send", origin=PEER, number=1, dests=[ASKER]),
        step(PEER, 5, "send", origin=PEER, number=2, dests=[ASKER]),
        step(ASKER, 20, "receive", PEER, packet="data", origin=PEER, number=1),
        step(ASKER, 35, "receive", PEER, packet="data", origin=PEER, number=2),
    ]
    assert round_trips(written(tmp_path / "own", rows))[1] == [20 + 30]
