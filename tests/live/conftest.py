"""One Ray for all live tests, and plans that are small in wall time but not in disorder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actors.engine import LiveOptions, LiveReport, RaySession, ray_session, run_live
from testbed.algorithms import find
from testbed.core.distribution import Distribution, Exponential
from testbed.core.network import LinkSpec, NetworkSpec
from testbed.engine.plan import Plan
from testbed.engine.virtual import VirtualEngine
from testbed.trace import rundir
from testbed.trace.recorder import Recorder
from testbed.trace.rundir import RunDir
from workloads.destinations import All, Destinations, Uniform
from workloads.traffic import Stop, Traffic

MS = 1_000_000
"""One emulated millisecond."""


@pytest.fixture(scope="session")
def ray_for_all() -> Iterator[RaySession]:
    with ray_session(LiveOptions()) as session:
        yield session


@pytest.fixture
def new_run(tmp_path: Path) -> Callable[[str], RunDir]:
    return lambda name: rundir.create(tmp_path, name)


@pytest.fixture
def live(ray_for_all: RaySession, tmp_path: Path) -> Callable[..., tuple[LiveReport, RunDir]]:
    """Runs a plan on actors; the report and where the trace is."""
    count = iter(range(100))

    def run(plan: Plan, progress=None, **options) -> tuple[LiveReport, RunDir]:
        where = rundir.create(tmp_path, f"live-{next(count)}")
        return run_live(plan, where, LiveOptions(**options), progress=progress), where

    return run


@pytest.fixture
def sim(tmp_path: Path) -> Callable[[Plan], RunDir]:
    """Runs a plan in virtual time."""
    count = iter(range(100))

    def run(plan: Plan) -> RunDir:
        where = rundir.create(tmp_path, f"sim-{next(count)}")
        recorder = Recorder(
            where.id, where.spool / "part-0000.arrows", find(plan.algorithm).packet_names
        )
        VirtualEngine(plan, recorder).run()
        recorder.close()
        where.publish()
        return where

    return run


def plan_of(
    algorithm: str,
    *,
    n: int = 4,
    messages: int = 200,
    interval: int = 40 * MS,
    latency: Distribution | None = None,
    destinations: Destinations | None = None,
    multicast: float = 0.3,
    seed: int = 7,
    retry_after: int | None = None,
    **link,
) -> Plan:
    """By default two emulated seconds of messages that overtake each other often."""
    if algorithm == "bss":
        destinations, multicast = All(), 1.0
    return Plan(
        algorithm=algorithm,
        n=n,
        seed=seed,
        network=NetworkSpec(LinkSpec(latency=latency or Exponential(50 * MS), **link)),
        traffic=Traffic(
            interval=Exponential(interval),
            destinations=destinations or Uniform(),
            multicast=multicast,
            payload_low=32,
            payload_high=64,
        ),
        stop=Stop(messages=messages),
        retry_after=retry_after,
    )


def deliveries(run: RunDir) -> set[tuple[int, int, int]]:
    """(node, origin, number) of every delivery in the trace."""
    table = run.table(("node", "event", "origin", "number"))
    rows = zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)
    return {(node, origin, number) for node, event, origin, number in rows if event == "deliver"}


def is_alive(process: int) -> bool:
    """Whether this process still runs; one that waits to be reaped does not."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def sockets_of(process: int) -> set[str]:
    """Inodes of the sockets that a process holds."""
    folder = Path(f"/proc/{process}/fd")
    links = []
    for file in folder.iterdir():
        try:
            links.append(os.readlink(file))
        except OSError:  # closed in between
            continue
    return {link[8:-1] for link in links if link.startswith("socket:[")}
