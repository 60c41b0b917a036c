"""From a plan to shells: the one place where nodes are made, for both engines."""

from __future__ import annotations

from testbed.algorithms import find
from testbed.core.model import NodeId
from testbed.core.node import View
from testbed.core.wire import Codec
from testbed.engine.plan import Plan
from testbed.engine.port import Port
from testbed.engine.reliable import ReliableLink
from testbed.engine.shell import Shell
from testbed.trace.recorder import Sink, Witness


def make_shells(
    plan: Plan, nodes: tuple[NodeId, ...], port: Port, sink: Sink | Witness | None
) -> dict[NodeId, Shell]:
    """The shells of these nodes, each with its node, all with one codec."""
    algorithm = find(plan.algorithm)
    codec = Codec(algorithm, plan.n)
    processes = tuple(range(plan.n))
    shells = {}
    for me in nodes:
        role = plan.role(me)
        link = None if plan.retry_after is None else ReliableLink(me, plan.retry_after)
        shells[me] = Shell(
            me,
            role,
            algorithm.roles[role](View(me, processes)),
            algorithm=algorithm,
            n=plan.n,
            codec=codec,
            port=port,
            sink=sink,
            link=link,
        )
    return shells
