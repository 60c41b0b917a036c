"""`causalbed bench`: runs the files of benchmarks/, which are in a checkout, not in the wheel."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from testbed.core.errors import BadInput

HOME = Path(__file__).resolve().parents[2]


def run_benchmarks(names: Sequence[str], *, as_json: bool) -> int:
    if not (HOME / "benchmarks" / "__main__.py").is_file():
        raise BadInput("bench: the folder benchmarks/ is not here; run it in a checkout")
    flags = ["--json"] if as_json else []
    command = [sys.executable, "-m", "benchmarks", *flags, *names]
    return subprocess.run(command, cwd=HOME, check=False).returncode
