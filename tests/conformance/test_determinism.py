"""Same seed, same trace, for every algorithm; another seed, another trace."""

from __future__ import annotations

import pytest

from tests.families import STATIC
from tests.runs import first_difference, plan, run

FAULTY = {"duplicate": 0.05, "retry_after": 400_000_000}


@pytest.mark.parametrize("name", STATIC)
def test_the_same_seed_gives_the_same_trace(name: str) -> None:
    first, second = (run(plan(name, n=6)).rows for _ in range(2))
    assert first_difference(first, second) is None
    assert len(first.rows) > 300


@pytest.mark.parametrize("name", STATIC)
def test_the_same_seed_gives_the_same_trace_over_a_reliable_link(name: str) -> None:
    first, second = (run(plan(name, n=4, **FAULTY)).rows for _ in range(2))
    assert first_difference(first, second) is None


@pytest.mark.parametrize("name", STATIC)
def test_another_seed_gives_another_trace(name: str) -> None:
    first, second = (run(plan(name, seed=seed)).rows for seed in (1, 2))
    assert first_difference(first, second) is not None


def test_the_first_difference_is_named() -> None:
    first, second = (run(plan("rst", messages=5)).rows for _ in range(2))
    second.rows[3] = (99, *second.rows[3][1:])
    difference = first_difference(first, second)
    assert difference is not None
    assert difference.startswith("row 3: ")
    second.rows[3] = first.rows[3]
    second.rows.pop()
    assert first_difference(first, second) == f"row {len(second.rows)}: only one trace has it"


def test_all_algorithms_meet_the_same_traffic_and_the_same_network() -> None:
    def seen(name: str) -> list[tuple[int, ...]]:
        rows = run(plan(name, multicast=0.3)).rows.named()
        arrivals = [row for row in rows if row["event"] in (0, 1)]
        return sorted(
            (r["node"], r["time"], r["event"], r["origin"], r["number"]) for r in arrivals
        )

    names = [name for name, a in STATIC.items() if not a.broadcast_only]
    assert all(seen(name) == seen(names[0]) for name in names)
