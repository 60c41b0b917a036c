"""The section `workload` of an experiment file: what it takes, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from testbed.config.distributions import DistributionModel, built
from testbed.config.quantities import Size
from testbed.config.strict import Probability, Strict
from testbed.core.distribution import Distribution
from workloads import destinations
from workloads.traffic import Traffic


class UniformDestinations(Strict):
    """Each number of destinations from low to high, and each set of that size, as likely."""

    kind: Literal["uniform"] = "uniform"
    low: Annotated[int, Field(ge=1)] = 1
    high: Annotated[int, Field(ge=1)] | None = None
    """None: as many as there are."""
    itself: bool = False
    """Whether the sender may be a destination."""


class AllDestinations(Strict):
    """Broadcast."""

    kind: Literal["all"]
    itself: bool = False
    """Whether the sender is a destination, too."""


class SelectiveDestinations(Strict):
    """PRS section 7.2: mostly among nodes of the same parity."""

    kind: Literal["selective"]
    same: Probability
    """Probability that all destinations have the sender's parity."""
    low: Annotated[int, Field(ge=1)] = 1
    high: Annotated[int, Field(ge=1)] | None = None


class SizeRange(Strict):
    low: Size
    high: Size

    @model_validator(mode="after")
    def _in_order(self) -> SizeRange:
        if self.low > self.high:
            raise PydanticCustomError("order", "takes a low that is at most high")
        return self


class WorkloadModel(Strict):
    """Who sends what to whom, and when; open loop."""

    interval: DistributionModel
    """Time between two sends of one node."""
    multicast: Probability | None = None
    """Share of messages that go to a drawn destination set; the others go to one node each.
    By default all."""
    destinations: Annotated[
        UniformDestinations | AllDestinations | SelectiveDestinations, Field(discriminator="kind")
    ] = UniformDestinations()
    """How a multicast's destinations are drawn."""
    payload: Size | SizeRange = 256
    """Size of a message's payload, or `{low, high}`."""
    rates: list[Annotated[float, Field(gt=0)]] = Field(default=[])
    """Factors on the sending rate of nodes 0, 1, 2, ..., repeated; `[1, 3]` makes odd nodes three
    times as fast."""
    stations: DistributionModel | None = None
    """With a topology: time between two sends of one station, to hosts; none: only hosts send."""


def multicast_share(workload: WorkloadModel) -> float:
    """All messages are multicasts unless the experiment says how many."""
    return 1.0 if workload.multicast is None else workload.multicast


def payload_most(workload: WorkloadModel) -> int:
    """Bytes of the largest payload."""
    payload = workload.payload
    return payload if isinstance(payload, int) else payload.high


def traffic(workload: WorkloadModel, source: Path, lifetime: Distribution | None = None) -> Traffic:
    """Who sends what to whom; files of intervals are found beside `source`."""
    payload = workload.payload
    low, high = (payload, payload) if isinstance(payload, int) else (payload.low, payload.high)
    chosen: destinations.Destinations
    match workload.destinations:
        case UniformDestinations(low=least, high=most, itself=itself):
            chosen = destinations.Uniform(least, most, itself)
        case AllDestinations(itself=itself):
            chosen = destinations.All(itself)
        case SelectiveDestinations(same=same, low=least, high=most):
            chosen = destinations.Selective(same, least, most)
    return Traffic(
        interval=built(workload.interval, source),
        destinations=chosen,
        multicast=multicast_share(workload),
        payload_low=low,
        payload_high=high,
        rates=tuple(workload.rates),
        lifetime=lifetime,
    )
