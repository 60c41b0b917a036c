"""The experiment file as types: every key, what it takes, and its default.

Unknown keys are refused; choices are tagged by `kind`. Larger sections have files of their own,
where also stands what becomes of them. How a file is read is in load.py, and planning.py makes
plans of it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from testbed.config import distributions, moves
from testbed.config.deadlines import ClocksModel, Lifetimes
from testbed.config.faults import (
    CrashModel,
    DetectorModel,
    FaultModel,
    KillActorModel,
    PhiModel,
    TimeoutModel,
)
from testbed.config.mobility import Mobility, MobilityModel
from testbed.config.network import (
    BurstLossModel,
    IndependentLossModel,
    LanModel,
    LinkModel,
    NetworkModel,
)
from testbed.config.quantities import Duration
from testbed.config.strict import Strict
from testbed.config.topology import TopologyModel, WirelessModel, with_wires
from testbed.config.workload import (
    AllDestinations,
    SelectiveDestinations,
    SizeRange,
    WorkloadModel,
)


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
    nodes: Annotated[int, Field(ge=2, le=11_000)]
    """Number of processes; with a topology, which says it, of stations and hosts together."""
    engine: Literal["ray", "sim"] = "ray"
    """Live on Ray, or deterministic virtual time."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Decides traffic and the fate of every copy."""
    topology: TopologyModel | None = None
    """Stations and hosts, for mobile algorithms; none: processes that stay where they are."""
    mobility: Mobility | None = None
    """Where hosts go; none: they stay in their first cells."""
    network: NetworkModel = NetworkModel()
    workload: WorkloadModel
    deadline: Lifetimes | None = None
    """How long after its sending a message is of use, by the sender's clock; none: for ever."""
    clocks: ClocksModel | None = None
    """The nodes' own clocks; none: all of them show the run's time."""
    faults: list[FaultModel] = Field(default=[])
    """What goes wrong, and when."""
    detector: DetectorModel | None = None
    """A failure detector under every node; none: only under algorithms that want one."""
    stop: StopModel
    speed: Annotated[float, Field(gt=0, le=10_000)] | Literal["auto"] = 1.0
    """Emulated seconds per second of wall time; `auto` slows down until timing holds."""
    placement: PlacementModel = PlacementModel()
    transport: Literal["direct", "ray"] = "direct"
    """Connections between the actors, or one Ray call per message."""

    @model_validator(mode="before")
    @classmethod
    def _with_wires(cls, tree: Any) -> Any:
        return with_wires(tree)


SECTIONS: dict[str, type[Strict]] = {
    "topology": TopologyModel,
    "wireless": WirelessModel,
    "mobility": MobilityModel,
    "stays": moves.StayModel,
    "disconnect": moves.DisconnectModel,
    "network": NetworkModel,
    "links": LinkModel,
    "workload": WorkloadModel,
    "payload": SizeRange,
    "lan": LanModel,
    "clocks": ClocksModel,
    "placement": PlacementModel,
    "stop": StopModel,
}
"""The model under each key, for messages about unknown keys."""

KINDS: dict[str, type[Strict]] = {
    "constant": distributions.ConstantModel,
    "uniform": distributions.UniformModel,
    "exponential": distributions.ExponentialModel,
    "normal": distributions.NormalModel,
    "lognormal": distributions.LogNormalModel,
    "trace": distributions.TraceModel,
    "independent": IndependentLossModel,
    "gilbert-elliott": BurstLossModel,
    "all": AllDestinations,
    "selective": SelectiveDestinations,
    "crash": CrashModel,
    "kill_actor": KillActorModel,
    "timeout": TimeoutModel,
    "phi": PhiModel,
}
"""The model of each `kind`; `uniform` is also a kind of destinations."""

MOVES: dict[str, type[Strict]] = {
    "still": moves.StillMoves,
    "exponential": moves.ExponentialMoves,
    "waypoint": moves.WaypointMoves,
    "gauss-markov": moves.GaussMarkovMoves,
    "bonnmotion": moves.FileMoves,
    "ns2": moves.FileMoves,
    "itinerary": moves.GivenMoves,
}
"""The model of each `kind` of movement; `exponential` is also a distribution."""
