"""Discovery: every module below this package that defines ALGORITHM is an algorithm.

Drop a file into a family and it is listed, runnable, checked and tested; there is no list to
edit. Names of the form `package.module:NAME` reach algorithms outside the repository, and
`name[key=value,...]` sets an algorithm's own parameters.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

import msgspec

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
    """The algorithm of this name, or of this `package.module:NAME`, whatever its parameters."""
    bare, _, _ = name.partition("[")
    if ":" in bare:
        return _outside(bare)
    known = algorithms()
    if bare not in known:
        raise BadInput(f"unknown algorithm '{bare}'; known are {', '.join(known)}")
    return known[bare]


def parameters(name: str) -> Any:
    """The values in `name[key=value,...]`, as the algorithm's own type; None if it has none."""
    algorithm = find(name)
    _, bracket, rest = name.partition("[")
    if bracket and not rest.endswith("]"):
        raise BadInput(f"'{name}': it takes name[key=value,...]")
    pairs = [pair.partition("=") for pair in rest[:-1].split(",") if pair]
    given = {key.strip(): value.strip() for key, _, value in pairs}
    if algorithm.params is None:
        if given:
            raise BadInput(f"'{name}': {algorithm.name} takes no parameters")
        return None
    known = algorithm.params.__struct_fields__
    for key in given:
        if key not in known:
            raise BadInput(f"'{name}': unknown parameter '{key}'; known are {', '.join(known)}")
    try:
        return msgspec.convert(given, algorithm.params, strict=False)
    except msgspec.ValidationError as error:
        takes = str(error).replace("Expected", "takes").replace(" - at `$.", " for `")
        raise BadInput(f"'{name}': {takes}") from error


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
