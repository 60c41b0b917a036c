"""Column names and numbers as people read them, the same on the terminal and in the report."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pandas as pd

NOTHING = "–"  # noqa: RUF001 - the sign for no value

_UNITS = {"ms": "ms", "us": "µs", "s": "s"}
_WORDS = {"ints": "integers", "holdback": "hold-back", "cpu": "processor time"}


def heading(column: str) -> str:
    """`delay_ms_p50` is "delay p50, ms"; `control_percent_of_nn` is "control, % of n·n"."""
    words, unit = [], ""
    tokens = column.removesuffix("_of_nn").split("_")
    for place, token in enumerate(tokens):
        if token in _UNITS:
            unit = _UNITS[token]
        elif token == "percent":
            rest = " ".join(_WORDS.get(word, word) for word in tokens[place + 1 :])
            unit = "% of n·n" if column.endswith("_of_nn") else f"% {rest}".strip()
            break
        else:
            words.append(_WORDS.get(token, token))
    text = " ".join(words)
    return f"{text}, {unit}" if unit else text


def number(value: Any) -> str:
    """Three or four figures that mean something; a dash where there is no value."""
    if hasattr(value, "item"):
        value = value.item()  # a numpy scalar
    match value:
        case None:
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return _rounded(value)
        case _:
            return NOTHING if value is pd.NA else str(value)


def _rounded(value: float) -> str:
    if math.isnan(value):
        return NOTHING
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 or value == 0 else f"{value:.2f}"


def series_names(runs: pd.DataFrame) -> dict[str, str]:
    """How a run is called beside others: its algorithm where that says which, else its id."""
    counts = Counter(runs["algorithm"])
    return {
        run: algorithm if algorithm and counts[algorithm] == 1 else run
        for run, algorithm in zip(runs["run"], runs["algorithm"], strict=True)
    }
