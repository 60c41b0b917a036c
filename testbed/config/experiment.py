"""The experiment file as types: every key, what it takes, and its default.

Unknown keys are refused; choices are tagged by `kind`. This file says what an experiment may hold,
not how it is read (load.py) or what becomes of it (planning.py).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from testbed.config.quantities import Duration, Rate, Size

Probability = Annotated[float, Field(ge=0, le=1)]


class Strict(BaseModel):
    """No unknown key, no change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


# --- distributions --------------------------------------------------------------------------------


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


# --- network --------------------------------------------------------------------------------------


class BurstLossModel(Strict):
    """Gilbert-Elliott: a good and a bad state per link."""

    kind: Literal["gilbert-elliott"]
    to_bad: Annotated[float, Field(gt=0, le=1)]
    """Probability, at each copy, that a good link turns bad."""
    to_good: Annotated[float, Field(gt=0, le=1)]
    """Probability, at each copy, that a bad link turns good."""
    loss_good: Probability = 0.0
    loss_bad: Probability = 1.0


class IndependentLossModel(Strict):
    """Each copy is lost with this probability; `loss: 0.05` is short for it."""

    kind: Literal["independent"] = "independent"
    rate: Probability


def _short_loss(given: Any) -> Any:
    """`loss: 0.05` is short for independent loss."""
    return {"kind": "independent", "rate": given} if isinstance(given, int | float) else given


LossModel = Annotated[
    Annotated[IndependentLossModel | BurstLossModel, Field(discriminator="kind")],
    BeforeValidator(_short_loss),
]

FifoModel = bool | Literal["gk"]


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, int) else given


Nodes = Annotated[list[Annotated[int, Field(ge=0)]], BeforeValidator(_as_list)]


class LinkModel(Strict):
    """Exceptions for the links from some nodes to some nodes; what is not said is inherited."""

    source: Nodes | None = Field(default=None, alias="from")
    """One node or a list; all by default."""
    target: Nodes | None = Field(default=None, alias="to")
    """One node or a list; all by default."""
    latency: DistributionModel | None = None
    loss: LossModel | None = None
    duplicate: Probability | None = None
    bandwidth: Rate | None = None
    fifo: FifoModel | None = None


class NetworkModel(Strict):
    """What happens to a copy between its sender and its receiver."""

    latency: DistributionModel = ExponentialModel(kind="exponential", mean="50ms")  # type: ignore[arg-type]  # parsed
    """One-way delay of a copy."""
    loss: LossModel = IndependentLossModel(rate=0.0)
    """Which copies are lost."""
    duplicate: Probability = 0.0
    """Probability that a copy arrives twice, the second time with a delay of its own."""
    bandwidth: Rate | None = None
    """Each link sends its copies one after the other at this rate; none: no queueing."""
    fifo: FifoModel = False
    """`true` keeps each link in order; `gk` does it by GK section 3.2 (last arrival + 1 ms)."""
    reliable: bool | Literal["auto"] = "auto"
    """A link that acknowledges, retransmits and deduplicates; `auto`: where the network is faulty
    and the algorithm assumes that it is not."""
    retry: Duration | None = None
    """How long that link waits for an acknowledgement; by default four mean latencies."""
    links: list[LinkModel] = []
    """Exceptions for single links; the last that matches counts."""


# --- workload -------------------------------------------------------------------------------------


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
    rates: list[Annotated[float, Field(gt=0)]] = []
    """Factors on the sending rate of nodes 0, 1, 2, ..., repeated; `[1, 3]` makes odd nodes three
    times as fast."""


# --- the whole ------------------------------------------------------------------------------------


class PlacementModel(Strict):
    """Where nodes live in the live engine."""

    nodes_per_actor: Annotated[int, Field(ge=1)] | Literal["auto"] = 1
    """How many nodes share one Ray actor; `auto`: as few as memory allows."""


class StopModel(Strict):
    """When sending ends; the run ends when everything has arrived."""

    messages: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    """After so many messages of all nodes together."""
    duration: Duration | None = None
    """After so much emulated time."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """The first so many messages are left out of statistics (never out of the audit)."""

    @model_validator(mode="after")
    def _ends(self) -> StopModel:
        if self.messages is None and self.duration is None:
            raise PydanticCustomError("stop", "takes messages, duration or both")
        if self.messages is not None and self.warmup >= self.messages:
            raise PydanticCustomError("stop", "takes a warmup smaller than messages")
        return self


def _as_names(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


class Experiment(Strict):
    """One experiment file, all defaults filled in."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=60)]
    """Names the run directories."""
    algorithm: Annotated[list[str], BeforeValidator(_as_names), Field(min_length=1)]
    """One or several, by name or as `package.module:NAME`; each gets a run of its own."""
    nodes: Annotated[int, Field(ge=2, le=10_000)]
    """Number of processes."""
    engine: Literal["ray", "sim"] = "ray"
    """Live on Ray, or deterministic virtual time."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Decides traffic and the fate of every copy."""
    network: NetworkModel = NetworkModel()
    workload: WorkloadModel
    stop: StopModel
    speed: Annotated[float, Field(gt=0, le=10_000)] | Literal["auto"] = 1.0
    """Emulated seconds per second of wall time; `auto` slows down until timing holds."""
    placement: PlacementModel = PlacementModel()
    transport: Literal["direct", "ray"] = "direct"
    """Connections between the actors, or one Ray call per message."""


RESERVED = ("topology", "mobility", "deadline", "faults")
"""Keys that the design fixes for later versions."""

SECTIONS: dict[str, type[Strict]] = {
    "network": NetworkModel,
    "links": LinkModel,
    "workload": WorkloadModel,
    "payload": SizeRange,
    "placement": PlacementModel,
    "stop": StopModel,
}
"""The model under each key, for messages about unknown keys."""

KINDS: dict[str, type[Strict]] = {
    "constant": ConstantModel,
    "uniform": UniformModel,
    "exponential": ExponentialModel,
    "normal": NormalModel,
    "lognormal": LogNormalModel,
    "trace": TraceModel,
    "independent": IndependentLossModel,
    "gilbert-elliott": BurstLossModel,
    "all": AllDestinations,
    "selective": SelectiveDestinations,
}
"""The model of each `kind`; `uniform` is also a kind of destinations."""
