"""`causalbed check`: the hunter on the command line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from testbed.algorithms import find
from testbed.cli.terminal import console, print_json, progress_bar
from testbed.core.errors import BadInput
from testbed.hunt.generate import Shape
from testbed.hunt.hunter import Hunt, hunt, replay
from testbed.hunt.schedule import Schedule
from testbed.trace.oracle import Verdict

SCHEDULES_DEFAULT = 10_000


def hunt_and_print(
    algorithm: str,
    *,
    schedules: int | None,
    seconds: float | None,
    seed: int,
    first: int,
    shape: Shape,
    save: Path | None,
    as_json: bool,
) -> int:
    find(algorithm)
    if schedules is None and seconds is None:
        schedules = SCHEDULES_DEFAULT
    with progress_bar(f"check {algorithm}", schedules, quiet=as_json) as tick:
        result = hunt(
            algorithm, schedules=schedules, seconds=seconds, seed=seed, first=first, shape=shape,
            progress=lambda done, _: tick(done),
        )  # fmt: skip
    saved = _save(result, save)
    if as_json:
        print_json(msgspec.to_builtins(result) | {"saved": [str(path) for path in saved]})
    else:
        _print(result, saved)
    return result.verdict.exit_code


def _save(result: Hunt, folder: Path | None) -> list[Path]:
    """Finds as files to replay, if a folder is named."""
    if folder is None:
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for found in result.finds:
            path = folder / f"{result.algorithm.replace(':', '.')}-{found.seed}-{found.number}.json"
            found.schedule.save(path)
            paths.append(path)
    except OSError as error:
        raise BadInput(f"--save {folder}: cannot be written: {error.strerror}") from error
    return paths


def _print(result: Hunt, saved: list[Path]) -> None:
    colour = {"valid": "green", "invalid": "red", "inconclusive": "yellow"}[result.verdict.value]
    console.print(f"[{colour}]{result.verdict.value}[/] {result.algorithm}", highlight=False)
    for found in result.finds:
        console.print(f"  {found.prose}", highlight=False)
        console.print(
            f"  again: causalbed check {result.algorithm} --seed {found.seed} "
            f"--first {found.number} --schedules 1",
            highlight=False,
        )
    for path in saved:
        console.print(f"  saved: {path}", highlight=False)
    for label, value in result.summary():
        console.print(f"  {label:<31}{value}", highlight=False)


def replay_and_print(algorithm: str, file: Path, *, as_json: bool) -> int:
    schedule = Schedule.load(file)
    find(algorithm)
    result = replay(msgspec.structs.replace(schedule, algorithm=algorithm))
    if as_json:
        print_json(result)
    else:
        console.print(f"{result.verdict.value}: {result.why}", highlight=False)
    return result.verdict.exit_code if result.verdict is not Verdict.VALID else 0
