"""The hunter's schedules, for mutants: what is wrong with a run, what stations keep included."""

from __future__ import annotations

from testbed.algorithms import find
from testbed.core.distribution import Constant
from testbed.core.network import Air, LinkSpec, NetworkSpec
from testbed.core.world import Whereabouts
from testbed.engine.plan import Plan, Roam
from testbed.engine.virtual import VirtualEngine
from testbed.hunt.generate import Shape
from testbed.hunt.roaming import MobileSchedule
from testbed.hunt.schedule import MobileWires
from testbed.hunt.wander import make_mobile_schedule
from testbed.trace.oracle import Oracle
from tests.algorithms.badrinath.stage import left_over
from tests.mutation import FAULTS
from tests.runs import MS
from workloads.destinations import Uniform
from workloads.traffic import Stop, Traffic

SEED = 3
SHAPE = Shape(messages=12)
_LINK = LinkSpec(latency=Constant(MS))
_NOBODY = Traffic(
    interval=Constant(MS), destinations=Uniform(), multicast=0.0, payload_low=0, payload_high=0
)


def hunted(name: str, number: int) -> MobileSchedule:
    """Schedule `number` for the algorithm of this name, or of this `module:ALGORITHM`."""
    return make_mobile_schedule(name, find(name), SEED, number, SHAPE)


def faults(schedule: MobileSchedule) -> set[str]:
    """What the audit finds, by the names of tests/mutation.py; what is `dropped`
    although stations keep it, `memory` that stays, a `crash`."""
    roam = Roam(world=schedule.world, mobility=schedule, wireless=_LINK, keeps=schedule.keeps)
    plan = Plan(
        algorithm=schedule.algorithm, n=schedule.n, seed=1, network=NetworkSpec(_LINK),
        traffic=_NOBODY, stop=Stop(messages=1), roam=roam,
    )  # fmt: skip
    where = {host: Whereabouts(schedule.itinerary(host, 0)) for host in schedule.world.host_ids}
    oracle = Oracle(range(schedule.n))
    engine = VirtualEngine(
        plan, oracle, wires=MobileWires(schedule, Air(schedule.world, _LINK, where))
    )
    try:
        engine.play(schedule.submissions())
    except Exception:  # noqa: BLE001 - a mutant may do anything
        return {"crash"}
    named = {fault: name for name, fault in FAULTS.items()}
    audit = oracle.verdict()
    found = {named[finding.fault] for finding in audit.findings}
    if audit.waived and schedule.keeps:
        found.add("dropped")
    if any(left_over(engine.shells[s].node) for s in range(schedule.stations)):
        found.add("memory")
    return found
