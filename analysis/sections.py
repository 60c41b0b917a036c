"""The report's sections: entries and tables in, markup out. Reads no file and asks no Spark."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from analysis.figures import Figure
from analysis.page import bullets, element, table, text
from analysis.queries import queries
from analysis.statistics import family_of
from analysis.words import heading, number

FINDINGS_SHOWN = 5
SIGNS = {"valid": "✓", "invalid": "✗", "inconclusive": "?", "unknown": "?"}
WORST_FIRST = ("invalid", "unknown", "inconclusive", "valid")
_IDENTITY = ("run", "algorithm", "n", "verdict")


class Entry(NamedTuple):
    """One run as the report shows it."""

    id: str
    name: str
    """What it is called beside the others."""
    path: Path
    manifest: dict[str, Any]
    verdict: str
    why: str
    findings: list[str]
    colour: str


def title(entries: Sequence[Entry]) -> str:
    names = dict.fromkeys(entry.manifest.get("name") or entry.id for entry in entries)
    return f"{', '.join(names)}: causal order report"


# --- verdict --------------------------------------------------------------------------------------


def opening(entries: Sequence[Entry]) -> str:
    """What was run, and the verdict of the worst run, large."""
    names = dict.fromkeys(entry.manifest.get("name") or entry.id for entry in entries)
    worst = min(entries, key=lambda entry: WORST_FIRST.index(entry.verdict))
    same = [entry for entry in entries if entry.verdict == worst.verdict]
    if len(entries) == 1:
        whose, why = "", worst.why
    elif len(same) == len(entries):
        whose, why = f": all {len(entries)} runs", _common_why(entries)
    else:
        whose = f": {len(same)} of {len(entries)} runs"
        why = "; ".join(f"{entry.name}: {entry.why}" for entry in same[:3])
    word = f"{SIGNS[worst.verdict]} {worst.verdict}{whose}"
    head = text("h1", ", ".join(names)) + text("p", _what(entries))
    banner = text("span", word, class_="word") + text("p", why, class_="why")
    return element("header", head, class_="page") + element(
        "section", banner, class_=f"verdict {worst.verdict}", id="verdict"
    )


def _common_why(entries: Sequence[Entry]) -> str:
    if entries[0].verdict == "valid":
        if any(entry.manifest.get("guarantee") == "deadline-causal" for entry in entries):
            return (
                "What was delivered was in causal order, once, and in time where that was "
                "promised; the trace says why the rest was not. The network put that to the test."
            )
        return (
            "Every message was delivered in causal order, exactly once, at each of its "
            "destinations, and the network put that to the test."
        )
    return "; ".join(f"{entry.name}: {entry.why}" for entry in entries[:3])


def _what(entries: Sequence[Entry]) -> str:
    def each(key: str) -> str:
        values = dict.fromkeys(e.manifest.get(key) for e in entries if e.manifest.get(key))
        return ", ".join(map(str, values))

    engines = {"ray": "live on Ray", "sim": "in virtual time"}
    kinds = dict.fromkeys(engines.get(e.manifest.get("engine", ""), "") for e in entries)
    facts = [
        each("algorithm"),
        f"{each('nodes')} nodes" if each("nodes") else "",
        " and ".join(kind for kind in kinds if kind),
        f"seed {each('seed')}" if each("seed") else "",
        each("started")[:16].replace("T", " "),
    ]
    return " · ".join(fact for fact in facts if fact)


def warnings(entries: Sequence[Entry], gap: str | None) -> str:
    """Loud, and only where there is something to say."""
    found = [gap] if gap else []
    for entry in entries:
        own = list(entry.manifest.get("warnings") or [])
        late = _lateness(entry)
        if late and not any("lateness" in warning.lower() for warning in own):
            own.insert(0, late)
        status = entry.manifest.get("status", "complete")
        if status != "complete":
            own.append(f"the run is {status}: it did not reach its end")
        found += [f"{entry.name}: {warning}" for warning in own]
    if not found:
        return ""
    body = text("h2", "Warnings") + bullets(dict.fromkeys(found))
    return element("section", body, class_="warnings", id="warnings")


def _lateness(entry: Entry) -> str | None:
    lateness = entry.manifest.get("lateness_ns") or {}
    p99, budget = lateness.get("p99"), lateness.get("budget")
    if p99 is None or budget is None or p99 <= budget:
        return None
    return (
        f"do not trust the timing: 1 % of copies came {p99 / 1e6:.1f} ms late or later, over the "
        f"budget of {budget / 1e6:.1f} ms; run slower (speed) or on a quieter machine"
    )


def verdicts(entries: Sequence[Entry]) -> str:
    """One line per run with the audit's reason, and what is wrong where something is."""
    rows = [(_named(entry), _chip(entry.verdict), escape(entry.why)) for entry in entries]
    head = ("run", "verdict", "why")
    found = "".join(
        text("h3", f"{entry.name}: the first {len(entry.findings[:FINDINGS_SHOWN])} findings")
        + bullets(entry.findings[:FINDINGS_SHOWN], class_="findings")
        for entry in entries
        if len(entry.findings) > 1
    )
    return element("section", text("h2", "Audit") + table(head, rows, class_="runs") + found)


def _chip(verdict: str) -> str:
    return text("span", f"{SIGNS[verdict]} {verdict}", class_=f"chip {verdict}")


def _named(entry: Entry) -> str:
    swatch = element("span", class_="swatch", style=f"background:{entry.colour}")
    return f"{swatch}{escape(entry.name)}"


