"""The report's plots of a mobile run: a map, who was where, and where messages spent their time.

Itineraries are the same for all algorithms of an experiment, so the map is that of the first run.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd
from pyspark.sql import SparkSession

from analysis.figures import GREY, INK, PALETTE, WIDTH, Figure, to_svg
from analysis.queries import select

HOSTS_SHOWN = 8
"""Hosts whose paths are drawn: those that saw most cells."""

PARTS = {
    "air": "#0b6e99",
    "wires": "#0f7b6c",
    "held for order": "#d9730d",
    "hand-off or away": "#6940a5",
}
SIDE, ROW = 54, 24
"""Pixels: the side of a cell on the map, the height of a host's row."""


MOBILE_QUERIES = ("cells", "host_trails", "host_paths", "handoffs_over_time", "journey_parts")


def mobile_figures(spark: SparkSession, names: dict[str, str]) -> list[Figure]:
    """The plots of the registered mobile runs; `names` says how each run is called."""
    cells, trails, paths, handoffs, parts = (
        select(spark, "mobile_figures", name, hosts_shown=HOSTS_SHOWN).toPandas()
        for name in MOBILE_QUERIES
    )
    drawn = []
    if len(parts):
        parts["series"] = parts["run"].map(names)
        series = [name for name in names.values() if name in set(parts["series"])]
        drawn.append(_figure("journey_parts", journey_parts(parts, series)))
    if len(cells) and len(trails):
        drawn.append(_figure("cells", cell_map(cells, trails)))
    if len(paths):
        drawn.append(_figure("whereabouts", whereabouts(paths, handoffs)))
    return drawn


_WORDS = {
    "journey_parts": (
        "From host to host",
        "Mean time of a message in the air, on the wires, held for its causal past, and lost to "
        "hand-offs and hosts out of reach.",
    ),
    "cells": (
        "The map",
        "Cells, darker where hosts spent more time, and the ways of the hosts that saw most cells, "
        "each shifted a little so that none hides another.",
    ),
    "whereabouts": (
        "Who was where",
        "The hosts that saw most cells, and which; black: a hand-off, from registration to its "
        "end. White: out of reach.",
    ),
}


def _figure(name: str, chart: Any) -> Figure:
    title, caption = _WORDS[name]
    return Figure(name, title, caption, to_svg(chart, name))


def cell_map(cells: pd.DataFrame, trails: pd.DataFrame) -> Any:
    """The grid of cells, shaded by the time that hosts spent there, with some paths over it."""
    columns = int(cells["column_number"].max()) + 1
    rows = int(cells["row_number"].max()) + 1
    side = min(SIDE * 2, max(SIDE / 2, WIDTH / columns))
    x = alt.Scale(domain=[-0.5, columns - 0.5], nice=False)
    y = alt.Scale(domain=[rows - 0.5, -0.5], nice=False)
    squares = cells.assign(
        left=cells["column_number"] - 0.5, right=cells["column_number"] + 0.5,
        top=cells["row_number"] - 0.5, bottom=cells["row_number"] + 0.5,
        name="s" + cells["station"].astype(str),
    )  # fmt: skip
    ground = (
        alt.Chart(squares)
        .mark_rect(stroke="white", strokeWidth=2)
        .encode(
            x=alt.X("left:Q", scale=x, axis=None), x2="right:Q",
            y=alt.Y("top:Q", scale=y, axis=None), y2="bottom:Q",
            color=alt.Color(
                "seconds:Q", title="host seconds",
                scale=alt.Scale(range=["#f7f6f3", "#b9b5ab"]),
                legend=alt.Legend(orient="right"),
            ),
        )
    )  # fmt: skip
    names = (
        alt.Chart(squares)
        .mark_text(align="left", baseline="top", dx=4, dy=4, fontSize=10, color=GREY)
        .encode(x=alt.X("left:Q", scale=x), y=alt.Y("top:Q", scale=y), text="name:N")
    )
    moved = _spread(trails)
    lines = (
        alt.Chart(moved)
        .mark_line(strokeWidth=1.8, opacity=0.8, point=alt.OverlayMarkDef(size=18))
        .encode(
            x=alt.X("x:Q", scale=x), y=alt.Y("y:Q", scale=y), order="time_s:Q",
            color=alt.Color("name:N", scale=_hosts(trails), legend=None),
        )
    )  # fmt: skip
    chart = alt.layer(ground, names, lines).resolve_scale(color="independent")
    return chart.properties(width=side * columns, height=side * rows)


