"""What `causalbed sql` can ask: the tables and statistics of this package, in Markdown.

The lines follow those of testbed.trace.dictionary in docs/data-dictionary.md.
"""

from __future__ import annotations

from analysis.queries import queries
from analysis.statistics import family_of, names
from analysis.tables import MESSAGES_COLUMNS, RUNS_COLUMNS
from testbed.trace.dictionary import markdown_table


def tables_dictionary() -> str:
    """The tables that Spark sees beside `events`, and the statistics computed from them."""
    known = {name: queries(family_of(name))[name] for name in names()}
    statistics = [(f"`{name}`", known[name].question, known[name].grain) for name in known]
    return "\n".join(
        [
            "## Table `runs`\n\nOne row per run, from its manifest.\n",
            _columns(RUNS_COLUMNS),
            "## Table `messages`\n\nOne row per run, message and destination.\n",
            _columns(MESSAGES_COLUMNS),
            "## Statistics\n\nEach is one query in `analysis/sql/statistics`, or in "
            "`mobile` and `deadline` beside it, for runs with hosts and with deadlines.\n",
            markdown_table(("statistic", "question", "grain"), statistics),
        ]
    )


def _columns(columns: dict[str, tuple[str, str]]) -> str:
    rows = [(f"`{name}`", kind, meaning) for name, (kind, meaning) in columns.items()]
    return markdown_table(("column", "type", "meaning"), rows)
