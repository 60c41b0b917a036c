"""Workers in processes of their own, fed in order, heard in order, gone when the crew goes.

A hunted algorithm is somebody's unfinished code: it may hang or kill its process. So a worker that
dies is noticed at once, and leaving the crew ends all workers, whatever they do. Ctrl-C reaches
only the process that leads the crew. This file knows no schedule.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Generic, TypeVar, cast

from testbed.core.errors import EngineError

J = TypeVar("J")
R = TypeVar("R")

TASKS_EACH = 2
"""Tasks that a worker has at hand: one that it does, and the next."""

SECONDS_TO_END = 5.0


class Crew(Generic[J, R]):
    """So many processes that turn tasks into results; use it as a context."""

    def __init__(self, work: Callable[[J], R], workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._lines: list[Connection] = []
        self._processes = []
        resource_tracker.ensure_running()  # here, because starting it lifts the mask below
        # Workers inherit the mask: an interrupt is blocked in them from their first instruction.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            for _ in range(workers):
                mine, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(work, theirs), daemon=True)
                process.start()
                theirs.close()
                self._lines.append(mine)
                self._processes.append(process)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def __enter__(self) -> Crew[J, R]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(SECONDS_TO_END)
            if process.is_alive():
                process.kill()
                process.join()
            process.close()
        for line in self._lines:
            line.close()

    def results(self, tasks: Iterator[J]) -> Iterator[R]:
        """One result per task, in the order of the tasks; tasks are taken as workers need them."""
        next_out = 0
        done: dict[int, R] = {}
        numbered = enumerate(tasks)
        at_hand = dict.fromkeys(self._lines, 0)
        for line in self._lines * TASKS_EACH:
            self._feed(line, numbered, at_hand)
        while any(at_hand.values()):
            busy = [line for line in self._lines if at_hand[line]]
            for line in cast("list[Connection]", wait(busy)):
                number, result = self._hear(line)
                at_hand[line] -= 1
                done[number] = result
                self._feed(line, numbered, at_hand)
            while next_out in done:
                yield done.pop(next_out)
                next_out += 1

    def _feed(
        self, line: Connection, numbered: Iterator[tuple[int, J]], at_hand: dict[Connection, int]
    ) -> None:
        task = next(numbered, None)
        if task is None:
            return
        try:
            line.send(task)
        except OSError:
            raise self._death(line) from None
        at_hand[line] += 1

    def _hear(self, line: Connection) -> tuple[int, R]:
        try:
            number, result, error = line.recv()
        except (EOFError, OSError):
            raise self._death(line) from None
        if error is not None:
            raise error
        return number, result

    def _death(self, line: Connection) -> EngineError:
        process = self._processes[self._lines.index(line)]
        process.join(SECONDS_TO_END)
        return EngineError(f"a worker died with exit code {process.exitcode}")


def _serve(work: Callable[[J], R], line: Connection) -> None:
    """The life of a worker: until nobody asks any more."""
    while True:
        try:
            number, task = line.recv()
        except (EOFError, OSError):
            return
        try:
            answer = (number, work(task), None)
        except Exception as error:  # noqa: BLE001 - raised again by whoever asked
            line.send((number, None, error))
        else:
            line.send(answer)
