"""HTML by small functions: text in, escaped markup out. Knows nothing of runs or Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

_STYLE = Path(__file__).parent / "report.css"


def element(tag: str, content: str = "", /, **attributes: str) -> str:
    """One element around markup that is escaped already; `class_` stands for class."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{written}>{content}</{tag}>"


def text(tag: str, content: str, /, **attributes: str) -> str:
    """One element around plain text."""
    return element(tag, escape(content), **attributes)


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], /, *, class_: str = "measures"
) -> str:
    """A table of markup; the first cell of each row is its heading, `head` may be empty."""
    titles = "".join(element("th", cell, scope="col") for cell in head)
    body = "".join(
        element(
            "tr",
            element("th", row[0], scope="row") + "".join(element("td", cell) for cell in row[1:]),
        )
        for row in rows
    )
    heading = element("thead", element("tr", titles)) if head else ""
    markup = heading + element("tbody", body)
    return element("div", element("table", markup, class_=class_), class_="scroll")


def bullets(items: Iterable[str], /, **attributes: str) -> str:
    """A list of plain texts."""
    return element("ul", "".join(text("li", item) for item in items), **attributes)


def document(title: str, body: str) -> str:
    """A whole page that needs nothing but itself."""
    head = (
        '<meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
        '<link rel="icon" href="data:,">'
        + text("title", title)
        + element("style", _STYLE.read_text())
    )
    page = element("head", head) + element("body", element("main", body))
    return "<!doctype html>\n" + element("html", page, lang="en") + "\n"
