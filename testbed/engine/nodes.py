"""From a plan to shells: the one place where nodes are made, for both engines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from testbed.algorithms import find, parameters
from testbed.core.algorithm import Algorithm
from testbed.core.model import Nanos, NodeId, Role
from testbed.core.node import View
from testbed.core.wire import Codec
from testbed.engine.detector import Detector
from testbed.engine.plan import Plan
from testbed.engine.port import Port
from testbed.engine.reliable import ReliableLink
from testbed.engine.shell import Shell
from testbed.trace.recorder import Sink, Witness


def make_shells(
    plan: Plan,
    nodes: tuple[NodeId, ...],
    port: Port,
    sink: Sink | Witness | None,
    cells: Mapping[NodeId, NodeId] | None = None,
    *,
    last_send: Nanos = 0,
) -> dict[NodeId, Shell]:
    """The shells of these nodes, each with its node, all with one codec.

    `cells` is the station of each host at the start; `last_send` is when detectors begin to end.
    Nodes whose role an algorithm does not know have no shell: the stations of an algorithm that
    runs on the hosts alone.
    """
    algorithm = find(plan.algorithm)
    params = parameters(plan.algorithm)
    codec = Codec(algorithm, plan.n, stations=plan.stations, params=params)
    view = _view(plan, cells or {}, params)
    clocks = plan.clocks
    shells = {}
    for me in nodes:
        role = plan.role(me)
        if role not in algorithm.roles:
            continue
        shell = shells[me] = Shell(
            me,
            role,
            algorithm.roles[role](msgspec.structs.replace(view, me=me)),
            algorithm=algorithm,
            n=plan.n,
            codec=codec,
            port=port,
            sink=sink,
            link=_link(plan, algorithm, me, role),
            stations=plan.stations,
            clock=None if clocks is None else clocks.of(me, plan.seed),
            buffer_bytes=plan.buffer_bytes,
            detector=_detector(plan, me, last_send),
        )
        if role is Role.HOST:
            shell.place(view.cells[me])
    return shells


def _view(plan: Plan, cells: Mapping[NodeId, NodeId], params: Any) -> View:
    if plan.roam is None:
        processes = tuple(range(plan.n))
        return View(0, processes, buffer_bytes=plan.buffer_bytes, params=params)
    world = plan.roam.world
    return View(
        0,
        stations=tuple(range(world.stations)),
        hosts=tuple(world.host_ids),
        cells=cells,
        keeps=plan.roam.keeps,
        buffer_bytes=plan.buffer_bytes,
        params=params,
    )


def _detector(plan: Plan, me: NodeId, last_send: Nanos) -> Detector | None:
    if plan.detector is None:
        return None
    return Detector(me, plan.n, plan.detector, plan.detects_until(last_send))


def _link(plan: Plan, algorithm: Algorithm, me: NodeId, role: Role) -> ReliableLink | None:
    """Under processes; under the wires of stations; under hosts that have no station to help."""
    if plan.retry_after is None:
        return None
    if algorithm.is_on_hosts_alone:
        return ReliableLink(me, plan.retry_after, tries_max=None)
    if role is Role.PROCESS:
        return ReliableLink(me, plan.retry_after)
    return ReliableLink(me, plan.retry_after, plan.stations) if role is Role.STATION else None
