"""`make bench`: every benchmark, one after the other; a table for people, JSON for machines.

    python -m benchmarks [--json] [NAME]...

Each file of this folder has `measure() -> dict` and `table(result)`; every speed is a ratio against
something run beside it. Results are kept in benchmarks/results/.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

NAMES = (
    "engine", "audit", "check", "algorithms", "live", "sustained", "air", "mobile", "deadline",
    "solicitations",
)  # fmt: skip
RESULTS = Path(__file__).parent / "results"


def main(arguments: list[str]) -> int:
    names = [name for name in arguments if name != "--json"] or list(NAMES)
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"unknown benchmark '{unknown[0]}'; known are {', '.join(NAMES)}", file=sys.stderr)
        return 64
    results: dict[str, Any] = {}
    for name in names:
        benchmark = importlib.import_module(f"benchmarks.{name}")
        results[name] = benchmark.measure()
        if "--json" not in arguments:
            print(f"\n{name}\n{benchmark.table(results[name])}", flush=True)
    RESULTS.mkdir(exist_ok=True)
    kept = RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    kept.write_text(json.dumps(results, indent=2) + "\n")
    print(json.dumps(results, indent=2) if "--json" in arguments else f"\nas JSON: {kept}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
