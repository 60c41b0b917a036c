"""The report's plots of runs with deadlines: dip and recovery, causes of misses, dependence."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd
from pyspark.sql import SparkSession

from analysis.figures import HEIGHT, INK, WIDTH, Figure, colours, to_svg
from analysis.queries import select

SLICES = 20
"""Few, since groups send seldom and the lifetimes of few messages say little."""

CAUSES = {
    "lost": "#0b6e99",
    "arrived late": "#0f7b6c",
    "held too long": "#d9730d",
    "successor delivered": "#6940a5",
    "delivered late": "#ad1a72",
    "clock error": "#dfab01",
    "sender crashed": "#37352f",
    "no room": "#64473a",
    "unexplained": "#9b9a97",
}
"""Why a message missed its deadline, as sql/tables/fates.sql names it."""

DEPENDS_ON = {
    "n": ("group size", "delivered_by_size"),
    "loss_rate": ("loss rate", "delivered_by_loss"),
    "lifetime_ms": ("mean lifetime, ms", "delivered_by_lifetime"),
}
"""What may differ between runs, how it is called, and the name of its plot."""

_WORDS = {
    "delivered_over_time": (
        "Delivered in time, over time",
        "Share of messages that met their deadline, by when they were sent. Dashed: the first "
        "crash; nothing is owed to a member that crashed.",
    ),
    "misses": (
        "Why messages missed their deadline",
        "Share of what was owed, by cause.",
    ),
}


def deadline_figures(spark: SparkSession, names: dict[str, str]) -> list[Figure]:
    """The plots of the registered runs with deadlines; `names` says how each run is called."""
    over_time, misses, depends = (
        select(spark, "deadline_figures", name, slices=SLICES).toPandas()
        for name in ("delivered_over_time", "misses", "delivered_by")
    )
    drawn = []
    for name, frame, draw in (
        ("delivered_over_time", over_time, delivered_over_time),
        ("misses", misses, causes_of_misses),
    ):
        if len(frame) and len(names) <= len(_DISTINCT):
            frame["series"] = frame["run"].map(names)
            series = [one for one in names.values() if one in set(frame["series"])]
            title, caption = _WORDS[name]
            drawn.append(Figure(name, title, caption, to_svg(draw(frame, series), name)))
    return [*_dependences(depends), *drawn]


_DISTINCT = range(8)
"""More runs than colours are told apart by what they depend on, not one by one."""


def _dependences(frame: pd.DataFrame) -> list[Figure]:
    """One plot for each quantity that takes several values; the others must be equal for it."""
    drawn = []
    for column, (words, name) in DEPENDS_ON.items():
        others = [other for other in DEPENDS_ON if other != column]
        if frame[column].nunique() > 1 and all(frame[o].nunique() <= 1 for o in others):
            caption = (
                f"Share of messages that met their deadline, by {words}: mean over runs, and the "
                "95 % confidence interval where there are several."
            )
            chart = delivered_by(frame, column, words)
            drawn.append(
                Figure(name, f"Delivered in time by {words}", caption, to_svg(chart, name))
            )
    return drawn


def delivered_by(frame: pd.DataFrame, column: str, words: str) -> Any:
    series = sorted(frame["algorithm"].unique())
    x = alt.X(f"{column}:Q", title=words, scale=alt.Scale(zero=False))
    y = alt.Y("delivered_percent:Q", title="delivered in time, %", scale=alt.Scale(domain=[0, 100]))
    colour = alt.Color("algorithm:N", scale=colours(series), sort=series)
    base = alt.Chart(frame)
    lines = base.mark_line(point=True, strokeWidth=2).encode(x=x, y=y, color=colour)
    spread = (
        alt.Chart(frame.dropna(subset=["low", "high"]))
        .mark_rule(strokeWidth=1.5)
        .encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    )
    return alt.layer(spread, lines).properties(width=WIDTH, height=HEIGHT)


def delivered_over_time(frame: pd.DataFrame, series: list[str]) -> Any:
    x = alt.X("time_s:Q", title="emulated time of sending, s")
    y = alt.Y("delivered_percent:Q", title="delivered in time, %", scale=alt.Scale(domain=[0, 100]))
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=1.8, strokeJoin="round")
        .encode(x=x, y=y, color=alt.Color("series:N", scale=colours(series), sort=series))
    )
    crashes = frame[["crash_s"]].dropna().drop_duplicates().head(1)
    if not len(crashes):
        return lines.properties(width=WIDTH, height=HEIGHT)
    mark = alt.Chart(crashes).mark_rule(strokeDash=[5, 4], color=INK).encode(x="crash_s:Q")
    return alt.layer(lines, mark).properties(width=WIDTH, height=HEIGHT)


def causes_of_misses(frame: pd.DataFrame, series: list[str]) -> Any:
    present = [cause for cause in CAUSES if cause in set(frame["cause"])]
    scale = alt.Scale(domain=present, range=[CAUSES[cause] for cause in present])
    places = {cause: place for place, cause in enumerate(present)}
    return (
        alt.Chart(frame.assign(place=frame["cause"].map(places)))
        .mark_bar(height={"band": 0.6})
        .encode(
            x=alt.X("percent:Q", title="missed, % of what was owed", stack="zero"),
            y=alt.Y("series:N", sort=series, title=None, axis=alt.Axis(labelFontSize=13)),
            color=alt.Color(
                "cause:N", scale=scale, sort=present, title=None, legend=alt.Legend(columns=4)
            ),
            order=alt.Order("place:Q"),
        )
        .properties(width=WIDTH, height=max(90, 42 * len(series)))
    )
