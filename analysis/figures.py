"""The report's plots: rows from sql/figures in, static SVG out. No script, no fonts to fetch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import altair as alt
import pandas as pd
import vl_convert
from pyspark.sql import SparkSession

from analysis.queries import select
from analysis.statistics import ACCURACY

SLICES = 60
SHARES = [percent / 100 for percent in range(1, 100)]
WIDTH, HEIGHT = 460, 250
PALETTE = ("#0b6e99", "#d9730d", "#6940a5", "#0f7b6c", "#ad1a72", "#64473a", "#dfab01", "#37352f")
"""Distinct in hue and in grey, so that print and colour-blind eyes can tell them apart."""
THINNEST, THICKEST = 1.8, 7.0
GREY = "#9b9a97"
INK = "#37352f"
FONT = "Helvetica, Arial, sans-serif"


class Figure(NamedTuple):
    """One plot, what it shows, and how to read it."""

    name: str
    title: str
    caption: str
    svg: str


class Plot(NamedTuple):
    """How one file of sql/figures is drawn."""

    name: str
    title: str
    caption: str
    draw: Callable[[pd.DataFrame, list[str]], Any]


def figures(
    spark: SparkSession, names: dict[str, str], only: tuple[str, ...] | None = None
) -> list[Figure]:
    """All plots of the registered runs, or some; `names` says how each run is called."""
    drawn = []
    for name, title, caption, draw in FIGURES:
        if only is not None and name not in only:
            continue
        frame = select(
            spark, "figures", name, accuracy=ACCURACY, slices=SLICES, shares=SHARES
        ).toPandas()
        if len(frame):
            frame["series"] = frame["run"].map(names)
            chart = draw(frame, [n for n in names.values() if n in set(frame["series"])])
            drawn.append(Figure(name, title, caption, to_svg(chart, name)))
    return drawn


def to_svg(chart: Any, name: str) -> str:
    """The chart as SVG that can stand in a page beside others and shrink with its column."""
    specification = chart.properties(background="transparent").configure_view(
        stroke=None
    ).configure(font=FONT).configure_axis(
        labelColor=INK, titleColor=INK, titleFontWeight="normal", gridColor="#ebebea",
        domainColor=GREY, tickColor=GREY, labelFontSize=11, titleFontSize=12,
    ).configure_legend(
        orient="top", title=None, labelFontSize=12, labelColor=INK, symbolStrokeWidth=3,
        symbolSize=180,
    ).to_dict()  # fmt: skip
    svg = vl_convert.vegalite_to_svg(specification)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)  # ids are unique in a page, not only in a plot
    svg = svg.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    return re.sub(r'(<svg [^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg, count=1)


def colours(series: list[str]) -> Any:
    """A colour for each series, the same in every plot."""
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(series))]
    return alt.Scale(domain=series, range=colours)


def _lines(frame: pd.DataFrame, series: list[str], widths: list[float], x: Any, y: Any) -> Any:
    layers = [
        alt.Chart(frame[frame["series"] == name])
        .mark_line(clip=True, strokeJoin="round", strokeWidth=width)
        .encode(x=x, y=y, color=alt.Color("series:N", scale=colours(series), sort=series))
        for name, width in zip(series, widths, strict=True)
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _nested(series: list[str]) -> list[float]:
    """Later lines are thinner, so that lines that coincide show inside one another."""
    last = len(series) - 1
    thickest = min(THINNEST + 2.2 * last, THICKEST)
    return [THINNEST + (thickest - THINNEST) * (last - i) / max(last, 1) for i in range(last + 1)]


def _control(frame: pd.DataFrame, series: list[str]) -> Any:
    top = max(frame["control_ints_p95"].max(), frame["nn"].max()) * 1.12
    y = alt.Y("series:N", sort=series, title=None, axis=alt.Axis(labelFontSize=13, domain=False))
    x = alt.X("control_ints_mean:Q", title="integers per copy", scale=alt.Scale(domain=[0, top]))
    base = alt.Chart(frame).encode(y=y)
    bars = base.mark_bar(height={"band": 0.55}).encode(
        x=x, color=alt.Color("series:N", scale=colours(series), legend=None)
    )
    spread = base.mark_rule(strokeWidth=1.5, color=INK).encode(
        x=alt.X("control_ints_p05:Q"), x2="control_ints_p95:Q"
    )
    ends = [
        base.mark_tick(color=INK, thickness=1.5, height=9).encode(x=alt.X(f"{column}:Q"))
        for column in ("control_ints_p05", "control_ints_p95")
    ]
    text = base.mark_text(align="left", dx=8, fontSize=12, color=INK).encode(
        x=alt.X("control_ints_p95:Q"), text=alt.Text("control_ints_mean:Q", format=",.1f")
    )
    reference = frame[["nn"]].drop_duplicates().assign(label="n·n (RST)")
    rule = alt.Chart(reference).mark_rule(strokeDash=[5, 4], color=INK).encode(x="nn:Q")
    label = (
        alt.Chart(reference)
        .mark_text(align="right", dx=-5, fontSize=11, color=INK, baseline="top")
        .encode(x="nn:Q", y=alt.value(0), text="label:N")
    )
    height = max(110, 62 * len(series))
    return alt.layer(bars, spread, *ends, text, rule, label).properties(width=WIDTH, height=height)


def _control_over_time(frame: pd.DataFrame, series: list[str]) -> Any:
    x = alt.X("time_s:Q", title="emulated time of sending, s")
    y = alt.Y("control_ints_mean:Q", title="integers per copy, mean", scale=alt.Scale(zero=True))
    lines = _lines(frame, series, [THINNEST] * len(series), x, y)
    ends = frame[["warmup_until_s"]].drop_duplicates()
    ends = ends[ends["warmup_until_s"] > 0].assign(start=0.0)
    if not len(ends):
        return lines
    shade = (
        alt.Chart(ends.head(1))
        .mark_rect(color="#f1f1ef")
        .encode(x=alt.X("start:Q"), x2="warmup_until_s:Q")
    )
    return alt.layer(shade, lines)


def _delay(frame: pd.DataFrame, series: list[str]) -> Any:
    x = alt.X("delay_ms:Q", title="emulated time since the send, ms", scale=alt.Scale(zero=True))
    y = alt.Y("percent:Q", title="messages, %", scale=alt.Scale(domain=[0, 100]))
    arrivals = (
        alt.Chart(frame)
        .mark_line(color=GREY, strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x=alt.X("transit_ms:Q"), y=y, detail="series:N")
    )
    return alt.layer(arrivals, _lines(frame, series, _nested(series), x, y))


def _held(frame: pd.DataFrame, series: list[str]) -> Any:
    x = alt.X("time_s:Q", title="emulated time, s")
    y = alt.Y("held_mean:Q", title="messages held, all nodes", scale=alt.Scale(zero=True))
    return _lines(frame, series, _nested(series), x, y)


FIGURES = (
    Plot(
        "control_by_run",
        "Control information per copy",
        "Integers that travel with one copy: mean, and the range from the 5th to the 95th "
        "percentile, of what was sent after the warm-up. Dashed: the matrix of n·n integers that "
        "RST sends.",
        _control,
    ),
    Plot(
        "control_over_time",
        "Control information over time",
        "How it grows and settles; the warm-up, which no statistic counts, is shaded.",
        _control_over_time,
    ),
    Plot(
        "delay_distribution",
        "Delay from send to delivery",
        "Share of messages delivered within a time. Dashed grey: arrived, so the gap is time held "
        "for causal order. Lines that coincide are drawn inside one another.",
        _delay,
    ),
    Plot(
        "held_over_time",
        "Messages held",
        "Messages that have arrived and wait for their causal past, mean over each slice of time.",
        _held,
    ),
)
