"""The audit at scale: the plain oracle's questions, asked of Spark.

Spark sorts and classifies; the order of a run's events is found in one task per run, causal order
is judged in one task per run and block of senders, the rest is SQL. The answer has the plain
oracle's shape and words; nothing of how it comes about is shared, so each checks the other.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Row, SparkSession

from analysis import columns, linear
from analysis.queries import select
from testbed.core.errors import DamagedRun
from testbed.trace.oracle import FINDINGS_MAX, Audit, Evidence, Fault, Finding, Verdict

# Workers elsewhere may lack this package: they get the functions themselves.
cloudpickle.register_pickle_by_value(linear)
cloudpickle.register_pickle_by_value(columns)

Ranked = tuple[int, Finding]


def audit_at_scale(spark: SparkSession) -> dict[str, Audit]:
    """Judge each registered run from its trace alone."""
    for run, sentence in select(spark, "audit", "damage").collect():
        raise DamagedRun(f"{run}: {sentence}")
    skeleton = select(spark, "audit", "skeleton")
    ordered = skeleton.groupBy("run").applyInArrow(linear.linearise, linear.ORDERED_SCHEMA)
    ordered.persist()  # the next query reads it twice
    ordered.createOrReplaceTempView("ordered")
    judged = select(spark, "audit", "judged").persist()
    judged.createOrReplaceTempView("judged")
    persisted = [judged, ordered]
    try:
        select(spark, "audit", "given_up").createOrReplaceTempView("given_up")
        columns_seen = select(spark, "audit", "columns", width=columns.BLOCK_WIDTH)
        blocks = columns_seen.groupBy("run", "block").applyInArrow(
            columns.judge_block, columns.BLOCK_SCHEMA
        )
        persisted.append(blocks.persist())
        blocks.createOrReplaceTempView("blocks")
        select(spark, "audit", "waivers").createOrReplaceTempView("waivers")
        missing = select(spark, "audit", "missing")
        persisted.append(missing.persist())
        missing.createOrReplaceTempView("missing")
        return _audits(spark, _by_run(blocks.collect()))
    finally:
        for view in ("missing", "waivers", "blocks", "given_up", "judged", "ordered"):
            spark.catalog.dropTempView(view)
        for frame in persisted:
            frame.unpersist()


def _audits(spark: SparkSession, blocks: dict[str, list[Row]]) -> dict[str, Audit]:
    counts = select(spark, "audit", "counts").collect()
    accounts = {row.run: row for row in select(spark, "audit", "accounts").collect()}
    strange, owed, late, groundless = {}, {}, {}, {}
    if any(account.may_skip for account in accounts.values()):
        late = _by_run(select(spark, "audit", "expired").collect())
    if any(row.duplicates or row.strangers for row in counts):
        strange = _selected(spark, "repeated_and_strange")
    if any(row.groundless for row in counts):
        groundless = _selected(spark, "groundless")
    if any(row.owed != row.delivered for row in counts):
        owed = _selected(spark, "undelivered")
    return {
        row.run: _audit(
            row,
            accounts[row.run],
            blocks.get(row.run, []),
            strange.get(row.run, []),
            groundless.get(row.run, []),
            owed.get(row.run, []),
            late.get(row.run, []),
        )
        for row in counts
    }


def _selected(spark: SparkSession, name: str) -> dict[str, list[Row]]:
    return _by_run(select(spark, "audit", name, findings_max=FINDINGS_MAX).collect())


def _by_run(rows: list[Any]) -> dict[str, list[Row]]:
    by_run = defaultdict(list)
    for row in rows:
        by_run[row.run].append(row)
    return dict(by_run)


def _audit(
    row: Row,
    account: Row,
    blocks: list[Row],
    strange: list[Row],
    groundless: list[Row],
    owed: list[Row],
    late: list[Row],
) -> Audit:
    findings = (
        [_strange(one) for one in strange]
        + [_late(one) for one in late]
        + [
            (one.rank, _finding(Fault.CAUSAL_ORDER, one, one.prose))
            for block in blocks
            for one in block.findings
        ]
    )
    findings.sort(key=lambda ranked: ranked[0])
    explained = account.given_up if account.may_skip else 0
    audit = Audit(
        verdict=Verdict.VALID,
        why="",
        messages=row.messages,
        owed=row.owed,
        delivered=row.delivered,
        inversions=sum(block.inversions for block in blocks),
        duplicates=row.duplicates,
        undelivered=row.owed - row.delivered - account.waived - account.unowed - explained,
        waived=account.waived,
        groundless=row.groundless,
        strangers=row.strangers,
        expired=len(late),
        crashed=account.crashed,
        unowed=account.unowed,
        explained=explained,
        unrecorded=row.unrecorded,
        evidence=Evidence(
            arrived_out_of_order=sum(block.arrived_out_of_order for block in blocks),
            held=row.held,
            held_ns_total=row.held_ns_total,
            held_ns_max=row.held_ns_max,
        ),
        findings=[finding for _, finding in findings],
    )
    audit.findings += [_groundless(one) for one in groundless]
    if row.complete:
        audit.findings += [_undelivered(one) for one in owed]
    del audit.findings[FINDINGS_MAX:]
    audit.verdict, audit.why = _judge(audit, row, account)
    return audit


def _judge(audit: Audit, row: Row, account: Row) -> tuple[Verdict, str]:
    evidence = audit.evidence
    if audit.findings:
        return Verdict.INVALID, audit.findings[0].prose
    if audit.undelivered and not account.may_skip:
        why = f"the run was cut short and {audit.undelivered} deliveries are owed"
        return Verdict.INCONCLUSIVE, why
    if not row.saw_receives:
        why = "nothing shows in which order copies arrived (no receive rows)"
        return Verdict.INCONCLUSIVE, why
    if not evidence.arrived_out_of_order and not evidence.held:
        why = "no copy arrived out of causal order and none was held: nothing was tested"
        return Verdict.INCONCLUSIVE, why
    if account.may_skip and not account.saw_deadlines:
        return Verdict.INCONCLUSIVE, "no message had a deadline: nothing was tested"
    if account.may_skip:
        praise = (
            f"{audit.delivered} of {audit.owed} deliveries in causal order, each once and none "
            f"after its deadline, {audit.explained} skipped for a reason in the trace, "
            f"{audit.undelivered} without"
        )
    else:
        praise = f"{audit.delivered} deliveries in causal order, each exactly once, none missing"
    if audit.crashed:
        praise += f", {audit.unowed} not owed because {audit.crashed} nodes crashed"
    return Verdict.VALID, (
        f"{praise}; "
        f"{evidence.arrived_out_of_order} copies arrived out of causal order, "
        f"{evidence.held} messages were held"
    )


# --- findings -------------------------------------------------------------------------------------


def _strange(row: Row) -> Ranked:
    match (row.judgement, row.kind):
        case ("never sent", _):
            fault, what = Fault.STRANGER, "was never sent"
        case ("not addressed", _):
            fault, what = Fault.STRANGER, f"was not addressed to p{row.node}"
        case (_, linear.SEND):
            fault, what = Fault.EXACTLY_ONCE, "was sent more than once"
        case _:
            fault, what = Fault.EXACTLY_ONCE, f"was delivered at p{row.node} more than once"
    return row.rank, _finding(fault, row, f"m{row.origin}.{row.number} {what}")


def _late(row: Row) -> Ranked:
    prose = (
        f"m{row.origin}.{row.number} was delivered at p{row.node} {row.late_ns / 1e6:.3f} ms "
        f"after its deadline, by p{row.node}'s clock"
    )
    return row.rank, _finding(Fault.DEADLINE, row, prose)


def _groundless(row: Row) -> Finding:
    why = (
        "which had come back: the message depends on one that it sent afterwards"
        if row.was_away
        else "which never disconnected"
    )
    what = f"m{row.origin}.{row.number} was given up for p{row.node}, {why}"
    return _finding(Fault.WAIVER, row, what)


def _undelivered(row: Row) -> Finding:
    state = "arrived, but was never delivered at" if row.arrived else "never arrived at"
    return _finding(Fault.LIVENESS, row, f"m{row.origin}.{row.number} {state} p{row.node}")


def _finding(fault: Fault, row: Row, prose: str) -> Finding:
    return Finding(fault, row.node, (row.origin, row.number), prose)
