"""Column names and numbers as people read them, the same on the terminal and in the report."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pandas as pd

NOTHING = "–"  # noqa: RUF001 - the sign for no value

_UNITS = {"ms": "ms", "us": "µs", "s": "s"}  # noqa: RUF001
_WORDS = {"ints": "integers", "holdback": "hold-back", "cpu": "processor time"}
_POINTS = {"mean", "max", "p05", "p50", "p95", "p99"}


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
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, bool) or not isinstance(value, int | float) and not hasattr(value, "item"):
        return str(value)
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and math.isnan(value):
        return NOTHING
    if isinstance(value, float) and not (value.is_integer() and abs(value) >= 1000):
        size = abs(value)
        places = 0 if size >= 1000 else 1 if size >= 10 or value.is_integer() else 2
        return f"{value:,.{places}f}"
    return f"{int(value):,}"


def series_names(runs: pd.DataFrame) -> dict[str, str]:
    """How a run is called beside others: its algorithm where that says which, else its id."""
    counts = Counter(runs["algorithm"])
    return {
        run: algorithm if algorithm and counts[algorithm] == 1 else run
        for run, algorithm in zip(runs["run"], runs["algorithm"], strict=True)
    }
