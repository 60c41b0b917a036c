"""The hunter: schedules per second and core, four nodes and twelve messages.

Everything counts: a schedule is made up, run with real shells and real bytes, and audited. Chunks
of all algorithms take turns, and the median chunk counts. `ks` has a goal; the others stand beside
it. Seconds are processor time of the one core that is used; wall time is shown beside it.
"""

from __future__ import annotations

import json
import statistics
import time
from typing import Any

from testbed.hunt.generate import Shape
from testbed.hunt.hunter import run_chunk

ALGORITHMS = ("ks", "prs", "rst", "bss")
SHAPE = Shape(n=4, messages=12)
CHUNK = 50
ROUNDS = 40
GOALS = {"ks": 1_000.0}


def measure() -> dict[str, Any]:
    cpu: dict[str, list[float]] = {name: [] for name in ALGORITHMS}
    wall: dict[str, list[float]] = {name: [] for name in ALGORITHMS}
    deliveries = dict.fromkeys(ALGORITHMS, 0)
    for number in range(ROUNDS):
        for name in ALGORITHMS:
            started, used = time.perf_counter(), time.process_time()
            tally, finds = run_chunk(name, 1, SHAPE, range(number * CHUNK, (number + 1) * CHUNK))
            cpu[name].append(time.process_time() - used)
            wall[name].append(time.perf_counter() - started)
            assert not finds, finds[0].prose
            deliveries[name] += tally.deliveries
    return {
        "nodes": SHAPE.n,
        "messages": SHAPE.messages,
        "schedules": ROUNDS * CHUNK,
        "schedules_per_second": {name: CHUNK / statistics.median(cpu[name]) for name in cpu},
        "schedules_per_second_wall": {name: CHUNK / statistics.median(wall[name]) for name in wall},
        "deliveries_per_schedule": {n: d / ROUNDS / CHUNK for n, d in deliveries.items()},
        "goals": GOALS,
        "times_goal": {
            name: CHUNK / statistics.median(cpu[name]) / goal for name, goal in GOALS.items()
        },
    }


def table(result: dict[str, Any]) -> str:
    lines = [f"{'':<6}{'schedules/s/core':>18}{'wall':>9}{'deliveries each':>18}{'goal':>9}"]
    for name, rate in result["schedules_per_second"].items():
        goal = f"{GOALS[name]:>9,.0f}" if name in GOALS else ""
        lines.append(
            f"{name:<6}{rate:>18,.0f}{result['schedules_per_second_wall'][name]:>9,.0f}"
            f"{result['deliveries_per_schedule'][name]:>18.1f}{goal}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    outcome = measure()
    print(table(outcome))
    print(json.dumps(outcome, indent=2))
