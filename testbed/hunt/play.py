"""One schedule, run in virtual time under the oracle: real shells, real bytes, no trace on disk.

An exception inside the algorithm is a finding like any other; a destination set that the
algorithm refuses is the mistake of whoever wrote the schedule.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.core.distribution import Constant
from testbed.core.errors import BadInput
from testbed.core.model import NodeId, Submission
from testbed.core.network import LinkSpec, NetworkSpec
from testbed.engine.plan import Plan
from testbed.engine.virtual import VirtualEngine
from testbed.hunt.schedule import Schedule, ScriptedWires
from testbed.trace.oracle import Audit, Oracle, Verdict

_UNUSED_NETWORK = NetworkSpec(LinkSpec(latency=Constant(0)))


class _Script:
    """The traffic of a plan whose sends are all written down, and their end."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule

    def timeline(self, node: NodeId, n: int, seed: int) -> Iterator[Submission]:
        return (send for send in self._schedule.submissions() if send.node == node)

    def merged(self, n: int, seed: int) -> Iterator[Submission]:
        return self._schedule.submissions()

    def cut(self, submissions: Iterator[Submission]) -> Iterator[Submission]:
        return submissions


def play(schedule: Schedule) -> Audit:
    """What the oracle says of this schedule, run to its end."""
    script = _Script(schedule)
    plan = Plan(
        algorithm=schedule.algorithm, n=schedule.n, seed=schedule.seed,
        network=_UNUSED_NETWORK, traffic=script, stop=script,
    )  # fmt: skip
    oracle = Oracle(range(schedule.n))
    engine = VirtualEngine(plan, oracle, wires=ScriptedWires(schedule))
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


def _crashed(oracle: Oracle, schedule: Schedule, error: Exception) -> Audit:
    audit = oracle.verdict(complete=False)
    audit.verdict = Verdict.INVALID
    where = f"after {audit.messages} of {len(schedule.sends)} sends"
    audit.why = f"{schedule.algorithm} crashed {where}: {type(error).__name__}: {error}"
    return audit
