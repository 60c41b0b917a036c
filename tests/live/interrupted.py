"""A program that runs for a long time, to be interrupted: prints its actors, then how it ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from actors.drive import Drive
from actors.engine import LiveOptions, ray_session, run_live
from testbed.trace import rundir
from tests.live.conftest import MS, plan_of


def main(folder: str) -> int:
    options = LiveOptions()
    say_when_stopping()
    try:
        with ray_session(options):
            short = rundir.create(Path(folder), "short")
            first = run_live(plan_of("ks", n=3, messages=5), short, options)
            shown: list[int] = []

            def show(done: int, total: int) -> None:
                if done > 50 and not shown:
                    shown.extend(first.processes)
                    say(json.dumps(shown))

            run = rundir.create(Path(folder), "interrupted")
            run_live(
                plan_of("ks", n=3, messages=100_000, interval=20 * MS), run, options, progress=show
            )
    except KeyboardInterrupt:
        say("aborted")
        return 130
    return 0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say_when_stopping() -> None:
    """So that the second interruption meets the cleaning up, not the first one's way there."""
    abandon = Drive.abandon

    def announced(drive: Drive) -> None:
        say("stopping")
        abandon(drive)

    Drive.abandon = announced  # type: ignore[method-assign]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
