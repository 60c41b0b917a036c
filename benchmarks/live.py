"""Live: what direct connections carry, against one Ray call per message, between the same actors.

40 actors with one node each. All messages are due within a millisecond, so that the actors have
work from the start to the end; copies delivered per wall second count. Both transports run the
same algorithm, the same shells, the same trace; the ray transport gets fewer messages, because it
would take minutes otherwise.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from actors.engine import LiveOptions, ray_session, run_live
from testbed.core.distribution import Constant, Exponential
from testbed.core.network import LinkSpec, NetworkSpec
from testbed.engine.plan import Plan
from testbed.trace import rundir
from workloads.destinations import All, Uniform
from workloads.traffic import Stop, Traffic

MICROSECOND = 1_000
MESSAGES = {("bss", "direct"): 8_000, ("bss", "ray"): 400, ("ks", "direct"): 24_000, ("ks", "ray"): 2_400}
"""Chosen so that each measurement takes between 5 and 15 seconds on two cores."""


def saturating(algorithm: str, n: int, messages: int) -> Plan:
    """Everything is due at once: whoever is slow is the transport or the processor."""
    destinations = All() if algorithm == "bss" else Uniform()
    return Plan(
        algorithm=algorithm,
        n=n,
        seed=1,
        network=NetworkSpec(LinkSpec(latency=Constant(100 * MICROSECOND))),
        traffic=Traffic(
            interval=Exponential(MICROSECOND),
            destinations=destinations,
            multicast=1.0 if algorithm == "bss" else 0.1,
            payload_low=64,
            payload_high=64,
        ),
        stop=Stop(messages=messages),
    )


def measure(
    n: int = 40, algorithms: Iterable[str] = ("bss", "ks"), scale: float = 1.0
) -> dict[str, Any]:
    """Copies delivered per second, by algorithm and transport, and the ratio."""
    results: dict[str, Any] = {"actors": n}
    with tempfile.TemporaryDirectory(prefix="causalbed-bench-") as folder, ray_session(LiveOptions()):
        for algorithm in algorithms:
            rates = {}
            for transport in ("ray", "direct"):
                plan = saturating(algorithm, n, int(MESSAGES[algorithm, transport] * scale))
                run = rundir.create(Path(folder), f"{algorithm}-{transport}")
                report = run_live(plan, run, LiveOptions(transport=transport))
                rates[transport] = {
                    "copies": report.totals.delivered,
                    "seconds": report.wall_seconds,
                    "copies_per_second": report.totals.delivered / report.wall_seconds,
                }
            ratio = rates["direct"]["copies_per_second"] / rates["ray"]["copies_per_second"]
            results[algorithm] = rates | {"ratio": ratio}
    return results


def main() -> int:
    results = measure()
    print(f"{'algorithm':10} {'transport':10} {'copies':>9} {'seconds':>8} {'copies/s':>10}")
    for algorithm, rates in results.items():
        if algorithm == "actors":
            continue
        for transport in ("ray", "direct"):
            row = rates[transport]
            print(
                f"{algorithm:10} {transport:10} {row['copies']:9d} {row['seconds']:8.2f} "
                f"{row['copies_per_second']:10.0f}"
            )
        print(f"{algorithm:10} direct carries {rates['ratio']:.1f} times as much (goal: 10)")
    print(json.dumps(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
