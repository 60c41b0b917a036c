"""One attempt at one run, seen from the driver: start together, watch, stop, collect.

The driver asks each actor for its counters a few times per second. All is quiet when everything
was sent, every promised arrival was handled, nothing is unacknowledged and no timer is set, in
two successive looks with the same counters. It knows no node and no message.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from actors.actor import Outcome, Ready, Task, Whereabouts
from actors.clock import Offset, clock_identity, loopback_identity, measure_offset
from actors.direct import RunKeys, make_keys
from actors.graves import Kill, executions, write_epitaph
from actors.host import Status
from testbed.core import errors
from testbed.core.errors import CausalbedError, EngineError
from testbed.core.model import Nanos
from testbed.engine.plan import Outline, Plan
from testbed.trace.rundir import RunDir, publish_spool

POLL_SECONDS = 0.15
POLL_SECONDS_MAX = 60.0
POLL_SECONDS_PER_ACTOR = 0.005
"""Each question costs both sides; many actors are asked less often."""
STALL_SECONDS = 60.0
"""No counter moved for so long although something was due: the run will not end."""
ANSWER_SECONDS = 60.0
"""An actor that does not answer for so long counts as dead."""
START_SECONDS = 300.0
ABANDON_SECONDS = 20.0
"""After an interruption, all questions together may take about so long."""
LEAD_SECONDS = 0.3
LEAD_ROUND_TRIPS = 3
"""Between the agreement on the start and the start, so that all know it before it comes."""
MARK = "driver.mark"

Progress = Callable[[int, int], None]


class Death(msgspec.Struct, frozen=True):
    """An actor that ended before the run did."""

    actor: int
    nodes: tuple[int, ...]
    rows_recorded: int
    """At least so many, when it was last asked."""
    rows_read: int


class Drive:
    """The actors of one attempt; `finish` or `abort` must end it."""

    def __init__(
        self, plan: Plan, outline: Outline, run: RunDir, actors: list[Any], homes: tuple[int, ...]
    ) -> None:
        self._plan = plan
        self._outline = outline
        self._run = run
        self._actors = dict(enumerate(actors))
        self._homes = homes
        self._statuses: dict[int, Status] = {}
        self._shares_folder: dict[int, bool] = {}
        self._dead: dict[int, str] = {}
        self._executions = executions(plan, homes)
        self._killed: dict[int, Nanos] = {}
        self.kills: list[Kill] = []
        self._patience = START_SECONDS
        self.processes: list[int] = []
        self.clock_error_ns = 0
        self.outcomes: dict[int, Outcome] = {}
        self.deaths: list[Death] = []

    # --- starting -----------------------------------------------------------------------------

    def prepare(self, transport: str) -> None:
        """Everything that must stand before the clock starts."""
        found: dict[int, Whereabouts] = self._ask_all("whereabouts", seconds=START_SECONDS)
        self._all_must_live()
        self.processes = [found[actor].process for actor in sorted(found)]
        self._offsets = self._measure_offsets(found)
        keys = make_keys() if transport == "direct" else None
        mark = self._run.spool / MARK
        mark.touch()
        tasks = {actor: self._task(actor, found, keys) for actor in self._actors}
        ready: dict[int, Ready] = self._ask_all("prepare", tasks)
        mark.unlink()
        self._all_must_live()
        self._shares_folder = {actor: ready[actor].shares_folder for actor in ready}
        peers: dict[int, Any] = self._actors
        if transport == "direct":
            peers = {actor: ready[actor].endpoint for actor in ready}
        self._ask_all("connect", dict.fromkeys(self._actors, peers), seconds=START_SECONDS)
        self._all_must_live()

    def start(self, speed: float) -> None:
        """Agree on a start that lies further ahead than it takes to tell everybody."""
        asked = time.monotonic()
        self._ask_all("read_clock")
        lead = LEAD_SECONDS + LEAD_ROUND_TRIPS * (time.monotonic() - asked)
        self._start = time.monotonic_ns() + int(lead * 1e9)
        self._speed = speed
        refs = {
            actor: handle.start.remote(self._start + self._offsets[actor].value, speed)
            for actor, handle in self._actors.items()
        }
        self._answers(refs, ANSWER_SECONDS)

    def _all_must_live(self) -> None:
        for actor, reason in self._dead.items():
            raise EngineError(f"actor {actor} did not start: {reason}")

    def _task(self, actor: int, found: dict[int, Whereabouts], keys: RunKeys | None) -> Task:
        one_machine = {where.loopback for where in found.values()} == {loopback_identity()}
        nodes = [node for node, home in enumerate(self._homes) if home == actor]
        return Task(
            plan=self._plan,
            run_id=self._run.id,
            actor=actor,
            homes=self._homes,
            messages_of={node: self._outline.messages_of[node] for node in nodes},
            last_send=self._outline.last_send,
            spool=str(self._run.spool.resolve()),
            mark=MARK,
            bind="127.0.0.1" if one_machine else found[actor].address,
            keys=keys,
        )

    def _measure_offsets(self, found: dict[int, Whereabouts]) -> dict[int, Offset]:
        """Nothing to measure where the clock is ours; once per actor elsewhere."""
        offsets = {}
        for actor, where in found.items():
            if where.clock == clock_identity():
                offsets[actor] = Offset()
            else:
                offsets[actor] = measure_offset(partial(_read_clock, self._actors[actor]))
        self.clock_error_ns = max(offset.error for offset in offsets.values())
        return offsets

    # --- watching -----------------------------------------------------------------------------

    def watch(self, progress: Progress | None) -> None:
        """Until all is quiet or an actor has died; raises where the run cannot go on."""
        last: list[Status] = []
        moved = time.monotonic()
        pause = max(POLL_SECONDS, POLL_SECONDS_PER_ACTOR * len(self._actors))
        while True:
            time.sleep(min(pause, self._until_execution()))
            self._execute_who_is_due()
            statuses = self._look()
            if self._dead:
                return
            _raise_failure(statuses)
            if progress is not None:
                progress(sum(s.submitted for s in statuses), self._outline.messages)
            if statuses != last:
                moved = time.monotonic()
            elif self._is_quiet(statuses):
                return
            elif time.monotonic() - moved > STALL_SECONDS and not self._awaits(statuses):
                raise EngineError(self._what_is_missing(statuses))
            last = statuses

    def _until_execution(self) -> float:
        """Wall seconds until the next actor is to be killed; never negative."""
        if not self._executions:
            return POLL_SECONDS_MAX
        at = self._executions[0][0] / self._speed * 1e-9
        return max(0.0, at - self.wall_seconds())

    def _execute_who_is_due(self) -> None:
        """Kill without a word, then tell the others, who must not wait for what cannot come."""
        while self._executions and self._until_execution() <= 0:
            _, actor = self._executions.pop(0)
            ray.kill(self._actors[actor], no_restart=True)
            self._killed[actor] = int(self.wall_seconds() * 1e9 * self._speed)
            self._ask_all("bury", dict.fromkeys(self._actors, actor))

    def survivors(self) -> list[Any]:
        """The actors that can serve another run."""
        return [handle for actor, handle in self._actors.items() if actor not in self._killed]

    def wall_seconds(self) -> float:
        """Since the common start."""
        return (time.monotonic_ns() - self._start) * 1e-9

    def _look(self) -> list[Status]:
        alive = [actor for actor in self._actors if actor not in self._killed]
        refs = {actor: self._actors[actor].status.remote() for actor in alive}
        self._statuses |= self._answers(refs, ANSWER_SECONDS)
        return [self._statuses[actor] for actor in alive if actor in self._statuses]

    def _is_quiet(self, statuses: list[Status]) -> bool:
        of_the_killed = sum(
            messages
            for home, messages in zip(self._homes, self._outline.messages_of, strict=True)
            if home in self._killed
        )
        return (
            not self._executions
            and sum(s.submitted for s in statuses) == self._outline.messages - of_the_killed
            and sum(s.expected for s in statuses) == sum(s.handled for s in statuses)
            and not any(s.busy or s.waiting or s.timers or s.unacknowledged for s in statuses)
        )

    def _awaits(self, statuses: list[Status]) -> bool:
        """Whether something lies ahead in emulated time, so that standing still is right."""
        now = (time.monotonic_ns() - self._start) * self._speed
        patience = STALL_SECONDS * 1e9 * self._speed
        return any(s.next_due is not None and s.next_due + patience > now for s in statuses)

    def _what_is_missing(self, statuses: list[Status]) -> str:
        submitted = sum(s.submitted for s in statuses)
        expected, handled = sum(s.expected for s in statuses), sum(s.handled for s in statuses)
        return (
            f"the run stood still for {STALL_SECONDS:.0f} s: {submitted} of "
            f"{self._outline.messages} messages sent, {handled} of {expected} copies handled, "
            f"{sum(s.waiting for s in statuses)} in mailboxes, "
            f"{sum(s.unacknowledged for s in statuses)} unacknowledged, "
            f"{sum(s.timers for s in statuses)} timers set"
        )

    # --- ending -------------------------------------------------------------------------------

    def finish(self) -> None:
        """Stop whoever lives, publish every trace, say what the dead took with them."""
        self.outcomes = self._ask_all("stop")
        events = self._run.events
        events.mkdir(exist_ok=True)
        published = dict.fromkeys(self.outcomes, str(events.resolve()))
        rows: dict[int, int] = self._ask_all("publish", published, seconds=START_SECONDS)
        for actor in sorted(rows):
            if not self._shares_folder.get(actor, True):
                self._fetch(actor)
        for actor in sorted(self._dead):
            self.deaths.append(self._bury(actor))
        for actor in sorted(self._killed):
            self._record_kill(actor)
        self._run.publish()
        self._ask_all("release")

    def abandon(self) -> None:
        """After an interruption: as `finish`, but whoever does not answer soon is left behind."""
        self._patience = ABANDON_SECONDS
        if self._shares_folder:
            with contextlib.suppress(CausalbedError, RayError):
                self.finish()
        self._run.publish()

    def _fetch(self, actor: int) -> None:
        """Bring a published file over from a machine that does not share the run's folder."""
        target = self._run.events / f"actor-{actor:04d}.parquet"
        temporary = target.with_suffix(".tmp")
        with temporary.open("wb") as file:
            ask = self._actors[actor].published_bytes
            while piece := ray.get(ask.remote(file.tell()), timeout=START_SECONDS):
                file.write(piece)
        temporary.replace(target)

    def _record_kill(self, actor: int) -> None:
        grave = self._bury(actor)
        kill = Kill(
            actor=actor, nodes=grave.nodes, time=self._killed[actor],
            process=self.processes[actor], rows_recorded=grave.rows_recorded,
            rows_read=grave.rows_read,
        )  # fmt: skip
        self.kills.append(kill)
        write_epitaph(self._run.events, self._run.id, self._plan, kill, f"actor-{actor:04d}")

    def _bury(self, actor: int) -> Death:
        spool = self._run.spool / f"actor-{actor:04d}.arrows"
        read = publish_spool(spool, self._run.events) if spool.exists() else 0
        last = self._statuses.get(actor)
        nodes = tuple(node for node, home in enumerate(self._homes) if home == actor)
        return Death(actor, nodes, max(read, last.rows if last else 0), read)

    # --- asking -------------------------------------------------------------------------------

    def _ask_all(
        self, call: str, arguments: dict[int, Any] | None = None, seconds: float = ANSWER_SECONDS
    ) -> dict[int, Any]:
        """The same question to all (or those with an argument); the dead do not answer."""
        refs = {}
        for actor, handle in self._actors.items():
            is_gone = actor in self._dead or actor in self._killed
            if is_gone or (arguments is not None and actor not in arguments):
                continue
            ask = getattr(handle, call)
            refs[actor] = ask.remote() if arguments is None else ask.remote(arguments[actor])
        return self._answers(refs, seconds)

    def _answers(self, refs: dict[int, Any], seconds: float) -> dict[int, Any]:
        give_up = time.monotonic() + min(seconds, self._patience)
        answers = {}
        for actor, ref in refs.items():
            try:
                answers[actor] = ray.get(ref, timeout=max(give_up - time.monotonic(), 0.1))
            except (RayActorError, GetTimeoutError) as error:
                self._dead[actor] = " ".join(str(error).split())
            except RayTaskError as error:
                raise _as_ours(type(error.cause).__name__, str(error.cause)) from error
        return answers


def _read_clock(actor: Any) -> int:
    return int(ray.get(actor.read_clock.remote(), timeout=ANSWER_SECONDS))


def _raise_failure(statuses: list[Status]) -> None:
    for status in statuses:
        if status.failure is not None:
            raise _as_ours(*status.failure)


def _as_ours(kind: str, text: str) -> CausalbedError:
    """An actor's error as the driver raises it: the user's fault stays the user's."""
    return errors.BadInput(text) if kind == "BadInput" else EngineError(f"{kind}: {text}")


def clear(folder: Path) -> None:
    """Remove what a discarded attempt left."""
    for file in folder.glob("*"):
        file.unlink()
