"""Mobile systems: events per second, what a hand-off costs, and how punctual two hundred hosts are.

virtual   10 stations, 100 hosts; each sends once a second and changes its cell every five.
          Events are sends, frames and moves, per second of processor time; beside them the same
          number of processes that stay where they are, under `immediate`, in the same minute.
hand-off  40 hosts at 5 to 40 stations, moving every two seconds and sending every ten. What
          crosses the wires, and what the stations' own steps take, less the same sends without
          a move, per hand-off: so it is counted whatever an algorithm calls its packets.
live      20 stations and 200 hosts, packed, at real time; sending and moving as in `virtual`.
          Lateness is how long after its due time a frame, a send or a move is handled; `cores` is
          what the actors use of the machine, and hardly depends on what else it does.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from actors.engine import LiveOptions, LiveReport, RaySession, ray_session, run_live
from benchmarks.live import cpu_seconds
from benchmarks.roaming import MILLISECOND, SECOND, WIRED, MeteredEngine, roaming
from testbed.algorithms import algorithms
from testbed.core.distribution import Exponential
from testbed.core.network import NetworkSpec
from testbed.core.world import World
from testbed.engine.moves import moves
from testbed.engine.plan import Plan
from testbed.engine.virtual import VirtualEngine
from testbed.trace import rundir
from workloads.destinations import Uniform
from workloads.traffic import Stop, Traffic

CAMPUS = World(stations=10, hosts=100)
CAMPUS_MESSAGES = 500
RETRY = SECOND
ACROSS = ("av1", "av2", "av3", "prs-mobile")
STATIONS = (5, 10, 20, 40)
HAND_OFF_HOSTS = 40
HAND_OFF_MESSAGES = 80
CROWD = World(stations=20, hosts=200)
LIVE = ("av1", "av2", "prs-mobile")
LIVE_SECONDS = 15
LATENESS_GOAL_MS = 10


def measure() -> dict[str, Any]:
    return {"virtual": virtual(), "hand_off": hand_offs(), "live": live()}


# --- virtual time -----------------------------------------------------------------------------


def virtual() -> dict[str, Any]:
    """Events per second of each mobile algorithm, and of processes that stay where they are."""
    mobile = [name for name, algorithm in algorithms().items() if algorithm.is_mobile]
    rates = {name: _events_per_second(_campus(name)) for name in mobile}
    beside = _events_per_second(_standing())
    return {
        "stations": CAMPUS.stations,
        "hosts": CAMPUS.hosts,
        "messages": CAMPUS_MESSAGES,
        "events_per_second": rates,
        "standing": beside,
        "times_standing": {name: rate / beside for name, rate in rates.items()},
    }


def _campus(name: str) -> Plan:
    return roaming(
        name, CAMPUS, messages=CAMPUS_MESSAGES, multicast=0.2, destinations=Uniform(2, 8),
        retry_after=RETRY if algorithms()[name].is_on_hosts_alone else None,
    )  # fmt: skip


def _standing() -> Plan:
    traffic = Traffic(interval=Exponential(SECOND), destinations=Uniform(2, 8), multicast=0.2)
    return Plan(
        algorithm="immediate", n=CAMPUS.n, seed=1, network=NetworkSpec(WIRED), traffic=traffic,
        stop=Stop(messages=20 * CAMPUS_MESSAGES),
    )  # fmt: skip


def _events_per_second(plan: Plan) -> float:
    engine = VirtualEngine(plan, None)
    steps = sum(
        len(list(moves(stays, plan.notice)))
        for stays in plan.itineraries(plan.last_send()).values()
    )
    started = time.process_time()
    totals = engine.run()
    return (totals.copies + totals.messages + steps) / (time.process_time() - started)


# --- hand-offs --------------------------------------------------------------------------------


def hand_offs() -> dict[str, Any]:
    """Per algorithm and number of stations: what one hand-off costs."""
    known = [name for name in ACROSS if name in algorithms()]
    return {
        "hosts": HAND_OFF_HOSTS,
        "per_hand_off": {
            name: {str(stations): hand_off(name, stations) for stations in STATIONS}
            for name in known
        },
    }


def hand_off(name: str, stations: int) -> dict[str, float]:
    """Messages and bytes over the wires, and microseconds of the stations' steps."""
    world = World(stations, HAND_OFF_HOSTS)
    moving, standing = (
        MeteredEngine(
            roaming(
                name, world, messages=HAND_OFF_MESSAGES, send_every=10 * SECOND,
                move_every=move_every,
            )
        )
        for move_every in (2 * SECOND, None)
    )  # fmt: skip
    for engine in (moving, standing):
        engine.run()
    more, less = moving.ledger, standing.ledger
    return {
        "hand_offs": more.handoffs,
        "messages": (more.wired_frames - less.wired_frames) / more.handoffs,
        "bytes": (more.wired_bytes - less.wired_bytes) / more.handoffs,
        "us": (more.station_cpu_ns - less.station_cpu_ns) / more.handoffs / 1_000,
    }