def _spread(trails: pd.DataFrame) -> pd.DataFrame:
    """Hosts that jump from cell to cell would hide one another: each is shifted a little."""
    shift = (trails["rank"] - 1) / max(HOSTS_SHOWN - 1, 1) - 0.5
    turned = (trails["rank"] * 3 % HOSTS_SHOWN) / HOSTS_SHOWN - 0.4
    return trails.assign(
        x=trails["column_number"] - 0.5 + 0.4 * shift,
        y=trails["row_number"] - 0.5 + 0.4 * turned,
        name="h" + trails["host"].astype(str),
    )


def _hosts(paths: pd.DataFrame) -> alt.Scale:
    ordered = paths.drop_duplicates("host").sort_values("rank")
    names = [f"h{host}" for host in ordered["host"]]
    return alt.Scale(domain=names, range=list(PALETTE[: len(names)]))


def whereabouts(paths: pd.DataFrame, handoffs: pd.DataFrame) -> Any:
    """A row per host: its cells one after the other, and in black its hand-offs."""
    stays = paths.assign(
        name="h" + paths["host"].astype(str), cell="s" + paths["station"].astype(str)
    )
    order = list(dict.fromkeys(stays["name"]))
    last = float(stays["end_s"].max())
    x = alt.X("start_s:Q", title="emulated time, s", scale=alt.Scale(domain=[0, last], nice=False))
    y = alt.Y("name:N", sort=order, title=None)
    bars = (
        alt.Chart(stays)
        .mark_bar(height=13)
        .encode(
            x=x, x2="end_s:Q", y=y,
            color=alt.Color("station:Q", legend=None, scale=alt.Scale(scheme="tableau20"))
            if stays["station"].nunique() > 20
            else alt.Color("cell:N", legend=None, scale=alt.Scale(scheme="tableau20")),
        )
    )  # fmt: skip
    labels = (
        alt.Chart(stays[stays["end_s"] - stays["start_s"] > last / 22])
        .mark_text(align="left", dx=2, fontSize=9, color="white")
        .encode(x=x, y=y, text="cell:N")
    )
    layers = [bars, labels]
    if len(handoffs):
        named = handoffs.assign(name="h" + handoffs["host"].astype(str))
        base = alt.Chart(named).encode(y=y)
        layers.append(base.mark_rule(color=INK, strokeWidth=5).encode(x="begin_s:Q", x2="end_s:Q"))
        layers.append(base.mark_tick(color=INK, thickness=1.5, height=19).encode(x="begin_s:Q"))
    return alt.layer(*layers).properties(width=WIDTH, height=ROW * len(order))


def journey_parts(frame: pd.DataFrame, series: list[str]) -> Any:
    """One bar per run, its parts beside one another."""
    colours = alt.Scale(domain=list(PARTS), range=list(PARTS.values()))
    return (
        alt.Chart(frame)
        .mark_bar(height={"band": 0.6})
        .encode(
            x=alt.X("ms_mean:Q", title="mean delay from host to host, ms", stack="zero"),
            y=alt.Y("series:N", sort=series, title=None, axis=alt.Axis(labelFontSize=13)),
            color=alt.Color("part:N", scale=colours, sort=list(PARTS), title=None),
            order=alt.Order("place:Q"),
        )
        .properties(width=WIDTH, height=max(90, 42 * len(series)))
    )  # fmt: skip
