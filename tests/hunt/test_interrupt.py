"""Ctrl-C ends a hunt with what it has: no traceback, no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

HUNT = """
import multiprocessing
from testbed.hunt.hunter import hunt
result = hunt(
    "rst", schedules=None, seconds=600, seed=1, cores=2,
    progress=lambda done, of: print("done", done, flush=True),
)
print("interrupted", result.interrupted, "of", result.schedules, result.verdict)
print("children", len(multiprocessing.active_children()))
"""


def test_an_interrupt_ends_the_hunt_and_all_its_workers() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HUNT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("done")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    out, err = process.communicate(timeout=120)  # ends when the last holder of the pipes is gone
    assert err == ""
    assert process.returncode == 0
    assert "interrupted True" in out
    assert out.endswith("children 0\n")