# --- live -------------------------------------------------------------------------------------


def live() -> dict[str, Any]:
    """Lateness of a crowd at real time, by algorithm, with an actor for each core."""
    known = [name for name in LIVE if name in algorithms()]
    runs: dict[str, Any] = {}
    options = LiveOptions(nodes_per_actor=-(-CROWD.n // (os.cpu_count() or 1)), speed=1.0)
    with (
        tempfile.TemporaryDirectory(prefix="causalbed-bench-") as folder,
        ray_session(options) as session,
    ):
        for name in known:
            ready = _run(folder, f"{name}-ready", crowd(name, seconds=1), session)
            spent = _cpu_seconds(ready)
            report = _run(folder, name, crowd(name), session)
            runs[name] = _punctuality(report, _cpu_seconds(report) - spent)
    return {
        "stations": CROWD.stations,
        "hosts": CROWD.hosts,
        "seconds": LIVE_SECONDS,
        "goal_ms": LATENESS_GOAL_MS,
        "runs": runs,
    }


def crowd(name: str, *, seconds: int = LIVE_SECONDS) -> Plan:
    """Unicasts of two hundred hosts, each once a second."""
    plan = roaming(name, CROWD, messages=1)
    return msgspec.structs.replace(plan, stop=Stop(duration=seconds * SECOND))


def _run(folder: str, name: str, plan: Plan, session: RaySession) -> LiveReport:
    return run_live(plan, rundir.create(Path(folder), name), session)


def _cpu_seconds(report: LiveReport) -> float:
    """Of the actors of a run, from their start until now."""
    return sum(cpu_seconds(process) for process in report.processes)


def _punctuality(report: LiveReport, spent: float) -> dict[str, float]:
    late = report.lateness_ns
    return {
        "cores": spent / report.wall_seconds,
        "actors": report.actors,
        "messages": report.totals.messages,
        "delivered": report.totals.delivered,
        "events": late["count"],
        "p50_ms": late["p50"] / MILLISECOND,
        "p99_ms": late["p99"] / MILLISECOND,
        "max_ms": late["max"] / MILLISECOND,
    }


# --- the table --------------------------------------------------------------------------------


def table(result: dict[str, Any]) -> str:
    campus = result["virtual"]
    lines = [f"{'virtual':18}{'events/s':>10}{'x standing':>12}"]
    for name, rate in campus["events_per_second"].items():
        lines.append(f"{name:18}{rate:>10,.0f}{campus['times_standing'][name]:>12.2f}")
    lines.append(f"{'(standing)':18}{campus['standing']:>10,.0f}")
    lines += ["", f"{'hand-off':12}{'stations':>9}{'messages':>10}{'bytes':>9}{'us':>8}"]
    for name, by_stations in result["hand_off"]["per_hand_off"].items():
        for stations, cost in by_stations.items():
            lines.append(
                f"{name:12}{stations:>9}{cost['messages']:>10.1f}{cost['bytes']:>9,.0f}"
                f"{cost['us']:>8,.0f}"
            )
    lines += ["", f"{'live':12}{'cores':>7}{'events':>9}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}"]
    for name, run in result["live"]["runs"].items():
        verdict = "within" if run["p99_ms"] <= LATENESS_GOAL_MS else "over"
        lines.append(
            f"{name:12}{run['cores']:>7.2f}{run['events']:>9,}{run['p50_ms']:>9.2f}"
            f"{run['p99_ms']:>9.2f}{run['max_ms']:>9.1f}  {verdict} {LATENESS_GOAL_MS} ms"
        )
    return "\n".join(lines)


def main() -> int:
    result = measure()
    print(table(result))
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
