"""Discovery: every module below this package that defines ALGORITHM is an algorithm.

Drop a file into a family and it is listed, runnable, checked and tested; there is no list to
edit. Names of the form `package.module:NAME` reach algorithms outside the repository.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from testbed.core.algorithm import Algorithm
from testbed.core.errors import BadInput


@cache
def algorithms() -> dict[str, Algorithm]:
    """All algorithms of the repository by name, in alphabetical order."""
    found = {}
    for module in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        algorithm = getattr(importlib.import_module(module.name), "ALGORITHM", None)
        if isinstance(algorithm, Algorithm):
            found[algorithm.name] = algorithm
    return dict(sorted(found.items()))


def find(name: str) -> Algorithm:
    """The algorithm of this name, or of this `package.module:NAME`."""
    if ":" in name:
        return _outside(name)
    known = algorithms()
    if name not in known:
        raise BadInput(f"unknown algorithm '{name}'; known are {', '.join(known)}")
    return known[name]


def _outside(path: str) -> Algorithm:
    module, _, attribute = path.partition(":")
    try:
        algorithm = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadInput(f"algorithm '{path}' cannot be loaded: {error}") from error
    if not isinstance(algorithm, Algorithm):
        raise BadInput(
            f"'{path}' is of type {type(algorithm).__name__}; it takes a testbed Algorithm record"
        )
    return algorithm
