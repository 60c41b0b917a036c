"""A schedule is data: saved, loaded and replayed it is the same run; other files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from testbed.algorithms import find
from testbed.core.errors import BadInput
from testbed.hunt.generate import Shape, make_schedule
from testbed.hunt.hunter import hunt, replay
from testbed.hunt.schedule import Schedule, ScriptedWires, Send
from tests.families import STATIC
from tests.hunt.broken import NEEDS_FIFO

SHAPE = Shape()


def schedules_of(name: str, count: int) -> list[Schedule]:
    return [make_schedule(name, find(name), 5, number, SHAPE) for number in range(count)]


def a_schedule(**changes: Any) -> dict[str, Any]:
    """A small valid schedule as its file says it, with changes."""
    return {
        "format": "causalbed-schedule-1",
        "algorithm": "immediate",
        "n": 3,
        "seed": 1,
        "number": 0,
        "kind": "by hand",
        "fifo": False,
        "sends": [
            {"time": 0, "node": 0, "dests": [1, 2], "delays": [10, 100]},
            {"time": 20, "node": 1, "dests": [2], "delays": [10]},
        ],
    } | changes


def saved(folder: Path, content: Any) -> Path:
    file = folder / "schedule.json"
    file.write_text(json.dumps(content))
    return file


def test_a_saved_find_replays_to_the_identical_audit(tmp_path: Path) -> None:
    found = hunt("fifo", schedules=200, seconds=None, seed=1, cores=1).finds[0]
    found.schedule.save(tmp_path / "find.json")
    loaded = Schedule.load(tmp_path / "find.json")
    assert loaded == found.schedule
    assert replay(loaded) == found.audit


def test_a_schedule_by_hand_decides_the_run(tmp_path: Path) -> None:
    audit = replay(Schedule.load(saved(tmp_path, a_schedule())))
    assert audit.inversions == 1
    assert audit.why == (
        "m1.1 was delivered at p2 before m0.1, but send m0.1 -> deliver m0.1 at p1 -> send m1.1"
    )


def test_the_same_schedule_can_be_replayed_with_another_algorithm(tmp_path: Path) -> None:
    audit = replay(Schedule.load(saved(tmp_path, a_schedule(algorithm="rst"))))
    assert audit.inversions == 0
    assert audit.evidence.held == 1
    assert audit.evidence.held_ns_total == 70


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (["no", "object"], "is no schedule of `causalbed check`"),
        ({"some": "json"}, "is no schedule of `causalbed check`"),
        (a_schedule(format="causalbed-schedule-99"), "is no schedule of `causalbed check`"),
        (a_schedule(extra=1), "is no schedule of `causalbed check`"),
        (a_schedule(n="three"), r"Expected `int`, got `str` - at `\$.n`"),
        (a_schedule(n=1), "n is 1, it takes 2 to"),
        (a_schedule(n=2), r"sends\[0\] names a node that is not in 0 to 1"),
        (a_schedule(spare=-1), "`spare` is negative"),
        (a_schedule(sends=[{"time": 5, "node": 0, "dests": [1], "delays": []}]), "one delay"),
        (a_schedule(sends=[{"time": 5, "node": 0, "dests": [1], "delays": [-1]}]), "one delay"),
        (a_schedule(sends=[{"time": 5, "node": 0, "dests": [], "delays": []}]), "are empty"),
        (a_schedule(sends=[{"time": 5, "node": 0, "dests": [2, 1], "delays": [1, 1]}]), "order"),
        (a_schedule(sends=[{"time": -1, "node": 0, "dests": [1], "delays": [1]}]), "negative"),
    ],
)
def test_a_file_that_is_no_schedule_is_refused(tmp_path: Path, content: Any, text: str) -> None:
    with pytest.raises(BadInput, match=text):
        Schedule.load(saved(tmp_path, content))


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"PAR1"])
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(BadInput, match="is no schedule"):
        Schedule.load(tmp_path / "file")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        Schedule.load(tmp_path / "nowhere.json")


def test_a_destination_set_that_the_algorithm_excludes_is_the_users_mistake(
    tmp_path: Path,
) -> None:
    with pytest.raises(BadInput, match="bss only broadcasts"):
        replay(Schedule.load(saved(tmp_path, a_schedule(algorithm="bss"))))


@pytest.mark.parametrize("name", list(STATIC))
def test_every_schedule_made_up_could_have_been_loaded(name: str, tmp_path: Path) -> None:
    for schedule in schedules_of(name, 60):
        schedule.save(tmp_path / "schedule.json")
        assert Schedule.load(tmp_path / "schedule.json") == schedule


@pytest.mark.parametrize("name", list(STATIC))
def test_no_schedule_asks_for_what_the_algorithm_refuses(name: str) -> None:
    algorithm = find(name)
    for schedule in schedules_of(name, 200):
        for send in schedule.sends:
            assert algorithm.refusal(send.node, send.dests, schedule.n) is None


def test_schedules_have_all_kinds_sizes_and_destination_sets() -> None:
    schedules = schedules_of("ks", 300)
    sends = [(s.n, send) for s in schedules for send in s.sends]
    assert {s.kind for s in schedules} == {"adversary", "held", "latency"}
    assert {s.n for s in schedules} == set(range(2, 9))
    assert {s.fifo for s in schedules} == {True, False}
    assert any(send.node in send.dests for _, send in sends)
    assert any(len(send.dests) == 1 for _, send in sends)
    assert any(n == 8 and len(send.dests) == 7 for n, send in sends)


def test_an_algorithm_that_needs_fifo_gets_nothing_else() -> None:
    made = [make_schedule("x", NEEDS_FIFO, 1, number, SHAPE) for number in range(50)]
    assert all(schedule.fifo for schedule in made)


def test_a_shape_fixes_nodes_and_messages() -> None:
    for number in range(30):
        schedule = make_schedule("ks", find("ks"), 1, number, Shape(n=4, messages=12))
        assert (schedule.n, len(schedule.sends)) == (4, 12)


def test_with_fifo_a_copy_never_arrives_before_an_earlier_one() -> None:
    sends = (Send(0, 0, (1,), (50,)), Send(1, 0, (1,), (10,)), Send(2, 0, (1,), (70,)))
    for fifo, arrivals in ((True, [50, 50, 72]), (False, [50, 11, 72])):
        link = ScriptedWires(Schedule("x", 2, 1, 0, "by hand", fifo, sends)).link(0, 1)
        assert [link.send(send.time, 0)[0] for send in sends] == arrivals
