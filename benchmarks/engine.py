"""The virtual engine against SimPy: the same traffic, 100 nodes, everything broadcast.

The SimPy model is lean: a process per node that sends, a process per node that waits at its Store,
and latency as a timeout whose callback puts the copy into the Store, so that no copy is a process.
It carries no bytes, orders nothing and writes nothing. Ours encodes and decodes every copy and
runs the algorithm `immediate`; once with the trace written to Parquet, once without a trace.

Repetitions are interleaved and medians compared, since a machine is never quiet. Processor time
counts, that of the thread that writes the trace included; wall time is shown beside it.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import simpy

from testbed.algorithms import find
from testbed.core.distribution import Exponential
from testbed.core.network import LinkSpec, NetworkSpec
from testbed.engine.plan import Plan
from testbed.engine.virtual import VirtualEngine
from testbed.trace import rundir
from testbed.trace.recorder import Recorder
from workloads.destinations import All
from workloads.traffic import Stop, Traffic

NODES = 100
MESSAGES = 3_000
INTERVAL_NS = 100_000_000
LATENCY_NS = 50_000_000
ROUNDS = 5
GOALS = {"traced": 1.0, "untraced": 3.0}

PLAN = Plan(
    algorithm="immediate",
    n=NODES,
    seed=1,
    network=NetworkSpec(LinkSpec(latency=Exponential(LATENCY_NS))),
    traffic=Traffic(interval=Exponential(INTERVAL_NS), destinations=All()),
    stop=Stop(messages=MESSAGES),
)


def with_simpy() -> int:
    """Copies received by a SimPy model of the same traffic."""
    env = simpy.Environment()
    draw = random.Random(1).expovariate
    stores = [simpy.Store(env) for _ in range(NODES)]
    received = [0] * NODES

    def into(store: simpy.Store) -> Callable[[simpy.Event], None]:
        def put(arrival: simpy.Event) -> None:
            store.put(arrival.value)

        return put

    def sender(me: int) -> Generator[simpy.Event, Any, None]:
        others = [into(stores[node]) for node in range(NODES) if node != me]
        for number in range(MESSAGES // NODES):
            yield env.timeout(draw(1 / INTERVAL_NS))
            for put in others:
                arrival = env.timeout(draw(1 / LATENCY_NS), (me, number))
                arrival.callbacks.append(put)

    def receiver(me: int) -> Generator[simpy.Event, Any, None]:
        while True:
            yield stores[me].get()
            received[me] += 1

    for node in range(NODES):
        env.process(sender(node))
        env.process(receiver(node))
    env.run()
    return sum(received)


def untraced() -> int:
    return VirtualEngine(PLAN, None).run().copies


def traced() -> int:
    """Everything on: rows packed, spooled, published as Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        run = rundir.create(Path(folder), "bench-0001")
        recorder = Recorder(run.id, run.spool / "part-0.arrows", find(PLAN.algorithm).packet_names)
        copies = VirtualEngine(PLAN, recorder).run().copies
        recorder.close()
        run.publish()
    return copies


ARMS: dict[str, Callable[[], int]] = {
    "simpy": with_simpy,
    "traced": traced,
    "untraced": untraced,
}


def measure() -> dict[str, Any]:
    """Microseconds per copy of each arm, and how many times as fast as SimPy ours are."""
    cpu_us: dict[str, list[float]] = {name: [] for name in ARMS}
    wall_us: dict[str, list[float]] = {name: [] for name in ARMS}
    for _ in range(ROUNDS):
        for name, arm in ARMS.items():
            wall, cpu = time.perf_counter(), time.process_time()
            copies = arm()
            cpu_us[name].append((time.process_time() - cpu) / copies * 1e6)
            wall_us[name].append((time.perf_counter() - wall) / copies * 1e6)
    cpu_median = {name: statistics.median(values) for name, values in cpu_us.items()}
    wall_median = {name: statistics.median(values) for name, values in wall_us.items()}
    return {
        "nodes": NODES,
        "copies": copies,
        "rounds": ROUNDS,
        "us_per_copy": cpu_median,
        "us_per_copy_wall": wall_median,
        "copies_per_second": {name: 1e6 / us for name, us in cpu_median.items()},
        "times_simpy": {name: cpu_median["simpy"] / cpu_median[name] for name in GOALS},
        "times_simpy_wall": {name: wall_median["simpy"] / wall_median[name] for name in GOALS},
        "goals": GOALS,
        "profile": {name: profile(ARMS[name]) for name in GOALS},
    }


def profile(arm: Callable[[], int], top: int = 12) -> list[dict[str, Any]]:
    """The functions that most of the time is spent in, as shares of the whole."""
    profiler = cProfile.Profile()
    profiler.runcall(arm)
    stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined]  # not in the stubs
    total = sum(own for _, _, own, _, _ in stats.values())
    largest = sorted(stats.items(), key=lambda item: -item[1][2])[:top]
    return [
        {
            "function": f"{Path(file).stem}.{function}" if line else function,
            "calls": calls,
            "share": own / total,
        }
        for (file, line, function), (_, calls, own, _, _) in largest
    ]


def table(result: dict[str, Any]) -> str:
    lines = [f"{'':<10}{'us/copy':>9}{'wall':>9}{'x SimPy':>9}{'wall':>9}{'goal':>7}"]
    for name in ARMS:
        line = (
            f"{name:<10}{result['us_per_copy'][name]:>9.2f}{result['us_per_copy_wall'][name]:>9.2f}"
        )
        if name in GOALS:
            line += f"{result['times_simpy'][name]:>9.2f}{result['times_simpy_wall'][name]:>9.2f}"
            line += f"{GOALS[name]:>7.1f}"
        lines.append(line)
    for name, rows in result["profile"].items():
        lines += ["", f"where the time goes, {name} (under the profiler):"]
        lines += [f"  {row['share']:>6.1%}  {row['calls']:>8}  {row['function']}" for row in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    outcome = measure()
    print(table(outcome))
    print(json.dumps(outcome, indent=2))
