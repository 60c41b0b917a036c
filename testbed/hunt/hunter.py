"""The hunt: schedule after schedule on all cores, until one breaks the algorithm or time is up.

Schedules are worked through in chunks of fixed size whose results are taken in order, so what is
found, and when the hunt stops, does not depend on the number of cores. A find carries its whole
schedule: it can be saved, replayed, and later made smaller.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from itertools import count

import msgspec

from testbed.algorithms import find
from testbed.core.algorithm import Algorithm
from testbed.core.errors import BadInput
from testbed.core.garbage import rare_collections
from testbed.hunt.crew import Crew
from testbed.hunt.generate import NODES, Shape, make_schedule
from testbed.hunt.perish import make_deadline_schedule
from testbed.hunt.play import Travels, play, play_counted
from testbed.hunt.roaming import WORLD_MAX
from testbed.hunt.schedule import NODES_MAX, AnySchedule
from testbed.hunt.wander import HOSTS, make_mobile_schedule
from testbed.trace.oracle import Audit, Verdict

CHUNK = 20
"""Schedules per task of a worker, some hundredths of a second."""

ALONE_MAX = 5 * CHUNK
"""Up to this many schedules, starting workers would take longer than the hunt."""

MESSAGES_MAX = 100_000
"""Of one schedule."""

FINDS_MAX = 3
"""A hunt stops at this many finds; the first is the one to read."""


class Find(msgspec.Struct, frozen=True):
    """A schedule that breaks the algorithm: number `number` of `seed`."""

    seed: int
    number: int
    schedule: AnySchedule
    audit: Audit
    prose: str


class Tally(msgspec.Struct):
    """What schedules put to the test."""

    schedules: int = 0
    deliveries: int = 0
    arrived_out_of_order: int = 0
    held: int = 0
    vacuous: int = 0
    """Schedules in which no copy arrived out of causal order and none was held."""
    waived: int = 0
    moves: int = 0
    handoffs: int = 0
    busy_handoffs: int = 0
    lost_in_air: int = 0
    skipped: int = 0
    """Owed, and not delivered: discarded, lost, or taken along by a crash."""

    def add(self, other: Tally) -> None:
        for field in self.__struct_fields__:
            setattr(self, field, getattr(self, field) + getattr(other, field))

    def count(self, audit: Audit, travels: Travels) -> None:
        """One more schedule."""
        evidence = audit.evidence
        self.schedules += 1
        self.deliveries += audit.delivered
        self.arrived_out_of_order += evidence.arrived_out_of_order
        self.held += evidence.held
        self.vacuous += not (evidence.arrived_out_of_order or evidence.held)
        self.waived += audit.waived
        self.moves += travels.moves
        self.handoffs += travels.handoffs
        self.busy_handoffs += travels.busy_handoffs
        self.lost_in_air += travels.lost_in_air
        self.skipped += audit.owed - audit.delivered - audit.waived


Chunk = tuple[Tally, list[Find]]
Results = Generator[Chunk, None, None]
Work = Callable[[range], Chunk]
MakeSchedule = Callable[[str, Algorithm, int, int, Shape], AnySchedule]


class Hunt(msgspec.Struct, frozen=True, kw_only=True):
    """How a hunt ended."""

    algorithm: str
    seed: int
    first: int
    verdict: Verdict
    why: str
    schedules: int
    seconds: float
    schedules_per_second: float
    cores: int
    deliveries: int
    arrived_out_of_order: int
    held: int
    vacuous: int
    waived: int
    moves: int
    handoffs: int
    busy_handoffs: int
    """Hand-offs that began while a message of the host or for it was under way."""
    lost_in_air: int
    skipped: int
    """Under deadlines: owed, but given up, lost or taken along by a crash."""
    interrupted: bool
    """Ctrl-C ended it."""
    finds: list[Find]

    def summary(self) -> list[tuple[str, str]]:
        """What to print, line by line."""
        mobile = [
            ("messages waived", f"{self.waived:,}"),
            ("moves", f"{self.moves:,}"),
            ("hand-offs", f"{self.handoffs:,}, {self.busy_handoffs:,} with messages under way"),
            ("frames lost in the air", f"{self.lost_in_air:,}"),
        ]  # fmt: skip
        return [
            ("schedules", f"{self.schedules:,}" + (" (interrupted)" if self.interrupted else "")),
            ("schedules that broke it", f"{len(self.finds):,}"),
            ("deliveries", f"{self.deliveries:,}"),
            ("arrived out of causal order", f"{self.arrived_out_of_order:,}"),
            ("messages held", f"{self.held:,}"),
            *(mobile if self.moves else ()),
            *([("messages skipped", f"{self.skipped:,}")] if self.skipped else ()),
            ("schedules that tested nothing", f"{self.vacuous:,}"),
            ("schedules per second", f"{self.schedules_per_second:,.0f} on {self.cores} cores"),
            ("seed", f"{self.seed}, schedules from number {self.first}"),
        ]


def hunt(
    algorithm: str,
    *,
    schedules: int | None,
    seconds: float | None,
    seed: int,
    first: int = 0,
    n: int | None = None,
    messages: int | None = None,
    shape: Shape | None = None,
    cores: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Hunt:
    """Hunt through `schedules`, or for `seconds`, or whichever ends first.

    `shape` (or `n` and `messages` alone) fixes the size of all schedules. `progress` hears how
    many are done, of how many (None: nobody knows). An interrupt ends the hunt with what it has.
    """
    shape = shape or Shape(n, messages)
    _check(schedules, seconds, seed, first, cores)
    _check_shape(find(algorithm), shape)
    if cores is None:
        is_short = schedules is not None and schedules <= ALONE_MAX
        cores = 1 if is_short else len(os.sched_getaffinity(0))
    work = partial(run_chunk, algorithm, seed, shape)
    chunks = _chunks(first, schedules)
    tally, interrupted = Tally(), False
    finds: list[Find] = []
    started = time.monotonic()
    results = _alone(work, chunks) if cores == 1 else _together(work, chunks, cores)
    try:
        for part, found in results:
            tally.add(part)
            finds += found
            if progress is not None:
                progress(tally.schedules, schedules)
            if len(finds) >= FINDS_MAX:
                break
            if seconds is not None and time.monotonic() - started >= seconds:
                break
    except KeyboardInterrupt:
        interrupted = True
    finally:
        results.close()
    elapsed = time.monotonic() - started
    verdict, why = _judge(tally, finds)
    return Hunt(
        algorithm=algorithm, seed=seed, first=first, verdict=verdict, why=why,
        schedules=tally.schedules, seconds=elapsed, schedules_per_second=tally.schedules / elapsed,
        cores=cores, interrupted=interrupted, finds=finds[:FINDS_MAX],
        **{name: count for name, count in msgspec.structs.asdict(tally).items()
           if name != "schedules"},
    )  # fmt: skip


def replay(schedule: AnySchedule) -> Audit:
    """Run one schedule again; it says what the hunt said."""
    find(schedule.algorithm)
    return play(schedule)


@rare_collections()
def run_chunk(algorithm: str, seed: int, shape: Shape, numbers: range) -> Chunk:
    """These schedules, one after the other; the tally counts those up to the last find needed."""
    record = find(algorithm)
    make: MakeSchedule = make_mobile_schedule if record.is_mobile else make_schedule
    if record.uses_deadlines:
        make = make_deadline_schedule
    tally = Tally()
    finds: list[Find] = []
    for number in numbers:
        schedule = make(algorithm, record, seed, number, shape)
        audit, travels = play_counted(schedule)
        tally.count(audit, travels)
        if audit.verdict is Verdict.INVALID:
            finds.append(Find(seed, number, schedule, audit, audit.why))
            if len(finds) == FINDS_MAX:
                break
    return tally, finds


def _alone(work: Work, chunks: Iterator[range]) -> Results:
    for numbers in chunks:
        yield work(numbers)


def _together(work: Work, chunks: Iterator[range], cores: int) -> Results:
    with Crew(work, cores) as crew:
        yield from crew.results(chunks)


def _chunks(first: int, schedules: int | None) -> Iterator[range]:
    """Numbers of schedules, chunk by chunk; without end if nobody says how many."""
    for start in count(first, CHUNK):
        if schedules is None:
            yield range(start, start + CHUNK)
        elif start < first + schedules:
            yield range(start, min(start + CHUNK, first + schedules))
        else:
            return


def _judge(tally: Tally, finds: list[Find]) -> tuple[Verdict, str]:
    if finds:
        return Verdict.INVALID, finds[0].prose
    if not tally.arrived_out_of_order and not tally.held:
        return (
            Verdict.INCONCLUSIVE,
            f"{tally.schedules} schedules, but no copy arrived out of causal order and none was "
            "held: nothing was tested",
        )
    return (
        Verdict.VALID,
        f"{tally.schedules} schedules and {tally.deliveries} deliveries without a fault; "
        f"{tally.arrived_out_of_order} copies arrived out of causal order, "
        f"{tally.held} messages were held",
    )


def _check(
    schedules: int | None,
    seconds: float | None,
    seed: int,
    first: int,
    cores: int | None,
) -> None:
    if schedules is not None and schedules < 1:
        raise BadInput(f"schedules is {schedules}; it takes a number from 1")
    if seconds is not None and seconds <= 0:
        raise BadInput(f"seconds is {seconds}; it takes a duration above 0")
    if schedules is None and seconds is None:
        raise BadInput("neither schedules nor seconds is given; it takes one of them")
    if seed < 0 or first < 0:
        raise BadInput(f"seed {seed}, first {first}: both take a number from 0")
    if cores is not None and cores < 1:
        raise BadInput(f"cores is {cores}; it takes a number from 1")


def _check_shape(algorithm: Algorithm, shape: Shape) -> None:
    """Sizes in range, and of the world that the algorithm lives in."""
    limits = {
        "n": (NODES[0], NODES_MAX, not algorithm.is_mobile),
        "stations": (1, WORLD_MAX, algorithm.is_mobile),
        "hosts": (HOSTS[0], WORLD_MAX, algorithm.is_mobile),
        "messages": (1, MESSAGES_MAX, True),
    }
    for name, (least, most, belongs) in limits.items():
        given = getattr(shape, name)
        if given is None:
            continue
        if not belongs:
            has = "stations and hosts" if algorithm.is_mobile else "processes, no hosts"
            raise BadInput(f"{name} is {given}, but {algorithm.name} runs on {has}")
        if not least <= given <= most:
            raise BadInput(f"{name} is {given}; it takes {least} to {most}")
