"""`causalbed algorithms`: what there is, and what each assumes."""

from __future__ import annotations

from rich.table import Table

from testbed.algorithms import algorithms
from testbed.cli.terminal import print_json, wide


def print_algorithms(*, as_json: bool) -> int:
    rows = [
        {
            "name": one.name,
            "title": one.title,
            "paper": one.paper,
            "guarantee": one.guarantee.value,
            "destinations": "all" if one.broadcast_only else "any",
            "to_itself": one.refuses_self is None,
            "needs_reliable": one.needs_reliable,
            "needs_fifo": one.needs_fifo,
        }
        for one in algorithms().values()
    ]
    if as_json:
        print_json(rows)
        return 0
    table = Table(box=None, pad_edge=False)
    for column in rows[0]:
        table.add_column(column.replace("_", " "), no_wrap=True)
    for row in rows:
        table.add_row(*(_words(value) for value in row.values()))
    wide.print(table)
    return 0


def _words(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