# --- measures -------------------------------------------------------------------------------------


def comparison(entries: Sequence[Entry], frame: pd.DataFrame) -> str:
    note = (
        "Per copy, of what was sent after the warm-up. Control integers are counted by each "
        "paper's own rule; n·n is the matrix that RST sends."
    )
    return element(
        "section", text("h2", "Comparison") + _measures(entries, frame) + text("p", note)
    )


MOBILE = {
    "journey": "From host to host",
    "wires": "On the wires",
    "air": "Over the air",
    "handoff": "Hand-off",
    "inhibition": "Inhibition",
}
"""The statistics of mobile runs that are not folded away."""


DEADLINE = {
    "deadlines": "Met and missed",
    "repair": "Repair",
    "suspicions": "Crashes and suspicions",
}
"""The same of runs with deadlines."""


def mobile(entries: Sequence[Entry], tables: dict[str, pd.DataFrame]) -> str:
    """What hosts and stations paid, in place of a comparison by n·n, which means little here."""
    return element("section", text("h2", "Mobile hosts") + _open(MOBILE, entries, tables))


def deadlines(entries: Sequence[Entry], tables: dict[str, pd.DataFrame]) -> str:
    """Which messages met their deadline, and why the others did not."""
    return element("section", text("h2", "Deadlines") + _open(DEADLINE, entries, tables))


def _open(shown: dict[str, str], entries: Sequence[Entry], tables: dict[str, pd.DataFrame]) -> str:
    return "".join(
        text("h3", title) + _measures(entries, tables[name])
        for name, title in shown.items()
        if name in tables and not tables[name].empty
    )


def details(entries: Sequence[Entry], tables: dict[str, pd.DataFrame]) -> str:
    """Every other statistic, folded, under the question that it answers."""
    folded = []
    for name, frame in tables.items():
        if name in {"comparison", *MOBILE, *DEADLINE} or frame.empty:
            continue
        question = text("span", queries(family_of(name))[name].question)
        summary = element("summary", f"{escape(heading(name).capitalize())} {question}")
        folded.append(element("details", summary + _measures(entries, frame)))
    return element("section", text("h2", "All statistics") + "".join(folded))


def _measures(entries: Sequence[Entry], frame: pd.DataFrame) -> str:
    frame = frame.set_index("run", drop=False)
    shown = [entry for entry in entries if entry.id in frame.index]
    rows = [
        (
            escape(heading(column)),
            *(escape(number(frame[column][entry.id])) for entry in shown),
        )
        for column in frame.columns
        if column not in _IDENTITY
    ]
    return table(("", *map(_named, shown)), rows)


def plots(figures: Sequence[Figure]) -> str:
    drawn = "".join(
        element(
            "figure",
            text("h3", figure.title)
            + element("div", figure.svg, role="img", aria_label=figure.title)
            + text("figcaption", figure.caption),
            id=figure.name,
        )
        for figure in figures
    )
    return element("section", text("h2", "Figures") + element("div", drawn, class_="figures"))


# --- where it came from ---------------------------------------------------------------------------


def experiment(entries: Sequence[Entry]) -> str:
    """Each distinct experiment once, as it would stand in a file."""
    texts: dict[str, list[str]] = {}
    for entry in entries:
        tree = entry.manifest.get("experiment")
        if tree:
            written = yaml.safe_dump(
                tree, sort_keys=False, allow_unicode=True, default_flow_style=None, width=90
            )
            texts.setdefault(written, []).append(entry.name)
    if not texts:
        return ""
    blocks = "".join(
        (text("h3", ", ".join(names)) if len(texts) > 1 else "") + element("pre", escape(written))
        for written, names in texts.items()
    )
    return element("section", text("h2", "Experiment") + blocks, id="experiment")


def origin(entries: Sequence[Entry]) -> str:
    """Machine and versions, once for all runs that share them."""
    blocks = []
    for key, name in (("machine", "Machine"), ("versions", "Versions")):
        distinct = {str(e.manifest[key]): e.manifest[key] for e in entries if e.manifest.get(key)}
        for facts in distinct.values():
            rows = [(escape(str(fact)), escape(str(value))) for fact, value in facts.items()]
            blocks.append(element("div", text("h3", name) + table((), rows)))
    if not blocks:
        return ""
    inside = element("div", "".join(blocks), class_="pair")
    return element("section", text("h2", "Machine and versions") + inside)


def repeat(entries: Sequence[Entry]) -> str:
    paths = " ".join(shlex.quote(str(entry.path)) for entry in entries)
    lines = [
        "# save the experiment above as experiment.yaml",
        *dict.fromkeys(_command(entry) for entry in entries if entry.manifest.get("experiment")),
        f"causalbed audit {shlex.quote(str(entries[0].path))}",
        f"causalbed report {paths}",
    ]
    if len(lines) == 3:
        lines = lines[1:]
    hashes = [
        (escape(entry.name), element("code", escape(str(entry.manifest["content_hash"]))))
        for entry in entries
        if entry.manifest.get("content_hash")
    ]
    same = text("p", "In virtual time the same seed gives the same trace; its content hash:")
    traces = same + table(("run", "hash"), hashes) if hashes else ""
    commands = element("pre", escape("\n".join(lines)))
    return element("section", text("h2", "How to repeat it") + commands + traces, id="repeat")


def _command(entry: Entry) -> str:
    return f"causalbed run experiment.yaml --engine {entry.manifest.get('engine', 'sim')}"
