"""The SQL of this package: one SELECT per file, with a header that says what it answers.

    -- Question: what a reader wants to know
    -- Grain:    what one row is
    -- Reads:    the tables it takes

Constants are bound by name; no SQL is put together from strings.
"""

from __future__ import annotations

import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from testbed.core.errors import BadInput

SQL = Path(__file__).parent / "sql"


class Query(NamedTuple):
    """One file of SQL."""

    name: str
    question: str
    grain: str
    reads: str
    text: str


@cache
def queries(folder: str) -> dict[str, Query]:
    """All queries of a folder below sql/, by name, in alphabetical order."""
    return {path.stem: _parse(path) for path in sorted((SQL / folder).glob("*.sql"))}


def select(spark: SparkSession, folder: str, name: str, **constants: Any) -> DataFrame:
    """The rows of sql/<folder>/<name>.sql with the constants that it mentions bound."""
    text = queries(folder)[name].text
    mentioned = set(re.findall(r":([a-z_]+)\b", _without_comments(text)))
    bound = {key: value for key, value in constants.items() if key in mentioned}
    return spark.sql(text, args=bound)


def query(spark: SparkSession, sql: str) -> pd.DataFrame:
    """The answer to a user's own SQL over `runs`, `events` and `messages`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what matters comes as an exception
            answer: pd.DataFrame = spark.sql(sql).toPandas()
    except PySparkException as error:
        raise BadInput(f"Spark cannot answer the query: {_reason(error)}") from error
    return answer


def _reason(error: PySparkException) -> str:
    """Spark's own words without error class, state, position and plan."""
    text = str(error).strip() or type(error).__name__
    sentence = re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", text.splitlines()[0])
    return re.sub(r"\s*SQLSTATE:.*$", "", sentence).rstrip(" ;")


def _parse(path: Path) -> Query:
    text = path.read_text()
    header = dict(re.findall(r"^-- (Question|Grain|Reads): +(.+)$", text, flags=re.MULTILINE))
    return Query(path.stem, header["Question"], header["Grain"], header["Reads"], text)


def _without_comments(text: str) -> str:
    return re.sub(r"--[^\n]*", "", text)
