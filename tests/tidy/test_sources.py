"""Reads the sources: rules of the house that linters do not know."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("testbed", "actors", "workloads", "analysis", "benchmarks", "tests")
LINES_MAX = 400
FUNCTION_LINES_MAX = 60

BANNED = {
    "TO" + "DO": "finish it, or leave it out",
    "FIX" + "ME": "mend it",
    "XX" + "X": "say what is meant",
    "NotImplemented" + "Error": "every method that can be called works",
    "pytest." + "skip": "a test runs, or is not collected (skipif with its reason)",
    "pytest." + "xfail": "a test that fails is mended or removed",
    "mark." + "xfail": "a test that fails is mended or removed",
    "/wo" + "rk/": "no path of one machine",
    "/ro" + "ot/": "no path of one machine",
    "break" + "point()": "no debugger",
}
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "misc", "common"}


def sources() -> list[Path]:
    return sorted(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))


def relative(file: Path) -> str:
    return str(file.relative_to(ROOT))


def banned_in(text: str) -> list[str]:
    """Banned words of a text, each with its line and what to do instead."""
    return [
        f"line {number}: '{word}': {instead}"
        for number, line in enumerate(text.splitlines(), start=1)
        for word, instead in BANNED.items()
        if re.search(rf"(?<!\w){re.escape(word)}", line)
    ]


def long_functions(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield f"{node.name} has {lines} lines"


def test_there_are_sources_to_read() -> None:
    names = {relative(file) for file in sources()}
    assert {"testbed/core/node.py", "tests/tidy/test_sources.py"} <= names


@pytest.mark.parametrize("file", sources(), ids=relative)
def test_a_file_keeps_the_rules_of_the_house(file: Path) -> None:
    text = file.read_text()
    tree = ast.parse(text)
    lines = text.splitlines()
    assert len(lines) <= LINES_MAX, f"{len(lines)} lines: split it by ideas"
    assert [n for n, line in enumerate(lines, start=1) if line != line.rstrip()] == []
    assert banned_in(text) == []
    assert file.stem not in VAGUE_NAMES, "name the one idea that the file holds"
    assert list(long_functions(tree)) == []
    if tree.body:
        assert ast.get_docstring(tree), "a file opens with what it is for"
    if len(tree.body) > 1 and file.name != "__init__.py":
        assert "from __future__ import annotations" in text


@pytest.mark.parametrize("word", BANNED)
def test_a_banned_word_is_found(word: str) -> None:
    assert len(banned_in(f"first line\n    # {word} later\n")) == 1


def test_a_long_function_is_found() -> None:
    body = "\n".join("    pass" for _ in range(FUNCTION_LINES_MAX))
    assert list(long_functions(ast.parse(f"def f():\n{body}\n"))) == [
        f"f has {FUNCTION_LINES_MAX + 1} lines"
    ]


@pytest.mark.parametrize("file", [f for f in sources() if f.name.startswith("test_")], ids=relative)
def test_a_test_reads_as_a_claim_and_can_fail(file: Path) -> None:
    """Its name is a sentence of at least three words."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            assert len(node.name.split("_")) > 3, f"{node.name} is no sentence"
            assert _checks_something(node), f"{node.name} checks nothing"


def _checks_something(test: ast.FunctionDef) -> bool:
    """An assert, an expected error, or a call of a function whose name says that it asserts."""
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name == "pytest.raises" or name.split(".")[-1].startswith(("assert", "survives")):
                return True
    return False
