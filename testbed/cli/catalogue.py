"""`causalbed algorithms`: what there is, and what each assumes."""

from __future__ import annotations

from itertools import groupby

from rich.table import Table

from testbed.algorithms import algorithms
from testbed.cli.terminal import print_json, wide
from testbed.core.algorithm import Algorithm

FAMILIES = ("static", "mobile", "deadline")
SHOWN = ("name", "title", "paper", "guarantee", "destinations")
"""What the table has room for; `--json` says all."""


def _family(algorithm: Algorithm) -> str:
    """By what it runs on and what it promises, which is how the files are sorted too."""
    if algorithm.is_mobile:
        return "mobile"
    return "deadline" if algorithm.uses_deadlines else "static"


def print_algorithms(*, as_json: bool) -> int:
    known = sorted(algorithms().values(), key=lambda one: FAMILIES.index(_family(one)))
    rows = [
        {
            "name": one.name,
            "family": _family(one),
            "title": one.title,
            "paper": one.paper,
            "guarantee": one.guarantee.value,
            "destinations": "all" if one.broadcast_only else "any",
            "to_itself": one.refuses_self is None,
            "needs_reliable": one.needs_reliable,
            "needs_fifo": one.needs_fifo,
            "parameters": [] if one.params is None else list(one.params.__struct_fields__),
        }
        for one in known
    ]
    if as_json:
        print_json(rows)
        return 0
    table = Table(box=None, pad_edge=False)
    for column in SHOWN:
        table.add_column(column, no_wrap=column == "name")
    for family, members in groupby(rows, key=lambda row: row["family"]):
        table.add_row(f"[bold]{family}[/]")
        for row in members:
            table.add_row(*(str(row[column]) for column in SHOWN))
    wide.print(table)
    return 0
