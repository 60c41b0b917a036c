"""Deadlines: broadcasts per second in virtual time, how that falls with n, what buffers hold.

Ahn's section 5 at its rate: one broadcast each 100 ms to the group, exponential deadlines of 500
ms, one copy in twenty lost, one-way delay normal around 100 ms; all algorithms meet the same
network, `immediate` among them, so that the share of the engine is seen. A second table gives the
group what its buffers can bear: payloads of 1 KB to 100 KB, and each member broadcasts ten times a
second; it says how many bytes the fullest process held, against the 128 MB it may use. There,
payloads and buffers are a hundredth of that, or this machine would hold what a hundred would.
Processor time counts. Growth is the exponent b of seconds per broadcast = a * n^b.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from typing import Any

from testbed.core.algorithm import Guarantee
from testbed.core.clocks import Clocks
from testbed.core.distribution import Exponential, Normal, Uniform
from testbed.core.network import LinkSpec, Loss, NetworkSpec
from testbed.engine.plan import Plan
from testbed.engine.virtual import VirtualEngine
from testbed.trace.oracle import Oracle, Verdict
from workloads.destinations import All
from workloads.traffic import Stop, Traffic

MS = 1_000_000
NODES = (16, 49, 100)
ALGORITHMS = ("immediate", "tdca", "odca", "odca[solicit=any]")
SCALE = 100
BUFFER_BYTES = 128_000_000 // SCALE
TIMED = 300
"""Broadcasts of each run."""

BUSY_MS = 1_500
"""How long the group with large payloads sends; several lifetimes, so that buffers are full."""


def plan(name: str, n: int, *, group_interval_ms: float, messages: int, payload: int) -> Plan:
    """One run; `group_interval_ms` is the mean time between two broadcasts of anybody."""
    return Plan(
        algorithm=name,
        n=n,
        seed=1,
        network=NetworkSpec(LinkSpec(latency=Normal(100 * MS, 20 * MS), loss=Loss(0.05))),
        traffic=Traffic(
            interval=Exponential(int(group_interval_ms * n * MS)),
            destinations=All(),
            payload_low=1_000 // SCALE if payload else 0,
            payload_high=payload,
            lifetime=Exponential(500 * MS),
        ),
        stop=Stop(messages=messages),
        clocks=Clocks(ahead=Uniform(0, 10 * MS), drift_ppb=50_000),
        buffer_bytes=BUFFER_BYTES,
    )


def speed(name: str, n: int) -> dict[str, float]:
    """Broadcasts per second of processor time, and what was delivered of them."""
    made = plan(name, n, group_interval_ms=100, messages=TIMED, payload=0)
    engine = VirtualEngine(made, None)
    started = time.process_time()
    totals = engine.run()
    seconds = time.process_time() - started
    owed = totals.messages * (n - 1)
    return {
        "broadcasts_per_second": totals.messages / seconds,
        "copies_per_second": totals.copies / seconds,
        "copies_per_owed": totals.copies / owed,
        "delivered": totals.delivered / owed,
    }


class Gauge(Oracle):
    """The audit, which also reads the buffers whenever something was delivered."""

    def __init__(self, n: int) -> None:
        super().__init__(range(n), guarantee=Guarantee.DEADLINE)
        self.engine: VirtualEngine | None = None
        self.peak = 0

    def deliver(
        self, node: int, message: tuple[int, int], time: int, clock: int | None = None
    ) -> None:
        super().deliver(node, message, time, clock)
        assert self.engine is not None
        self.peak = max(self.peak, self.engine.shells[node].node.buffered_bytes())


def buffers(name: str, n: int) -> dict[str, Any]:
    """The fullest process of a group in which each member broadcasts ten times a second."""
    gauge = Gauge(n)
    messages = BUSY_MS // 100 * n
    made = plan(name, n, group_interval_ms=100 / n, messages=messages, payload=100_000 // SCALE)
    gauge.engine = VirtualEngine(made, gauge)
    gauge.engine.run()
    audit = gauge.verdict()
    assert audit.verdict is Verdict.VALID, audit.why
    return {
        "peak_bytes": gauge.peak * SCALE,
        "share": gauge.peak / BUFFER_BYTES,
        "delivered": audit.delivered / audit.owed,
    }


def measure(nodes: tuple[int, ...] = NODES) -> dict[str, Any]:
    """Speed, growth and buffers, by algorithm and group size."""
    measured = {name: {n: speed(name, n) for n in nodes} for name in ALGORITHMS}
    growth = {
        name: statistics.linear_regression(
            [math.log(n) for n in by_n],
            [-math.log(row["broadcasts_per_second"]) for row in by_n.values()],
        ).slope
        for name, by_n in measured.items()
    }
    held = {name: {n: buffers(name, n) for n in nodes} for name in ("tdca", "odca")}
    return {"broadcasts": TIMED, "speed": measured, "growth": growth, "buffers": held}


def table(result: dict[str, Any]) -> str:
    lines = [
        f"{'':<20}{'n':>5}{'broadcasts/s':>14}{'copies/s':>10}{'copies/owed':>13}{'delivered':>11}"
    ]
    for name, by_n in result["speed"].items():
        for n, row in by_n.items():
            lines.append(
                f"{name:<20}{n:>5}{row['broadcasts_per_second']:>14.0f}"
                f"{row['copies_per_second']:>10.0f}{row['copies_per_owed']:>13.2f}"
                f"{row['delivered']:>11.3f}"
            )
        lines.append(f"{name:<20}{'n^':>5}{result['growth'][name]:>14.2f}")
    lines += ["", f"{'buffers, 1 to 100 KB':<20}{'n':>5}{'peak MB':>14}{'of 128 MB':>10}"]
    for name, by_n in result["buffers"].items():
        for n, row in by_n.items():
            lines.append(f"{name:<20}{n:>5}{row['peak_bytes'] / 1e6:>14.1f}{row['share']:>10.1%}")
    return "\n".join(lines)


if __name__ == "__main__":
    outcome = measure()
    print(table(outcome))
    print(json.dumps(outcome, indent=2))
