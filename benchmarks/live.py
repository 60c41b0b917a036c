"""Live: what direct connections carry, against one Ray call per message, between the same actors.

40 actors with one node each, more messages offered than either transport can carry, so that the
actors have work from the start to the end; copies delivered per wall second count. Both transports
run the same algorithm, shells and trace; Ray calls get fewer messages, or it would take minutes.
Processor time per copy stands beside it: it hardly depends on what else the machine does.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from actors.engine import LiveOptions, LiveReport, ray_session, run_live
from testbed.core.distribution import Constant, Exponential
from testbed.core.network import LinkSpec, NetworkSpec
from testbed.engine.plan import Plan
from testbed.trace import rundir
from workloads.destinations import All, Uniform
from workloads.traffic import Stop, Traffic

MILLISECOND = 1_000_000
ACTORS = 40
GOAL = 10


class Load(NamedTuple):
    """What is offered: so many messages in all, one per node and interval."""

    messages: int
    interval_ms: float


LOADS = {
    ("bss", "direct"): Load(6_000, 1),
    ("bss", "ray"): Load(300, 1),
    ("ks", "direct"): Load(3_000, 1),
    ("ks", "ray"): Load(300, 1),
    ("ks mixed", "direct"): Load(4_000, 25),
    ("ks mixed", "ray"): Load(600, 25),
}
"""The same rate for both transports, at or above what two cores can carry. `bss` and `ks` carry the
same broadcasts; in `ks mixed` half of the messages are unicasts, which makes logs of hundreds of
entries under overload, so that the algorithm's own work, not the transport, decides."""


def saturating(algorithm: str, n: int, load: Load) -> Plan:
    return broadcasts_or_mixed(algorithm, n, load.messages, load.interval_ms)


def broadcasts_or_mixed(workload: str, n: int, messages: int, interval_ms: float) -> Plan:
    """Of an algorithm, or of one and `mixed`: so many messages, one per node and interval."""
    algorithm, _, mixed = workload.partition(" ")
    broadcast = not mixed
    return Plan(
        algorithm=algorithm,
        n=n,
        seed=1,
        network=NetworkSpec(LinkSpec(latency=Constant(MILLISECOND))),
        traffic=Traffic(
            interval=Exponential(int(interval_ms * MILLISECOND)),
            destinations=All() if broadcast else Uniform(),
            multicast=1.0 if broadcast else 0.5,
            payload_low=64,
            payload_high=64,
        ),
        stop=Stop(messages=messages),
    )


def measure(
    n: int = ACTORS, algorithms: Iterable[str] = ("bss", "ks", "ks mixed")
) -> dict[str, Any]:
    """Copies delivered per second, by algorithm and transport, and the ratios."""
    results: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory(prefix="causalbed-bench-") as folder,
        ray_session(LiveOptions()),
    ):
        _run(folder, "warm-up", saturating("bss", n, Load(n, 10)), "direct")
        for algorithm in algorithms:
            rates = {}
            for transport in ("ray", "direct"):
                plan = saturating(algorithm, n, LOADS[algorithm, transport])
                rates[transport] = _measure_one(
                    folder, f"{algorithm}-{transport}".replace(" ", "-"), plan, transport
                )
            direct, ray = rates["direct"], rates["ray"]
            results[algorithm] = rates | {
                "ratio": direct["copies_per_second"] / ray["copies_per_second"],
                "cpu_ratio": ray["cpu_us_per_copy"] / direct["cpu_us_per_copy"],
            }
    return {"actors": n, "goal": GOAL, "algorithms": results}


def _measure_one(folder: str, name: str, plan: Plan, transport: str) -> dict[str, float]:
    before = _run(folder, f"{name}-ready", saturating("bss", plan.n, Load(1, 1)), transport)
    spent = sum(cpu_seconds(process) for process in before.processes)
    report = _run(folder, name, plan, transport)
    spent = sum(cpu_seconds(process) for process in report.processes) - spent
    copies = report.totals.delivered
    return {
        "copies": copies,
        "seconds": report.wall_seconds,
        "copies_per_second": copies / report.wall_seconds,
        "cpu_us_per_copy": spent / copies * 1e6,
    }


def _run(folder: str, name: str, plan: Plan, transport: str) -> LiveReport:
    run = rundir.create(Path(folder), name.replace(" ", "-"))
    return run_live(plan, run, LiveOptions(transport=transport))


def cpu_seconds(process: int) -> float:
    """User and system time of a process so far, all its threads together."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table(result: dict[str, Any]) -> str:
    lines = [
        f"{'algorithm':10} {'transport':10} {'copies':>9} {'seconds':>8} {'copies/s':>10} "
        f"{'cpu us/copy':>12}"
    ]
    for algorithm, rates in result["algorithms"].items():
        for transport in ("ray", "direct"):
            row = rates[transport]
            lines.append(
                f"{algorithm:10} {transport:10} {row['copies']:9d} {row['seconds']:8.2f} "
                f"{row['copies_per_second']:10.0f} {row['cpu_us_per_copy']:12.0f}"
            )
        lines.append(
            f"{algorithm:10} direct carries {rates['ratio']:.1f} times as much (goal: "
            f"{result['goal']}) and takes 1/{rates['cpu_ratio']:.1f} of the processor time per copy"
        )
    return "\n".join(lines)


def main() -> int:
    result = measure()
    print(table(result))
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
