"""Statistics as tables for the terminal: measures down, runs across. Knows pandas and rich only."""

from __future__ import annotations

from typing import Any

import pandas as pd
from rich.table import Table
from rich.text import Text

from analysis.words import heading, number, series_names

VERDICT_STYLE = {"valid": "bold green", "invalid": "bold red", "inconclusive": "bold yellow"}
_IDENTITY = ("run", "algorithm")


def present(frame: pd.DataFrame, *, title: str | None = None) -> Table:
    """One statistic: a column for each run, a row for each measure."""
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    table.add_column("")
    names = series_names(frame)
    for name in names.values():
        table.add_column(name, justify="right")
    for column in frame.columns:
        if column not in _IDENTITY:
            table.add_row(heading(column), *(cell(column, value) for value in frame[column]))
    return table


def present_rows(frame: pd.DataFrame, *, title: str | None = None) -> Table:
    """Any rows as they are, for answers to a user's own SQL."""
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for column in frame.columns:
        numeric = pd.api.types.is_numeric_dtype(frame[column])
        table.add_column(str(column), justify="right" if numeric else "left")
    for row in frame.itertuples(index=False, name=None):
        table.add_row(*(Text(_exact(value)) for value in row))
    return table


def cell(column: str, value: Any) -> Text:
    """One value; verdicts in their colour."""
    text = number(value)
    style = VERDICT_STYLE.get(text, "") if column == "verdict" else ""
    return Text(text, style=style)


def _exact(value: Any) -> str:
    """A query's own answer is not rounded away; only noise beyond six figures is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
