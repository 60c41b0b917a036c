"""Live: the highest load that each transport carries without falling behind, and their ratio.

The question beside `live`, which offers more than either can carry: there backlogs grow, everything
becomes concurrent and an algorithm's own work grows with the backlog. Here the load is one that is
kept up with. The definition, fixed before the first measurement and equal for both transports:

    load      messages per second of all nodes together, sent at exponential intervals for
              SECONDS; 40 actors with one node each, latency 1 ms, 64 bytes of payload
    carried   all is delivered, and of all sends and arrivals 99 in 100 are handled at most
              LATE_MS after they were due; a load that grows a backlog of a twelfth of what is
              offered fails this
    figure    copies delivered per second of sending under the highest load that is carried

Loads are steps of 2^(1/4). From a low start the load doubles until it is not carried, then the
steps between are tried by bisection; so an actor never has more than twice what it can carry. A
load that is not carried is tried once more: a neighbour on the machine can only spoil a try.
Ray goes first. Workloads, shells and traces are the same; nothing but the transport differs.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from actors.engine import LiveOptions, ray_session, run_live
from benchmarks.live import ACTORS, GOAL, MILLISECOND, broadcasts_or_mixed
from testbed.core.errors import EngineError
from testbed.engine.plan import Plan
from testbed.trace import rundir

WORKLOADS = ("bss", "ks", "ks mixed")
SECONDS = 3
LATE_MS = 250
TRIES = 2
STEPS_PER_DOUBLING = 4
START = {"ray": 3 * STEPS_PER_DOUBLING, "direct": 6 * STEPS_PER_DOUBLING}
"""8 and 64 messages per second, as steps."""


def messages_per_second(step: int) -> float:
    return float(2 ** (step / STEPS_PER_DOUBLING))


def offered(workload: str, n: int, step: int) -> Plan:
    """The plan that offers this load for SECONDS."""
    rate = messages_per_second(step)
    return broadcasts_or_mixed(workload, n, max(1, round(rate * SECONDS)), n / rate * 1000)


def highest(carries: Callable[[int], bool], start: int) -> int:
    """The highest step that is carried while the next is not, if there is only one such step."""
    low = start
    while not carries(low):
        low -= STEPS_PER_DOUBLING
        if low < 0:
            raise EngineError("not even one message per second is carried: the machine is busy")
    high = low + STEPS_PER_DOUBLING
    while carries(high):
        low, high = high, high + STEPS_PER_DOUBLING
    while high - low > 1:
        middle = (low + high) // 2
        if carries(middle):
            low = middle
        else:
            high = middle
    return low


class Arm:
    """One workload over one transport, and every try of it."""

    def __init__(self, folder: Path, workload: str, transport: str, n: int) -> None:
        self._folder = folder
        self._workload = workload
        self._transport = transport
        self._n = n
        self.tries: list[dict[str, Any]] = []

    def carries(self, step: int) -> bool:
        return any(self._try(step) for _ in range(TRIES))

    def _try(self, step: int) -> bool:
        plan = offered(self._workload, self._n, step)
        outline = plan.outline()
        name = f"{self._workload}-{self._transport}-{len(self.tries)}".replace(" ", "-")
        run = rundir.create(self._folder, name)
        report = run_live(plan, run, LiveOptions(transport=self._transport))
        late_ms = report.lateness_ns["p99"] / MILLISECOND
        carried = late_ms <= LATE_MS and report.totals.delivered == outline.copies
        self.tries.append({
            "step": step,
            "messages_per_second": messages_per_second(step),
            "copies_per_second": report.totals.delivered / outline.last_send * 1e9,
            "late_p99_ms": late_ms,
            "carried": carried,
        })  # fmt: skip
        return carried

    def result(self) -> dict[str, Any]:
        best = highest(self.carries, START[self._transport])
        kept = next(t for t in self.tries if t["step"] == best and t["carried"])
        return kept | {"tries": self.tries}


def measure(n: int = ACTORS, workloads: Iterable[str] = WORKLOADS) -> dict[str, Any]:
    """Copies per second that are carried, by workload and transport, and the ratios."""
    results: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory(prefix="causalbed-bench-") as folder,
        ray_session(LiveOptions()),
    ):
        for transport in START:  # actors and connections are made before anything is measured
            Arm(Path(folder) / "warm-up", "bss", transport, n).carries(START["ray"])
        for workload in workloads:
            rates = {t: Arm(Path(folder), workload, t, n).result() for t in START}
            ratio = rates["direct"]["copies_per_second"] / rates["ray"]["copies_per_second"]
            results[workload] = rates | {"ratio": ratio}
    return {"actors": n, "goal": GOAL, "seconds": SECONDS, "late_ms": LATE_MS, "loads": results}


def table(result: dict[str, Any]) -> str:
    lines = [
        f"{'workload':10} {'transport':10} {'messages/s':>10} {'copies/s':>9} {'p99 late ms':>12} "
        f"{'tries':>6}"
    ]
    for workload, rates in result["loads"].items():
        for transport in START:
            row = rates[transport]
            lines.append(
                f"{workload:10} {transport:10} {row['messages_per_second']:10.0f} "
                f"{row['copies_per_second']:9.0f} {row['late_p99_ms']:12.0f} "
                f"{len(row['tries']):6d}"
            )
        lines.append(
            f"{workload:10} direct keeps up with {rates['ratio']:.1f} times as much "
            f"(goal: {result['goal']})"
        )
    return "\n".join(lines)


def main() -> int:
    result = measure()
    print(table(result))
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
