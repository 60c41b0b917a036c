"""Many executions under every watcher at once, summed up: tests make their claims about the sum.

A kind of finding is `order`, `liveness` or `once` (the audit, from deliveries alone), `missing`,
`redundant`, `newest` or `null` (PC1 and PC2), `lemma 1` ... `lemma 7`, or `size`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from testbed.algorithms.static import ks
from testbed.core.algorithm import Algorithm, ControlSize
from testbed.trace.oracle import Audit
from tests.algorithms.ks.schedules import random_schedule
from tests.algorithms.ks.watch import Constraints, Findings, Lemmas, Sizes
from tests.algorithms.ks.world import Schedule, Watcher, play

SEEDS = 40


class Outcome:
    """What a batch of executions amounted to."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.copies = 0
        self.events = 0
        """Whole SNDs and RCVs after which the log was looked at."""
        self.facts = 0
        """Facts that PC1 and PC2 required, over all looks."""
        self.held = 0
        self.arrived_out_of_order = 0
        self.overtaken = 0
        self.units_max = 0
        self.total = ControlSize(0)

    def add_audit(self, audit: Audit) -> None:
        self.held += audit.evidence.held
        self.arrived_out_of_order += audit.evidence.arrived_out_of_order
        self.events += audit.messages + audit.delivered
        self._count("order", audit.inversions, audit.why)
        self._count("liveness", audit.undelivered, audit.why)
        self._count("once", audit.duplicates + audit.strangers, audit.why)

    def add_findings(self, findings: Findings) -> None:
        for kind, count in findings.counts.items():
            self._count(kind, count, findings.first[kind])

    def _count(self, kind: str, count: int, why: str) -> None:
        if count:
            self.counts[kind] += count
            self.first.setdefault(kind, why)

    @property
    def kinds(self) -> set[str]:
        return set(self.counts)

    def __str__(self) -> str:
        """For assertion messages: how often what, and the first of each."""
        found = [f"{count} {kind} ({self.first[kind]})" for kind, count in self.counts.items()]
        return f"{self.events} events, {self.copies} copies: " + ("; ".join(found) or "nothing")


def watch_all(algorithm: Algorithm, schedules: Iterable[Schedule]) -> Outcome:
    """Play all schedules under the audit, the constraints, the lemmas and the sizes."""
    outcome = Outcome()
    for schedule in schedules:
        n = schedule.n
        constraints, lemmas = Constraints(n), Lemmas(n)
        sizes = Sizes(n, algorithm.size)
        watchers: tuple[Watcher, ...] = (constraints, lemmas, sizes)
        world = play(algorithm, schedule, *watchers)
        outcome.add_audit(world.verdict())
        for findings in (constraints, lemmas, sizes):
            outcome.add_findings(findings)
        outcome.copies += sizes.looks
        outcome.facts += constraints.facts
        outcome.overtaken += world.overtaken
        outcome.units_max = max(outcome.units_max, sizes.units_max)
        outcome.total = ControlSize(*map(sum, zip(outcome.total, sizes.total, strict=True)))
    return outcome


@cache
def seeded(fifo: bool) -> Outcome:
    """The ks batch that most tests speak of; played once."""
    return watch_all(ks.ALGORITHM, (random_schedule(seed, fifo=fifo) for seed in range(SEEDS)))
