"""One schedule, run in virtual time under the oracle: real shells, real bytes, no trace on disk.

An exception inside the algorithm is a finding like any other; a destination set that the
algorithm refuses is the mistake of whoever wrote the schedule.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from testbed.algorithms import find
from testbed.core.algorithm import Guarantee
from testbed.core.clocks import GivenClocks
from testbed.core.detection import TimeoutDetection
from testbed.core.distribution import Constant
from testbed.core.errors import BadInput
from testbed.core.model import MessageId, Nanos, NodeId, Submission
from testbed.core.network import Air, LinkSpec, NetworkSpec
from testbed.core.world import Whereabouts
from testbed.engine.plan import Plan, Roam
from testbed.engine.virtual import VirtualEngine, Wires
from testbed.hunt.mortal import DeadlineSchedule, MortalWires
from testbed.hunt.roaming import MobileSchedule
from testbed.hunt.schedule import AnySchedule, MobileWires, ScriptedWires
from testbed.hunt.watch import Watch
from testbed.trace.oracle import Oracle
from testbed.trace.verdict import Audit, Fault, Finding, Verdict, name

_UNUSED_LINK = LinkSpec(latency=Constant(0))
_UNUSED_NETWORK = NetworkSpec(_UNUSED_LINK)

RETRY_AFTER: Nanos = 8_000_000
"""Patience of the reliable link under hosts that talk over the air without stations."""


class _Script:
    """The traffic of a plan whose sends are all written down, and their end."""

    def __init__(self, schedule: AnySchedule) -> None:
        self._schedule = schedule

    def timeline(self, node: NodeId, n: int, seed: int) -> Iterator[Submission]:
        return (send for send in self._schedule.submissions() if send.node == node)

    def merged(self, n: int, seed: int) -> Iterator[Submission]:
        return self._schedule.submissions()

    def cut(self, submissions: Iterator[Submission]) -> Iterator[Submission]:
        return submissions


class Travels(msgspec.Struct):
    """What a mobile schedule did to its algorithm; all zero where nothing moves."""

    moves: int = 0
    handoffs: int = 0
    busy_handoffs: int = 0
    """Hand-offs that began while a message of the host or for it was under way."""
    lost_in_air: int = 0


def play(schedule: AnySchedule) -> Audit:
    """What the oracle says of this schedule, run to its end."""
    return play_counted(schedule)[0]


def play_counted(schedule: AnySchedule) -> tuple[Audit, Travels]:
    """The same, with what moved meanwhile."""
    if isinstance(schedule, MobileSchedule):
        return play_mobile(schedule, Watch(schedule.n))
    if isinstance(schedule, DeadlineSchedule):
        return play_mortal(schedule), Travels()
    if find(schedule.algorithm).is_mobile:
        raise BadInput(f"{schedule.algorithm} runs on hosts; it takes a schedule with stays")
    script = _Script(schedule)
    plan = Plan(
        algorithm=schedule.algorithm, n=schedule.n, seed=schedule.seed,
        network=_UNUSED_NETWORK, traffic=script, stop=script,
    )  # fmt: skip
    return _run(schedule, plan, ScriptedWires(schedule), Oracle(range(schedule.n))), Travels()


def play_mortal(schedule: DeadlineSchedule) -> Audit:
    """A schedule under deadlines, judged by what may be skipped and what may not be late."""
    if find(schedule.algorithm).is_mobile:
        raise BadInput(f"{schedule.algorithm} runs on hosts; it takes a schedule with stays")
    script = _Script(schedule)
    detector = None
    if schedule.beat is not None:
        linger = 2 * schedule.timeout
        detector = TimeoutDetection(
            interval=schedule.beat, timeout=schedule.timeout, linger=linger
        )  # fmt: skip
    plan = Plan(
        algorithm=schedule.algorithm, n=schedule.n, seed=schedule.seed,
        network=_UNUSED_NETWORK, traffic=script, stop=script,
        clocks=GivenClocks(schedule.clocks), faults=schedule.crashes, detector=detector,
    )  # fmt: skip
    oracle = Oracle(range(schedule.n), Guarantee.DEADLINE)
    return _run(schedule, plan, MortalWires(schedule), oracle)


def play_mobile(schedule: MobileSchedule, watch: Watch) -> tuple[Audit, Travels]:
    """A mobile schedule under this watch."""
    plan, wires = stage(schedule)
    audit = _run(schedule, plan, wires, watch)
    if schedule.keeps and watch.waivers:
        _forbid_waivers(audit, watch.waivers)
    travels = Travels(schedule.moves, watch.handoffs, watch.busy_handoffs, wires.lost)
    return audit, travels


def stage(schedule: MobileSchedule) -> tuple[Plan, MobileWires]:
    """What an engine needs to run a mobile schedule."""
    algorithm = find(schedule.algorithm)
    if not algorithm.is_mobile:
        raise BadInput(f"{algorithm.name} runs on processes; it takes a schedule without stays")
    script = _Script(schedule)
    plan = Plan(
        algorithm=schedule.algorithm, n=schedule.n, seed=schedule.seed,
        network=_UNUSED_NETWORK, traffic=script, stop=script,
        retry_after=RETRY_AFTER if algorithm.is_on_hosts_alone else None,
        roam=Roam(
            world=schedule.world, mobility=schedule, wireless=_UNUSED_LINK, keeps=schedule.keeps
        ),
    )  # fmt: skip
    where = {
        host: Whereabouts(schedule.itinerary(host, 0)) for host in schedule.world.host_ids
    }  # fmt: skip
    wires = MobileWires(schedule, Air(schedule.world, _UNUSED_LINK, where))
    return plan, wires


def _forbid_waivers(audit: Audit, waivers: list[tuple[NodeId, MessageId]]) -> None:
    """Where stations keep what they have, nothing may be given up."""
    for node, message in waivers:
        prose = f"{name(message)} was given up for p{node}, although stations keep messages"
        audit.findings.append(Finding(Fault.WAIVER, node, message, prose))
    audit.verdict = Verdict.INVALID
    audit.why = audit.findings[0].prose


def _run(schedule: AnySchedule, plan: Plan, wires: Wires, oracle: Oracle) -> Audit:
    engine = VirtualEngine(plan, oracle, wires=wires)
    try:
        totals = engine.run()
    except BadInput:
        raise
    except Exception as error:  # noqa: BLE001 - whatever an algorithm raises is what we hunt for
        return _crashed(oracle, schedule, error)
    finally:
        engine.shells.clear()  # shells and engine hold each other; so both go at once
    audit = oracle.verdict()
    if totals.malformed and audit.verdict is Verdict.INVALID:
        audit.why += f"; {totals.malformed} of its own frames were refused as malformed"
    return audit


def _crashed(oracle: Oracle, schedule: AnySchedule, error: Exception) -> Audit:
    audit = oracle.verdict(complete=False)
    audit.verdict = Verdict.INVALID
    where = f"after {audit.messages} of {len(schedule.sends)} sends"
    audit.why = f"{schedule.algorithm} crashed {where}: {type(error).__name__}: {error}"
    return audit
