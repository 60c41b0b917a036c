"""The sections `deadline` and `clocks` of an experiment file, and what they must not contradict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from testbed.config.distributions import ConstantModel, DistributionModel, TraceModel, built
from testbed.config.quantities import Drift, duration_text
from testbed.config.strict import Strict
from testbed.core.algorithm import Algorithm
from testbed.core.clocks import BILLION, Clocks
from testbed.core.distribution import Constant, Distribution, Empirical, Uniform
from testbed.core.errors import BadInput
from testbed.core.model import Nanos


class ClocksModel(Strict):
    """How the nodes' own clocks differ; algorithms see no other."""

    offset: DistributionModel = ConstantModel(kind="constant", value="0ms")  # type: ignore[arg-type]  # parsed
    """How far a node's clock is ahead of the run's at the start."""
    drift: Annotated[Drift, Field(le=100_000_000)] = 0
    """Each clock gains or loses at a rate drawn evenly up to this, such as `50ppm`."""


def _above_zero(model: DistributionModel) -> DistributionModel:
    """A lifetime of nothing at all is no lifetime."""
    if isinstance(model, TraceModel):
        smallest = min(model.values) if model.values else 1
    else:
        names = ("value", "low", "mean", "median")
        smallest = next(getattr(model, name) for name in names if hasattr(model, name))
    if smallest == 0:
        raise PydanticCustomError("lifetime", "takes lifetimes above 0, such as 500ms")
    return model


Lifetimes = Annotated[DistributionModel, AfterValidator(_above_zero)]


def lifetimes(model: DistributionModel | None, source: Path) -> Distribution | None:
    """How long messages are of use; files of lifetimes are found beside `source`."""
    if model is None:
        return None
    distribution = built(model, source)
    if isinstance(distribution, Empirical) and min(distribution.values) == 0:
        raise BadInput(f"{source}: deadline: got a file with 0, takes lifetimes above 0")
    return distribution


def clocks_of(model: ClocksModel | None, source: Path) -> Clocks | None:
    if model is None:
        return None
    return Clocks(ahead=built(model.offset, source), drift_ppb=model.drift)


def check_deadlines(
    algorithm: Algorithm,
    lifetime: Distribution | None,
    clocks: Clocks | None,
    duration: Nanos | None,
    source: Path,
) -> list[str]:
    """What to warn of; `duration` is how long sending lasts, where the experiment says it."""
    if lifetime is None:
        if algorithm.uses_deadlines:
            raise BadInput(
                f"{source}: deadline: missing, but {algorithm.name} gives up what cannot meet its "
                "deadline: it takes a lifetime of messages, such as 500ms"
            )
        return []
    apart = 0.0 if clocks is None else _apart(clocks, duration)
    if apart >= lifetime.mean_ns:
        raise BadInput(
            f"{source}: clocks: they are up to {duration_text(round(apart))} apart, but messages "
            f"live {duration_text(round(lifetime.mean_ns))} on average: it takes clocks that "
            "differ by less than the deadline"
        )
    if not algorithm.uses_deadlines:
        return [
            f"{algorithm.name} ignores deadlines: what it delivers late is counted as a miss, "
            "and is no violation"
        ]
    return []


def _apart(clocks: Clocks, duration: Nanos | None) -> float:
    """How far two clocks may be apart; by the mean where an offset has no limit."""
    drifted = 2 * clocks.drift_ppb * (duration or 0) / BILLION
    match clocks.ahead:
        case Uniform(low=low, high=high):
            return high - low + drifted
        case Empirical(values=values):
            return max(values) - min(values) + drifted
        case Constant():
            return drifted
    return clocks.ahead.mean_ns + drifted
