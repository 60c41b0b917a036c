"""What an audit answers: counts, findings in prose, and how a verdict follows from them.

Knows neither traces nor vectors. `invalid` if anything is wrong; `inconclusive` if nothing is, but
nothing was put to the test either; else `valid`.
"""

from __future__ import annotations

import enum

import msgspec

from testbed.core.model import MessageId, NodeId

FINDINGS_MAX = 100
"""Findings kept with their prose; all are counted."""


class Verdict(enum.StrEnum):
    VALID = "valid"
    INVALID = "invalid"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> int:
        return {"valid": 0, "invalid": 1, "inconclusive": 2}[self.value]


class Fault(enum.StrEnum):
    """What can be wrong with a trace."""

    CAUSAL_ORDER = "causal order"
    EXACTLY_ONCE = "exactly once"
    LIVENESS = "liveness"
    DEADLINE = "deadline"
    """Delivered after its own deadline, by the receiver's clock."""
    STRANGER = "stranger"
    """Delivered to a node that is no destination, or never sent at all."""
    WAIVER = "waiver"
    """Given up for a host that was not away."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, where, and why, in prose."""

    fault: Fault
    node: NodeId
    message: MessageId
    prose: str


class Evidence(msgspec.Struct):
    """How much the run put to the test: without any of it, order proves nothing."""

    arrived_out_of_order: int = 0
    """Copies that arrived after a copy that they causally precede."""
    held: int = 0
    """Deliveries later than the copy's arrival."""
    held_ns_total: int = 0
    held_ns_max: int = 0


class Audit(msgspec.Struct, kw_only=True):
    """The oracle's whole answer."""

    verdict: Verdict
    why: str
    messages: int = 0
    owed: int = 0
    delivered: int = 0
    inversions: int = 0
    duplicates: int = 0
    undelivered: int = 0
    waived: int = 0
    """Dropped because their host was disconnected and stations keep nothing; not owed."""
    groundless: int = 0
    """Given up for a host that was not away; still owed."""
    strangers: int = 0
    expired: int = 0
    """Delivered after their own deadline, by the receiver's clock."""
    crashed: int = 0
    """Nodes that crashed."""
    unowed: int = 0
    """Owed to or by nodes that crashed, and not delivered."""
    explained: int = 0
    """Not delivered, but discarded, refused or lost on the way (deadline-causal order only)."""
    unrecorded: int = 0
    """Delivered, but sent by a killed actor whose last rows are lost; not judged."""
    evidence: Evidence = msgspec.field(default_factory=Evidence)
    findings: list[Finding] = msgspec.field(default_factory=list)


def name(message: MessageId) -> str:
    """m<origin>.<number>, as findings write messages."""
    return f"m{message[0]}.{message[1]}"


def judge(
    result: Audit, *, may_skip: bool, missing: int, saw_arrivals: bool, saw_deadlines: bool
) -> None:
    """Fill in verdict and reason; `missing` deliveries are owed and nothing excuses them."""
    evidence = result.evidence
    faults = (
        result.inversions + result.duplicates + result.strangers + result.expired
        + result.groundless
    )  # fmt: skip
    if faults or missing:
        result.verdict = Verdict.INVALID
        result.why = result.findings[0].prose
        return
    result.verdict = Verdict.INCONCLUSIVE
    if result.undelivered and not may_skip:
        result.why = f"the run was cut short and {result.undelivered} deliveries are owed"
    elif not saw_arrivals:
        result.why = "nothing shows in which order copies arrived (no receive rows)"
    elif not evidence.arrived_out_of_order and not evidence.held:
        result.why = "no copy arrived out of causal order and none was held: nothing was tested"
    elif may_skip and not saw_deadlines:
        result.why = "no message had a deadline: nothing was tested"
    else:
        result.verdict = Verdict.VALID
        result.why = (
            f"{_praise(result, may_skip=may_skip)}; "
            f"{evidence.arrived_out_of_order} copies arrived out of causal order, "
            f"{evidence.held} messages were held"
        )


def _praise(result: Audit, *, may_skip: bool) -> str:
    """What was right, and what nobody owed."""
    if may_skip:
        praise = (
            f"{result.delivered} of {result.owed} deliveries in causal order, each once and none "
            f"after its deadline, {result.explained} skipped for a reason in the trace, "
            f"{result.undelivered} without"
        )
    else:
        praise = f"{result.delivered} deliveries in causal order, each exactly once, none missing"
    if result.crashed:
        praise += f", {result.unowed} not owed because {result.crashed} nodes crashed"
    return praise
