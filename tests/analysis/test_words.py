"""Names and numbers as people read them, and tables for the terminal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from analysis.present import present, present_rows
from analysis.words import heading, number, series_names


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("delay_ms_p50", "delay p50, ms"),
        ("control_ints_mean", "control integers mean"),
        ("control_percent_of_nn", "control, % of n·n"),
        ("held_percent", "held, %"),
        ("reliable_link_percent_of_copy_bytes", "reliable link, % of copy bytes"),
        ("send_us_p99", "send p99, µs"),
    ],
)
def test_a_column_is_called_by_what_it_measures_and_its_unit(column: str, expected: str) -> None:
    assert expected == heading(column)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),  # noqa: RUF001
        (float("nan"), "–"),  # noqa: RUF001
        (1234567, "1,234,567"),
        (np.int64(12), "12"),
        (np.float64(0.126), "0.13"),
        (48.32, "48.3"),
        (12345.6, "12,346"),
        (0.0, "0.0"),
        ("valid", "valid"),
    ],
)
def test_a_number_shows_the_figures_that_mean_something(value: object, expected: str) -> None:
    assert expected == number(value)


def test_a_run_goes_by_its_algorithm_unless_two_share_it() -> None:
    runs = pd.DataFrame({"run": ["r1", "r2", "r3", "r4"], "algorithm": ["ks", "prs", "prs", None]})
    assert series_names(runs) == {"r1": "ks", "r2": "r2", "r3": "r3", "r4": "r4"}


def test_a_statistic_has_runs_across_and_measures_down() -> None:
    frame = pd.DataFrame(
        {"run": ["r1", "r2"], "algorithm": ["ks", "rst"], "control_ints_mean": [48.3, 64.0]}
    )
    lines = _printed(present(frame, title="overhead"))
    assert any("ks" in line and "rst" in line for line in lines)
    assert any(
        "control integers mean" in line and "48.3" in line and "64.0" in line for line in lines
    )


def test_markup_in_an_answer_is_shown_and_not_obeyed() -> None:
    lines = _printed(
        present_rows(pd.DataFrame({"why": ["[red]m1.1[/red]"], "share": [0.123456789]}))
    )
    assert any("[red]m1.1[/red]" in line and "0.123457" in line for line in lines)


def _printed(table: object) -> list[str]:
    console = Console(width=100)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()
