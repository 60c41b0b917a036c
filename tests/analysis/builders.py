"""Small runs for the analysis to chew on: simulated ones, and traces written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from testbed.algorithms import find
from testbed.cli.outcome import facts_of
from testbed.core.algorithm import Guarantee
from testbed.core.clocks import Clocks
from testbed.core.distribution import Constant, Distribution, Exponential
from testbed.core.fault import Fault
from testbed.core.network import Fifo, LinkSpec, Loss, NetworkSpec
from testbed.core.world import World
from testbed.engine.plan import Plan, Roam
from testbed.engine.virtual import Totals, VirtualEngine
from testbed.trace.audit import audit_run
from testbed.trace.recorder import Recorder
from testbed.trace.rundir import RunDir, create
from testbed.trace.schema import SCHEMA
from workloads.destinations import All, Uniform
from workloads.hosts import HostTraffic
from workloads.mobility.cells import CellChanges
from workloads.mobility.disconnections import Disconnections
from workloads.mobility.groups import Group, Groups
from workloads.traffic import Stop, Traffic

MS = 1_000_000


def simulate(
    out: Path,
    algorithm: str,
    *,
    n: int = 5,
    messages: int = 200,
    warmup: int = 0,
    seed: int = 1,
    multicast: float = 0.3,
    loss: float = 0.0,
    itself: bool = False,
    fifo: Fifo = Fifo.OFF,
    lifetime: Distribution | None = None,
    clocks: Clocks | None = None,
    faults: tuple[Fault, ...] = (),
    **manifest: Any,
) -> RunDir:
    """One simulated run in a run directory, with the manifest that a command would write."""
    broadcast = find(algorithm).broadcast_only
    destinations = All() if broadcast else Uniform(itself=itself)
    link = LinkSpec(latency=Exponential(50 * MS), loss=Loss(loss), fifo=fifo)
    plan = Plan(
        algorithm=algorithm,
        n=n,
        seed=seed,
        network=NetworkSpec(link),
        traffic=Traffic(
            interval=Exponential(40 * MS),
            destinations=destinations,
            multicast=1.0 if broadcast else multicast,
            lifetime=lifetime,
        ),
        stop=Stop(messages=messages),
        warmup=warmup,
        retry_after=200 * MS if loss and find(algorithm).needs_reliable else None,
        clocks=clocks,
        faults=faults,
    )
    run = create(out, f"small-{len(list(out.glob('small-*'))) + 1:04d}-{algorithm}")
    return _simulated(run, plan, manifest)


def roam(
    out: Path,
    algorithm: str,
    *,
    stations: int = 3,
    hosts: int = 6,
    messages: int = 150,
    seed: int = 1,
    keeps: bool = True,
    **manifest: Any,
) -> RunDir:
    """The same of hosts that change their cells often, and go off the air now and then."""
    world = World(stations, hosts, columns=2)
    hosts_move = CellChanges(
        seed=seed,
        world=world,
        stay=Exponential(150 * MS),
        gap=Exponential(10 * MS),
        disconnections=Disconnections(0.2, Exponential(100 * MS)),
    )
    among = Traffic(interval=Exponential(40 * MS), destinations=Uniform(), multicast=0.3)
    air = LinkSpec(latency=Constant(MS // 2), bits_per_second=1_000_000, fifo=Fifo.ON)
    plan = Plan(
        algorithm=algorithm,
        n=world.n,
        seed=seed,
        network=NetworkSpec(LinkSpec(latency=Exponential(7 * MS), bits_per_second=100_000_000)),
        traffic=HostTraffic(world=world, among_hosts=among),
        stop=Stop(messages=messages),
        roam=Roam(
            world=world,
            mobility=Groups(10 * MS, (Group(world.stations, world.hosts, hosts_move),)),
            wireless=air,
            keeps=keeps,
        ),
    )
    run = create(out, f"roam-{len(list(out.glob('roam-*'))) + 1:04d}-{algorithm}")
    facts = {"world": msgspec.to_builtins(world)}
    run.write_trails(
        (host, *place)
        for host in world.host_ids
        for place in hosts_move.trail(host, plan.last_send())
    )
    return _simulated(run, plan, facts | manifest)


def _simulated(run: RunDir, plan: Plan, manifest: dict[str, Any]) -> RunDir:
    recorder = Recorder(run.id, run.spool / "nodes.arrows", find(plan.algorithm).packet_names)
    totals = VirtualEngine(plan, recorder).run()
    recorder.close()
    run.publish()
    run.write_manifest(_manifest(run, plan, totals) | manifest)
    return run


def _manifest(run: RunDir, plan: Plan, totals: Totals) -> dict[str, Any]:
    """What a command would write about this run."""
    deadline = find(plan.algorithm).guarantee is Guarantee.DEADLINE
    guarantee = (Guarantee.DEADLINE if deadline else Guarantee.CAUSAL).value
    run.write_manifest({"guarantee": guarantee})  # the audit asks the manifest what was promised
    audit = audit_run(run)
    return {
        "run": run.id,
        "name": "small",
        "series": "small-0001",
        "algorithm": plan.algorithm,
        "guarantee": guarantee,
        "engine": "sim",
        "seed": plan.seed,
        "nodes": plan.n,
        "experiment": {"name": "small", "nodes": plan.n, "network": {"latency": {"mean": "50ms"}}},
        "versions": {"causalbed": "0.1.0", "python": "3.11"},
        "machine": {"cores": 2, "memory": "24 GiB"},
        "status": "complete",
        "verdict": audit.verdict.value,
        "audit": msgspec.to_builtins(audit),
        "warnings": [],
        "totals": msgspec.to_builtins(totals),
        "lateness_ns": None,
        "speed": None,
        "transport": None,
        "warmup_until": plan.warmup_until(),
        "facts": facts_of(plan),
        "started": "2030-01-01T00:00:00+00:00",
        "wall_seconds": 0.5,
        "content_hash": "0" * 16,
    }


# --- traces by hand -------------------------------------------------------------------------------

Step = tuple[Any, ...]
"""("send", "a1", to...), ("receive" | "deliver", "a1"), ("forward" | "discard", "a1", to) or
("disconnect" | "connect",); `at` gives it a time, and a discard is for a host that is away."""

NODES = "abcdefghij"


def at(time: int, *step: Any) -> Step:
    return (*step, f"@{time}")


def message_id(name: str) -> tuple[int, int]:
    """ "b3" is the third message of node 1."""
    return NODES.index(name[0]), int(name[1:])


def write_trace(path: Path, steps_of: dict[str, Sequence[Step]], *, timed: bool = True) -> RunDir:
    """A trace of another system: only what the audit needs, and times where asked for."""
    rows: list[dict[str, Any]] = []
    for node, steps in steps_of.items():
        for seq, step in enumerate(steps):
            event, *rest = step
            time = 10 * seq
            if rest and str(rest[-1]).startswith("@"):
                time = int(rest.pop()[1:])
            origin, number = message_id(rest.pop(0)) if rest else (None, None)
            peer = NODES.index(rest[0]) if event in ("forward", "discard") else None
            reason = "disconnected" if event == "discard" else None
            dests = [NODES.index(to) for to in rest] if event == "send" else None
            rows.append(
                {"node": NODES.index(node), "seq": seq, "event": event, "origin": origin,
                 "number": number, "dests": dests, "time": time, "peer": peer, "reason": reason}
            )  # fmt: skip
    names = ["node", "seq", "event", "origin", "number", "dests", *(["time"] if timed else [])]
    if any(row["peer"] is not None for row in rows):
        names += ["peer", "reason"]
    schema = pa.schema([SCHEMA.field(name) for name in names])
    (path / "events").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path / "events" / "trace.parquet")
    return RunDir(path)


# --- rows by hand ---------------------------------------------------------------------------------


def written(path: Path, rows: list[dict[str, Any]], **manifest: Any) -> RunDir:
    """A trace with these rows; each node's `seq` is the order in which its rows stand.

    Nodes 0 and 1 are stations, the others hosts, where that matters.
    """
    seqs: dict[int, int] = {}
    for row in rows:
        row["seq"] = seqs[row["node"]] = seqs.get(row["node"], -1) + 1
        row["role"] = "mss" if row["node"] < 2 else "mh"
        row["run"] = path.name
        row |= {"cpu_ns": 0, "state_ints": 0, "pending": 0, "clock": row.get("clock", row["time"])}
    (path / "events").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path / "events" / "t.parquet")
    run = RunDir(path)
    run.write_manifest({"run": path.name, "algorithm": "x", "status": "complete"} | manifest)
    return run


def step(node: int, time: int, event: str, peer: int | None = None, **more: Any) -> dict[str, Any]:
    return {"node": node, "time": time, "event": event, "peer": peer, **more}
