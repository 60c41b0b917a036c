"""The hunter finds what is broken, spares what is not, and says what it put to the test."""

from __future__ import annotations

import pytest

from testbed.core.algorithm import Guarantee
from testbed.core.errors import BadInput, EngineError
from testbed.hunt.hunter import FINDS_MAX, Hunt, hunt, replay
from testbed.trace.oracle import Fault, Verdict
from tests.families import STATIC

CAUSAL = [name for name, a in STATIC.items() if a.guarantee is Guarantee.CAUSAL]


def hunt_alone(algorithm: str, schedules: int, *, seed: int = 1, first: int = 0) -> Hunt:
    return hunt(algorithm, schedules=schedules, seconds=None, seed=seed, first=first, cores=1)


@pytest.mark.parametrize("control", ["immediate", "fifo"])
def test_the_controls_are_caught_within_a_hundred_schedules(control: str) -> None:
    result = hunt_alone(control, 100)
    assert result.verdict is Verdict.INVALID
    assert result.finds[0].audit.inversions > 0
    assert "was delivered at" in result.finds[0].prose
    assert "before" in result.why


@pytest.mark.parametrize("name", CAUSAL)
def test_a_causal_algorithm_survives_and_was_put_to_the_test(name: str) -> None:
    result = hunt_alone(name, 1000, seed=7)
    assert result.why.startswith("1000 schedules")
    assert result.verdict is Verdict.VALID
    assert result.finds == []
    assert result.arrived_out_of_order > 1000
    assert result.held > 1000


@pytest.mark.parametrize("name", CAUSAL)
def test_most_schedules_put_something_to_the_test(name: str) -> None:
    result = hunt_alone(name, 300, seed=3)
    assert result.vacuous < result.schedules / 3


def test_a_hunt_that_tests_nothing_is_inconclusive() -> None:
    result = hunt("ks", schedules=10, seconds=None, seed=1, messages=1, cores=1)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.vacuous == 10
    assert "nothing was tested" in result.why


def test_a_hunt_stops_after_a_few_finds() -> None:
    result = hunt_alone("immediate", 10_000)
    assert len(result.finds) == FINDS_MAX
    assert result.schedules < 100


def test_a_find_is_found_again_by_its_seed_and_number() -> None:
    found = hunt_alone("fifo", 200).finds[-1]
    again = hunt_alone("fifo", 1, seed=found.seed, first=found.number)
    assert again.schedules == 1
    assert again.finds == [found]


def test_a_find_replayed_gives_the_same_audit() -> None:
    for found in hunt_alone("immediate", 200).finds:
        assert replay(found.schedule) == found.audit


def test_the_same_seed_gives_the_same_hunt_on_one_core_and_on_two() -> None:
    alone = hunt_alone("fifo", 300)
    together = hunt("fifo", schedules=300, seconds=None, seed=1, cores=2)
    assert alone.finds == together.finds
    assert _counts(alone) == _counts(together)


def test_another_seed_gives_another_hunt() -> None:
    assert _counts(hunt_alone("rst", 40)) != _counts(hunt_alone("rst", 40, seed=2))


def test_the_tally_of_a_clean_hunt_does_not_depend_on_the_cores() -> None:
    alone = hunt_alone("rst", 210)
    together = hunt("rst", schedules=210, seconds=None, seed=1, cores=2)
    assert _counts(alone) == _counts(together)


def test_a_mutant_outside_the_repository_is_caught() -> None:
    result = hunt_alone("tests.hunt.broken:DEAF", 300)
    assert result.verdict is Verdict.INVALID
    assert result.finds[0].audit.findings[0].fault is Fault.CAUSAL_ORDER


def test_a_mutant_is_caught_by_workers_too() -> None:
    result = hunt("tests.hunt.broken:DEAF", schedules=300, seconds=None, seed=1, cores=2)
    assert result.finds == hunt_alone("tests.hunt.broken:DEAF", 300).finds


def test_an_algorithm_that_keeps_a_message_is_caught() -> None:
    finds = hunt_alone("tests.hunt.broken:KEEPS", 300).finds
    assert any(f.fault is Fault.LIVENESS for f in finds[0].audit.findings)


def test_an_algorithm_that_raises_is_a_find_with_the_exception() -> None:
    result = hunt_alone("tests.hunt.broken:CRASHES", 50)
    assert result.verdict is Verdict.INVALID
    assert "crashed after" in result.why
    assert "LookupError: the third is one too many" in result.why


def test_an_algorithm_that_sends_for_ever_is_a_find() -> None:
    result = hunt_alone("tests.hunt.broken:ENDLESS", 3)
    assert "it sends without end" in result.why


def test_a_worker_that_dies_is_noticed() -> None:
    with pytest.raises(EngineError, match="died with exit code 7"):
        hunt("tests.hunt.broken:DEADLY", schedules=100, seconds=None, seed=1, cores=2)


def test_a_time_limit_ends_a_hunt_without_a_number_of_schedules() -> None:
    result = hunt("rst", schedules=None, seconds=1e-6, seed=1, cores=1)
    assert result.schedules > 0
    assert result.verdict is not Verdict.INVALID


def test_progress_hears_of_every_schedule() -> None:
    heard: list[tuple[int, int | None]] = []
    hunt("rst", schedules=50, seconds=None, seed=1, cores=1,
         progress=lambda done, of: heard.append((done, of)))  # fmt: skip
    assert heard == [(20, 50), (40, 50), (50, 50)]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"schedules": 0}, "schedules is 0"),
        ({"schedules": None}, "neither schedules nor seconds"),
        ({"seconds": 0.0}, "seconds is 0.0"),
        ({"seed": -1}, "seed -1"),
        ({"n": 1}, "n is 1; it takes 2 to"),
        ({"messages": 0}, "messages is 0"),
        ({"cores": 0}, "cores is 0"),
    ],
)
def test_a_number_out_of_range_is_refused(wrong: dict[str, int | float | None], text: str) -> None:
    asked = {"schedules": 1, "seconds": None, "seed": 1} | wrong
    with pytest.raises(BadInput, match=text):
        hunt("rst", **asked)  # type: ignore[arg-type]  # that is the point


def test_an_unknown_algorithm_is_refused() -> None:
    with pytest.raises(BadInput, match="unknown algorithm 'nobody'"):
        hunt("nobody", schedules=1, seconds=None, seed=1)


def _counts(result: Hunt) -> tuple[int, ...]:
    return (
        result.schedules, result.deliveries, result.arrived_out_of_order, result.held,
        result.vacuous,
    )  # fmt: skip
