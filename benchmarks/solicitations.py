"""Solicitations live: how long a question takes to its answer in a group of a hundred.

The experiment `deadline` (Ahn's section 5) with 100 nodes packed into one actor per core, under
`odca`. A round trip runs from a solicitation to the next answer of that peer, where no other one is
open. Beside it is the network's own round trip: two one-way times of messages of the same run, one
after the other. Lateness is how long after its due time a frame or a send is handled.
"""

from __future__ import annotations

import json
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import quantiles
from typing import Any

from actors.engine import LiveOptions, ray_session, run_live
from testbed.config.load import find_experiment, load
from testbed.config.planning import plans
from testbed.trace import rundir
from testbed.trace.rundir import RunDir

NODES, ACTORS = 100, 2
MESSAGES = 300
GOAL_MS = 10.0
QUESTION, ANSWERS = "solicit", ("reply", "nothing")
COLUMNS = ("node", "seq", "time", "event", "origin", "number", "peer", "packet")


def measure(nodes: int = NODES, messages: int = MESSAGES) -> dict[str, Any]:
    """One live run at real time."""
    source = find_experiment("deadline")
    settings = [
        "algorithm=[odca]", f"nodes={nodes}", f"stop.messages={messages}",
        f"workload.interval.mean={nodes * 100}ms",
    ]  # fmt: skip
    (planned,) = plans(load(source, settings), source)
    options = LiveOptions(nodes_per_actor=-(-nodes // ACTORS))
    with tempfile.TemporaryDirectory() as folder, ray_session(options) as session:
        run = rundir.create(Path(folder), "solicitations")
        report = run_live(planned.plan, run, session)
        run.publish()
        asked, own = round_trips(run)
    late = report.lateness_ns
    return {
        "nodes": nodes,
        "actors": report.actors,
        "messages": report.totals.messages,
        "answered": len(asked),
        "round_trip_ms": _points(asked),
        "network_round_trip_ms": _points(own),
        "lateness_ms": {"p50": late["p50"] / 1e6, "p99": late["p99"] / 1e6},
        "goal_ms": GOAL_MS,
    }


def round_trips(run: RunDir) -> tuple[list[int], list[int]]:
    """Nanoseconds from question to answer, and of two one-way trips of messages."""
    rows = run.table(COLUMNS).sort_by([("node", "ascending"), ("seq", "ascending")]).to_pylist()
    sent = {(r["origin"], r["number"]): r["time"] for r in rows if r["event"] == "send"}
    open_since: dict[tuple[int, int], list[int]] = {}
    asked: list[int] = []
    one_way: list[int] = []
    for row in rows:
        pair = (row["node"], row["peer"])
        if row["event"] == "repair" and row["packet"] == QUESTION:
            open_since.setdefault(pair, []).append(row["time"])
        elif row["event"] == "receive" and row["packet"] in ANSWERS:
            questions = open_since.pop(pair, [])
            if len(questions) == 1:
                asked.append(row["time"] - questions[0])
        elif row["event"] == "receive" and row["packet"] == "data":
            one_way.append(row["time"] - sent[row["origin"], row["number"]])
    return asked, [out + back for out, back in pairwise(one_way)]


def _points(nanos: list[int]) -> dict[str, float]:
    cuts = quantiles(nanos, n=100)
    return {"p50": cuts[49] / 1e6, "p99": cuts[98] / 1e6}


def table(result: dict[str, Any]) -> str:
    lines = [f"{'ms':<24}{'p50':>8}{'p99':>8}"]
    for name, words in (
        ("round_trip_ms", "question to answer"),
        ("network_round_trip_ms", "the network's own"),
        ("lateness_ms", "lateness"),
    ):
        lines.append(f"{words:<24}{result[name]['p50']:>8.1f}{result[name]['p99']:>8.1f}")
    verdict = "within" if result["lateness_ms"]["p99"] <= GOAL_MS else "over"
    lines.append(
        f"{result['nodes']} nodes in {result['actors']} actors, {result['answered']} questions "
        f"answered; lateness {verdict} {GOAL_MS:g} ms"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    outcome = measure()
    print(table(outcome))
    print(json.dumps(outcome, indent=2))
