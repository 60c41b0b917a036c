"""Distributions in an experiment file: what they take, and what becomes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from testbed.config.quantities import Duration, duration
from testbed.config.strict import Strict
from testbed.core import distribution
from testbed.core.distribution import Distribution
from testbed.core.errors import BadInput
from testbed.core.model import Nanos


class ConstantModel(Strict):
    """Always the same; `latency: 50ms` is short for it."""

    kind: Literal["constant"]
    value: Duration


class UniformModel(Strict):
    """Any value from low to high, each as likely."""

    kind: Literal["uniform"]
    low: Duration
    high: Duration

    @model_validator(mode="after")
    def _in_order(self) -> UniformModel:
        if self.low > self.high:
            raise PydanticCustomError("order", "takes a low that is at most high")
        return self


class ExponentialModel(Strict):
    """Exponential with this mean."""

    kind: Literal["exponential"]
    mean: Duration


class NormalModel(Strict):
    """Normal, cut at zero."""

    kind: Literal["normal"]
    mean: Duration
    deviation: Duration


class LogNormalModel(Strict):
    """Log-normal, by its median and the deviation of its logarithm."""

    kind: Literal["lognormal"]
    median: Duration
    sigma: Annotated[float, Field(ge=0, le=10)]


class TraceModel(Strict):
    """Measured values, from a file of one duration per line, or here."""

    kind: Literal["trace"]
    file: str | None = None
    """Relative to the experiment file; blank lines and `#` comments are passed over."""
    values: list[Duration] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> TraceModel:
        if (self.file is None) == (self.values is None):
            raise PydanticCustomError("source", "takes either file or values")
        if self.values is not None and not self.values:
            raise PydanticCustomError("source", "takes at least one value")
        return self


def _short_constant(given: Any) -> Any:
    """`latency: 50ms` is short for a constant."""
    return {"kind": "constant", "value": given} if isinstance(given, str | int | float) else given


DistributionModel = Annotated[
    Annotated[
        ConstantModel | UniformModel | ExponentialModel | NormalModel | LogNormalModel | TraceModel,
        Field(discriminator="kind"),
    ],
    BeforeValidator(_short_constant),
]


def built(model: DistributionModel, source: Path) -> Distribution:
    match model:
        case ConstantModel(value=value):
            return distribution.Constant(value)
        case UniformModel(low=low, high=high):
            return distribution.Uniform(low, high)
        case ExponentialModel(mean=mean):
            return distribution.Exponential(mean)
        case NormalModel(mean=mean, deviation=deviation):
            return distribution.Normal(mean, deviation)
        case LogNormalModel(median=median, sigma=sigma):
            return distribution.LogNormal(median, sigma)
        case TraceModel(values=list() as values):
            return distribution.Empirical(tuple(values))
    return distribution.Empirical(_delay_file(source.parent / str(model.file), source))


def _delay_file(file: Path, source: Path) -> tuple[Nanos, ...]:
    """One duration with its unit per line; blank lines and # comments are passed over."""
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{source}: delay file {file} cannot be read: {error}") from error
    values = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            values.append(duration(text))
        except ValueError as error:
            raise BadInput(f"{file}, line {number}: got {text!r}, {error}") from error
    if not values:
        raise BadInput(f"{file}: holds no value; it takes one duration per line, such as 12.5ms")
    return tuple(values)
