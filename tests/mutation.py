"""Mutants: an algorithm's file with one piece of text replaced, loaded as a module of its own.

A mutant is data, (name, old text, new text); the old text must occur exactly once in the file, so a
mutant that no longer fits its algorithm fails loudly instead of testing nothing.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from testbed.algorithms import find
from testbed.core.algorithm import Algorithm
from testbed.hunt.generate import Shape
from testbed.hunt.play import play as mobile_audit
from testbed.hunt.wander import make_mobile_schedule
from testbed.trace.oracle import Fault
from tests.copies import changed_after_the_send
from tests.scene import Scene
from tests.schedules import from_seed, play


class Mutant(NamedTuple):
    """One change to an algorithm, and what must catch it."""

    name: str
    old: str
    new: str
    caught_by: str
    """`order`, `liveness`, or a check of the algorithm's own tests."""


def mutate(module: ModuleType, mutant: Mutant) -> Algorithm:
    """The algorithm of this module with the mutant's change."""
    algorithm: Algorithm = mutated(module, mutant).ALGORITHM
    return algorithm


def mutated(module: ModuleType, mutant: Mutant) -> ModuleType:
    """The module with the mutant's change, under a name of its own."""
    source = _source(module)
    found = source.count(mutant.old)
    assert found == 1, f"mutant '{mutant.name}': its text occurs {found} times in {module.__name__}"
    suffix = re.sub(r"\W", "_", mutant.name)
    return _load(f"{module.__name__}_mutant_{suffix}", source.replace(mutant.old, mutant.new))


def mutate_beneath(module: ModuleType, shared: ModuleType, mutant: Mutant) -> Algorithm:
    """The algorithm of this module as it is, on a shared module with the mutant's change."""
    changed = mutated(shared, mutant)
    package_name, _, name = shared.__name__.rpartition(".")
    package = sys.modules[package_name]
    sys.modules[shared.__name__] = changed
    setattr(package, name, changed)
    try:
        suffix = changed.__name__.rpartition(".")[2]
        algorithm: Algorithm = _load(f"{module.__name__}_on_{suffix}", _source(module)).ALGORITHM
    finally:
        sys.modules[shared.__name__] = shared
        setattr(package, name, shared)
    return algorithm


def _source(module: ModuleType) -> str:
    assert module.__file__ is not None
    return Path(module.__file__).read_text()


def _load(name: str, source: str) -> ModuleType:
    spec = importlib.util.spec_from_loader(name, loader=None)
    assert spec is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made  # msgspec resolves annotations through here
    exec(compile(source, name, "exec"), made.__dict__)
    return made


FAULTS = {
    "order": Fault.CAUSAL_ORDER,
    "liveness": Fault.LIVENESS,
    "once": Fault.EXACTLY_ONCE,
    "stranger": Fault.STRANGER,
}


def hunt(
    algorithm: Algorithm,
    caught_by: str,
    *,
    schedules: int = 300,
    n: int = 5,
    sends: int = 20,
    itself: bool = False,
    fifo: bool = False,
) -> int | None:
    """The first seed whose schedule shows the fault, or None if no schedule does."""  # fmt: skip
    fault = FAULTS[caught_by]

    def is_caught(scene: Scene) -> bool:
        return any(finding.fault is fault for finding in scene.audit().findings)

    return first_seed(
        lambda seed: is_caught(
            play(Scene(algorithm, n), from_seed(seed), sends=sends, itself=itself, fifo=fifo)
        ),
        schedules,
    )


def first_seed(shows: Callable[[int], bool], schedules: int) -> int | None:
    return next((seed for seed in range(schedules) if shows(seed)), None)


def assert_caught(algorithm: Algorithm, mutant: Mutant, *, itself: bool = False) -> None:
    """The audit, or the check of copies, notices this mutant."""
    if mutant.caught_by == "copy":
        caught = changed_after_the_send(algorithm, 3, from_seed(1), sends=10) != []
    else:
        caught = hunt(algorithm, mutant.caught_by, itself=itself) is not None
    assert caught, f"'{mutant.name}' survives"


def assert_nothing_caught(algorithm: Algorithm, *, itself: bool = False) -> None:
    """What catches mutants is silent about the algorithm itself."""
    for fault in FAULTS:
        assert hunt(algorithm, fault, schedules=60, itself=itself) is None
    assert changed_after_the_send(algorithm, 3, from_seed(1), sends=10) == []


MOBILE_FAULTS = FAULTS | {"waiver": Fault.WAIVER}


def mutate_family(modules: tuple[ModuleType, ...], mutant: Mutant) -> str:
    """A mobile algorithm whose common files are mutated; its path for `find`.

    `modules` in the order in which they import each other, the algorithm last; all are loaded
    anew, so that their packets are the same classes. The mutant's text occurs once in all of them.
    """
    sources = [Path(module.__file__ or "").read_text() for module in modules]
    found = sum(source.count(mutant.old) for source in sources)
    assert found == 1, f"mutant '{mutant.name}': its text occurs {found} times"
    stem = "mutant_" + re.sub(r"\W", "_", mutant.name)
    names = {module.__name__: f"{stem}_{module.__name__.rpartition('.')[2]}" for module in modules}
    for module, source in zip(modules, sources, strict=True):
        text = source.replace(mutant.old, mutant.new)
        for original, copy in names.items():
            package, _, last = original.rpartition(".")
            text = text.replace(f"from {original} import", f"from {copy} import")
            text = text.replace(f"from {package} import {last}\n", f"import {copy} as {last}\n")
        name = names[module.__name__]
        spec = importlib.util.spec_from_loader(name, loader=None)
        assert spec is not None
        changed = importlib.util.module_from_spec(spec)
        sys.modules[name] = changed
        exec(compile(text, name, "exec"), changed.__dict__)
    return f"{names[modules[-1].__name__]}:ALGORITHM"


def hunt_mobile(path: str, caught_by: str | None, numbers: range) -> int | None:
    """The first of these mobile schedules of seed 1 that shows the fault (None: any), or None."""
    algorithm = find(path)

    def shows(number: int) -> bool:
        audit = mobile_audit(make_mobile_schedule(path, algorithm, 1, number, Shape()))
        if caught_by == "crash" or caught_by is None:
            return "crashed" in audit.why or (caught_by is None and bool(audit.findings))
        return any(finding.fault is MOBILE_FAULTS[caught_by] for finding in audit.findings)

    return next((number for number in numbers if shows(number)), None)
