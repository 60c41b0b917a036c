"""YAML to an Experiment; every mistake becomes one sentence with file, key, given and expected."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from testbed.config import experiment as models
from testbed.config.experiment import Experiment
from testbed.config.mobility import MobilityModel
from testbed.config.workload import UniformDestinations
from testbed.core.errors import BadInput

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
"""Where a bare name is looked for, after ./experiments."""


def find_experiment(name: str) -> Path:
    """A YAML file, or the name of one in experiments/."""
    folders = [Path("experiments"), EXPERIMENTS]
    candidates = [Path(name), *(folder / f"{name}.yaml" for folder in folders)]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    known = sorted({file.stem for folder in folders for file in folder.glob("*.yaml")})
    raise BadInput(
        f"no experiment '{name}': it takes a YAML file or one of {', '.join(known) or '(none)'}"
    )


def load(path: Path, settings: Sequence[str] = ()) -> Experiment:
    """Read, apply `--set key=value` settings, validate."""
    tree = _read(path)
    for setting in settings:
        _set(tree, setting)
    try:
        return Experiment.model_validate(tree)
    except ValidationError as error:
        raise BadInput(f"{path}: {_sentence(error, tree)}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.safe_load(path.read_text())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"{path}: is not YAML: {reason}") from error
    if not isinstance(tree, dict):
        raise BadInput(f"{path}: holds {type(tree).__name__}; it takes a mapping of keys")
    return tree


def _set(tree: dict[str, Any], setting: str) -> None:
    """`a.b.c=value` into the tree; the value is read as YAML."""
    key, equals, text = setting.partition("=")
    if not equals or not key:
        raise BadInput(f"--set {setting}: it takes key=value, such as network.loss=0.05")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadInput(f"--set {setting}: the value is not YAML") from error
    *parents, last = key.split(".")
    for part in parents:
        below = tree.setdefault(part, {})
        if not isinstance(below, dict):
            raise BadInput(f"--set {setting}: '{part}' holds a value, not a mapping of keys")
        tree = below
    tree[last] = value


# --- one clear sentence ---------------------------------------------------------------------------


def _sentence(error: ValidationError, tree: dict[str, Any]) -> str:
    """The first mistake: key, what it got, what it takes."""
    errors = error.errors(include_url=False)
    first = errors[0]
    path, parent = _walk(first["loc"], tree)
    key = ".".join(map(str, path)) or "the experiment"
    kind = first["type"]
    if kind == "extra_forbidden":
        known = _known_keys(first["loc"])
        close = difflib.get_close_matches(str(path[-1]), known, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        return f"{key}: unknown key; known here are {', '.join(known)}{hint}"
    if kind == "missing":
        return f"{key}: missing; the experiment needs it"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        choices = first["ctx"].get("expected_tags", "")
        got = parent.get("kind", "no kind") if isinstance(parent, dict) else first["input"]
        return f"{key}.kind: got {got!r}, takes one of {choices}"
    alternatives = [_takes(e) for e in errors if _walk(e["loc"], tree)[0] == path]
    takes = " or ".join(dict.fromkeys(alternatives))
    return f"{key}: got {_short(first['input'])}, takes {takes}"


def _walk(location: tuple[int | str, ...], tree: Any) -> tuple[list[int | str], Any]:
    """The location without pydantic's own steps (union tags), and what stands there."""
    path: list[int | str] = []
    here = tree
    for step in location:
        in_list = isinstance(here, list) and isinstance(step, int)
        if in_list or (isinstance(here, dict) and step in here):
            here = here[step]
        elif not (step is location[-1] and isinstance(here, dict) and _is_key(step)):
            continue
        path.append(step)
    return path, here


def _is_key(step: int | str) -> bool:
    """A missing key ends a location; a union's tag or type name does not."""
    return isinstance(step, str) and step.isidentifier() and step not in _TYPE_STEPS


_TYPE_STEPS = frozenset({"int", "float", "bool", "str", *models.KINDS, *models.MOVES})


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """The keys that the model at this place has."""
    by_place: dict[str, Any] = {**models.SECTIONS, **models.KINDS}
    if "destinations" in location:
        by_place["uniform"] = UniformDestinations
    model: Any = Experiment
    for step in location[:-1]:
        places = models.MOVES if model is MobilityModel and step in models.MOVES else by_place
        model = places.get(str(step), model)
    return [field.alias or key for key, field in model.model_fields.items()]


def _takes(error: Any) -> str:
    ctx = error.get("ctx", {})
    match error["type"]:
        case "greater_than_equal":
            return f"a number of at least {ctx['ge']:g}"
        case "greater_than":
            return f"a number above {ctx['gt']:g}"
        case "less_than_equal":
            return f"a number of at most {ctx['le']:g}"
        case "less_than":
            return f"a number below {ctx['lt']:g}"
        case "literal_error":
            return str(ctx["expected"])
        case "int_type" | "int_parsing" | "int_from_float":
            return "a whole number"
        case "float_type" | "float_parsing":
            return "a number"
        case "bool_type" | "bool_parsing":
            return "true or false"
        case "string_type":
            return "a text"
        case "string_pattern_mismatch":
            return "lower-case letters, digits, - and _, beginning with a letter or digit"
        case "model_type" | "model_attributes_type" | "dict_type":
            return "a mapping of keys"
        case "list_type":
            return "a list"
        case "too_short":
            return f"at least {ctx['min_length']}"
        case _:
            return str(error["msg"]).removeprefix("takes ")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
