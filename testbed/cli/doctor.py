"""`causalbed doctor`: what this machine has, what is missing, and what to do about it."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
from typing import NamedTuple

from testbed.cli.outcome import memory_mib
from testbed.cli.terminal import console

PYTHON_MIN = (3, 11)
CORES_MIN = 2
MEMORY_MIB_MIN = 4_000
MEMORY_MIB_PER_ACTOR = 120
REINSTALL = "run `make setup` again"


class Check(NamedTuple):
    """One line of the answer."""

    what: str
    found: str
    ok: bool
    advice: str
    needed: bool = True
    """False: causalbed works without it, with less."""


def checks() -> list[Check]:
    """Everything causalbed needs, in the order in which to mend it."""
    cores, memory = os.cpu_count() or 1, memory_mib()
    return [
        Check(
            "Python", ".".join(map(str, sys.version_info[:3])),
            sys.version_info >= PYTHON_MIN, "install Python 3.11 or newer",
        ),
        _package("ray"),
        _package("pyspark"),
        _package("pyarrow"),
        _package("pyzmq"),
        _java(),
        _curve(),
        Check(
            "cores", str(cores), cores >= CORES_MIN,
            "live runs need two cores to keep time; use --engine sim, or a slower speed", False,
        ),
        Check(
            "memory", f"{memory} MiB", memory >= MEMORY_MIB_MIN,
            f"an actor takes {MEMORY_MIB_PER_ACTOR} MiB; set placement.nodes_per_actor", False,
        ),
        Check(
            "Chromium", shutil.which("chromium") or "none", shutil.which("chromium") is not None,
            "only the test that looks at the report needs it: apt-get install chromium", False,
        ),
    ]  # fmt: skip


def _package(name: str) -> Check:
    try:
        return Check(name, importlib.metadata.version(name), True, "")
    except importlib.metadata.PackageNotFoundError:
        return Check(name, "none", False, REINSTALL)


def _java() -> Check:
    from analysis.java import ADVICE, find_java

    found = find_java()
    if found is None:
        return Check("Java", "none", False, ADVICE)
    return Check("Java", f"{found[1]} in {found[0]}", True, "")


def _curve() -> Check:
    """Direct connections between actors are authenticated with CURVE, an option of ZeroMQ."""
    from actors.engine import has_curve

    if has_curve():
        return Check("CURVE", "yes", True, "")
    return Check("CURVE", "no", False, f"pyzmq was built without CURVE: {REINSTALL}")


def print_checks(found: list[Check]) -> None:
    for check in found:
        colour, mark = ("green", "ok") if check.ok else ("red", "missing")
        if not check.ok and not check.needed:
            colour, mark = "yellow", "weak"
        console.print(f"[{colour}]{mark:>8}[/]  {check.what}: {check.found}", highlight=False)
        if not check.ok:
            console.print(f"          {check.advice}", highlight=False)
