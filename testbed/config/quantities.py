"""Quantities with units: a number without its unit is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer
from pydantic_core import PydanticCustomError

_DURATION = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_RATE = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9}
_SIZE = {"B": 1, "KB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20}
_DRIFT = {"ppb": 1, "ppm": 1_000}
_LENGTH = {"m": 1.0, "km": 1000.0}
_SPEED = {"m/s": 1.0, "km/h": 1 / 3.6}
_QUANTITY = re.compile(r"^\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z/]+)\s*$")


def _parse(text: Any, units: Mapping[str, float], what: str, example: str) -> float:
    match = _QUANTITY.match(text) if isinstance(text, str) else None
    if match is None or match[2] not in units:
        raise PydanticCustomError(
            "quantity",
            "takes {what} with its unit, such as {example} ({units})",
            {"what": what, "example": example, "units": ", ".join(units)},
        )
    return float(match[1]) * units[match[2]]


def duration(text: Any) -> int:
    """`50ms` to nanoseconds."""
    return round(_parse(text, _DURATION, "a duration", "50ms"))


def rate(text: Any) -> int:
    """`100Mbps` to bits per second."""
    return round(_parse(text, _RATE, "a data rate", "100Mbps"))


def size(text: Any) -> int:
    """`256B` to bytes."""
    return round(_parse(text, _SIZE, "a size", "256B"))


def drift(text: Any) -> int:
    """`50ppm` to nanoseconds per second."""
    return round(_parse(text, _DRIFT, "a rate of drift", "50ppm"))


def length(text: Any) -> float:
    """`100m` to metres."""
    return _parse(text, _LENGTH, "a length", "100m")


def speed(text: Any) -> float:
    """`1.4m/s` to metres per second."""
    return _parse(text, _SPEED, "a speed", "1.4m/s")


def duration_text(nanos: int) -> str:
    """Nanoseconds as a person would write them; `duration` reads it back."""
    for unit in ("h", "min", "s", "ms", "us"):
        if nanos and nanos % _DURATION[unit] == 0:
            return f"{nanos // _DURATION[unit]}{unit}"
    return f"{nanos}ns"


Duration = Annotated[int, BeforeValidator(duration), PlainSerializer(duration_text)]
Rate = Annotated[int, BeforeValidator(rate), PlainSerializer(lambda bits: f"{bits}bps")]
Size = Annotated[int, BeforeValidator(size), PlainSerializer(lambda count: f"{count}B")]
Drift = Annotated[int, BeforeValidator(drift), PlainSerializer(lambda ppb: f"{ppb}ppb")]
Length = Annotated[float, BeforeValidator(length), PlainSerializer(lambda metres: f"{metres:g}m")]
Speed = Annotated[float, BeforeValidator(speed), PlainSerializer(lambda metres: f"{metres:g}m/s")]
