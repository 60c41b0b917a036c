"""The live engine: one plan on Ray actors, in real time, into a run directory.

`speed: None` finds the speed by running: from 1.0, and as long as the 99th percentile of lateness
is over budget, the trace is thrown away and the run is made again at half the speed, four times
at most. The report tells the speed of the run that was kept.
"""

from __future__ import annotations

import msgspec
import ray

from actors.direct import has_curve
from actors.drive import Death, Drive, Progress, clear
from actors.graves import Kill, with_whole_actors
from actors.lateness import Lateness
from actors.placement import homes, nodes_per_actor_auto
from actors.session import LiveOptions, RaySession, ray_session, uninterrupted
from testbed.core.errors import BadInput, EngineError
from testbed.core.model import Nanos
from testbed.engine.plan import Outline, Plan
from testbed.engine.virtual import Totals
from testbed.trace.rundir import RunDir

__all__ = [
    "ActorLost",
    "LiveOptions",
    "LiveReport",
    "RaySession",
    "has_curve",
    "ray_session",
    "run_live",
]

LATENESS_BUDGET: Nanos = 10_000_000
"""Emulated; beyond it the timing of a run is not to be trusted."""
SLOWDOWNS_MAX = 4
TRANSPORTS = ("direct", "ray")


class LiveReport(msgspec.Struct, kw_only=True):
    """What a live run amounted to, and how far to trust its timing."""

    totals: Totals
    lateness_ns: dict[str, int]
    """p50, p99, max, count, budget; emulated nanoseconds."""
    speed: float
    actors: int
    wall_seconds: float
    """From the common start until all was quiet."""
    warnings: list[str]
    rows_lost: int = 0
    """At least so many rows of the trace died with their actors."""
    deaths: list[Death] = msgspec.field(default_factory=list)
    kills: list[Kill] = msgspec.field(default_factory=list)
    """Actors that the fault schedule had killed, each with its evidence."""
    processes: list[int] = msgspec.field(default_factory=list)
    clock_error_ns: int = 0
    """How far the clocks of two machines may be apart; 0 on one machine."""
    refused: int = 0
    """Envelopes that were foreign or broken, and ignored."""


class ActorLost(EngineError):
    """An actor died during the run; `report` says what is left of it."""

    def __init__(self, report: LiveReport) -> None:
        first = report.deaths[0]
        super().__init__(
            f"actor {first.actor} (nodes {', '.join(map(str, first.nodes))}) died during the run; "
            f"at least {report.rows_lost} rows of the trace are lost, the rest is readable"
        )
        self.report = report


def run_live(
    plan: Plan,
    run: RunDir,
    options: LiveOptions | RaySession,
    *,
    progress: Progress | None = None,
) -> LiveReport:
    """Run the plan to its end; raises ActorLost, or what went wrong, with the trace published.

    A session stands for the options that it was opened with.
    """
    if isinstance(options, RaySession):
        options = options.options
    if options.transport not in TRANSPORTS:
        raise BadInput(f"transport is '{options.transport}'; it takes {' or '.join(TRANSPORTS)}")
    if options.speed is not None and options.speed <= 0:
        raise BadInput(f"speed is {options.speed}; it takes a number above 0, or auto")
    outline = plan.outline()
    with ray_session(options) as session:
        where = homes(plan.n, options.nodes_per_actor or _auto(plan.n))
        plan = with_whole_actors(plan, where)
        speed = 1.0 if options.speed is None else options.speed
        for slowdown in range(SLOWDOWNS_MAX + 1):
            report = _attempt(
                plan, outline, run, options.transport, speed, where, session, progress
            )
            late = report.lateness_ns["p99"] > LATENESS_BUDGET
            if not late or options.speed is not None or slowdown == SLOWDOWNS_MAX:
                break
            clear(run.events)
            run.spool.mkdir(exist_ok=True)
            speed /= 2
        return report


def _auto(n: int) -> int:
    resources = ray.cluster_resources()
    return nodes_per_actor_auto(n, resources.get("CPU", 1), resources.get("memory", 0))


def _attempt(
    plan: Plan,
    outline: Outline,
    run: RunDir,
    transport: str,
    speed: float,
    where: tuple[int, ...],
    session: RaySession,
    progress: Progress | None,
) -> LiveReport:
    actors = session.borrow(where[-1] + 1)
    drive = Drive(plan, outline, run, actors, where)
    try:
        drive.prepare(transport)
        drive.start(speed)
        drive.watch(progress)
        wall_seconds = drive.wall_seconds()
        drive.finish()
    except BaseException:
        with uninterrupted():
            drive.abandon()
            session.kill(actors)
        raise
    report = _report(drive, speed, wall_seconds)
    if report.deaths:
        session.kill(actors)
        raise ActorLost(report)
    session.give_back(drive.survivors())
    return report


def _report(drive: Drive, speed: float, wall_seconds: float) -> LiveReport:
    totals, lateness = Totals(), Lateness()
    refused = 0
    for outcome in drive.outcomes.values():
        totals.messages += outcome.messages
        totals.copies += outcome.copies
        totals.delivered += outcome.delivered
        totals.held += outcome.held
        totals.malformed += outcome.malformed
        totals.end = max(totals.end, outcome.end)
        lateness.merge(outcome.lateness, outcome.lateness_max)
        refused += outcome.refused
    report = LiveReport(
        totals=totals,
        lateness_ns=lateness.summary(LATENESS_BUDGET),
        speed=speed,
        actors=len(drive.processes),
        wall_seconds=wall_seconds,
        warnings=[],
        rows_lost=sum(death.rows_recorded - death.rows_read for death in drive.deaths),
        deaths=drive.deaths,
        kills=drive.kills,
        processes=drive.processes,
        clock_error_ns=drive.clock_error_ns,
        refused=refused,
    )
    report.warnings.extend(_warnings(report))
    return report


def _warnings(report: LiveReport) -> list[str]:
    warnings = []
    late = report.lateness_ns
    if late["p99"] > late["budget"]:
        warnings.append(
            f"the timing of this run is not to be trusted: one event in a hundred was more than "
            f"{late['p99'] / 1e6:.1f} ms late (budget {late['budget'] / 1e6:.0f} ms); "
            f"slow it down (speed below {report.speed:g}, or auto) or use fewer nodes"
        )
    if report.clock_error_ns * report.speed > late["budget"]:
        warnings.append(
            f"the clocks of the machines agree within {report.clock_error_ns / 1e6:.1f} ms only; "
            "delays between machines are that uncertain"
        )
    if report.refused:
        warnings.append(f"{report.refused} envelopes were foreign or broken and were ignored")
    warnings.extend(
        f"actor {death.actor} died; its trace has {death.rows_read} of at least "
        f"{death.rows_recorded} rows"
        for death in report.deaths
    )
    return warnings
