"""What hosts pay for ordering messages themselves: bytes and integers in the air per delivery.

The same sends and the same moves for all; only who orders, and by what, differs:

    av1               stations order by a matrix per host; the air carries none of it
    host-rst          hosts order by a matrix, stations relay        (AV 1.1, F2)
    host-prs-relayed  hosts order by causal barriers, stations relay (PRS 9.3)
    host-rst-direct   hosts order by a matrix, host to host over the air
    host-prs          hosts order by causal barriers, host to host over the air (PRS 9.3)

Counted are all frames that are put on the air, acknowledgements and repetitions included. Four
messages in five are unicasts, the others go to two to eight hosts; every host sends once a second
and changes its cell every five. Nothing here depends on the speed of the machine.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.roaming import MILLISECOND, PAYLOAD, MeteredEngine, roaming
from testbed.core.world import World
from workloads.destinations import Uniform

ALGORITHMS = ("av1", "host-rst", "host-prs-relayed", "host-rst-direct", "host-prs")
PAIRS = (("host-rst", "host-prs-relayed"), ("host-rst-direct", "host-prs"))
"""Matrix and barrier over the same air."""
STATIONS = 5
HOSTS = (5, 10, 20, 40, 80)
MESSAGES_PER_HOST = 15
RETRY = 400 * MILLISECOND
"""Beyond the round trip of the largest matrix at 1 Mbit/s."""


def measure(hosts: tuple[int, ...] = HOSTS) -> dict[str, Any]:
    """Per algorithm and number of hosts: bytes, integers and frames in the air per delivery."""
    results: dict[str, dict[str, dict[str, float]]] = {}
    for n_h in hosts:
        results[str(n_h)] = {name: one(name, n_h) for name in ALGORITHMS}
    return {
        "payload_bytes": PAYLOAD,
        "stations": STATIONS,
        "per_delivery": results,
        "matrix_over_barrier": {
            n_h: {
                barrier: by_name[matrix]["bytes"] / by_name[barrier]["bytes"]
                for matrix, barrier in PAIRS
            }
            for n_h, by_name in results.items()
        },
    }


def one(name: str, n_h: int) -> dict[str, float]:
    engine = MeteredEngine(
        roaming(
            name,
            World(STATIONS, n_h),
            messages=MESSAGES_PER_HOST * n_h,
            multicast=0.2,
            destinations=Uniform(2, min(8, n_h - 1)),
            retry_after=RETRY,
        )
    )
    delivered = engine.run().delivered
    return {
        "bytes": engine.air_bytes / delivered,
        "ints": engine.ledger.air_ints / delivered,
        "frames": engine.air_frames / delivered,
    }


def table(result: dict[str, Any]) -> str:
    lines = [f"{'hosts':>6} {'':18}{'bytes':>9}{'integers':>10}{'frames':>8}   per delivery"]
    for n_h, by_name in result["per_delivery"].items():
        for name, row in by_name.items():
            lines.append(
                f"{n_h:>6} {name:18}{row['bytes']:>9.0f}{row['ints']:>10.1f}{row['frames']:>8.2f}"
            )
        for barrier, times in result["matrix_over_barrier"][n_h].items():
            lines.append(f"{'':>6} {barrier} puts 1/{times:.1f} of the matrix's bytes on the air")
    return "\n".join(lines)


if __name__ == "__main__":
    outcome = measure()
    print(table(outcome))
    print(json.dumps(outcome, indent=2))
