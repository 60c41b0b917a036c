"""The sections `faults` and `detector` of an experiment file: who fails, and who notices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from testbed.config.quantities import Duration
from testbed.config.strict import Strict
from testbed.core.detection import Detection, PhiDetection, TimeoutDetection
from testbed.core.errors import BadInput
from testbed.core.fault import Fault
from testbed.core.model import Nanos, NodeId
from workloads.faults import Failure, NotEnough, timeline


class CrashModel(Strict):
    """Nodes that stop for good, lose their memory, and send nothing more."""

    kind: Literal["crash"]
    nodes: list[Annotated[int, Field(ge=0)]] | None = None
    """Which; or a `fraction`."""
    fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of all nodes, drawn by the seed among those that have not crashed yet; at least one."""
    at: Duration
    """When, after the start."""

    @model_validator(mode="after")
    def _either(self) -> CrashModel:
        if (self.nodes is None) == (self.fraction is None):
            raise PydanticCustomError("victims", "takes either nodes or fraction")
        if self.nodes is not None and (not self.nodes or len(set(self.nodes)) < len(self.nodes)):
            raise PydanticCustomError("victims", "takes nodes that are at least one and distinct")
        return self


class KillActorModel(CrashModel):
    """Live: the actors of these nodes are killed without warning, with all nodes that live there.

    Virtual time has no actors: the nodes that would share one crash together.
    """

    kind: Literal["kill_actor"]  # type: ignore[assignment]  # another tag of the same shape


FaultModel = Annotated[CrashModel | KillActorModel, Field(discriminator="kind")]


class TimeoutModel(Strict):
    """Who was silent for longer than a fixed time is suspected."""

    kind: Literal["timeout"]
    interval: Annotated[Duration, Field(gt=0)] = 100_000_000
    """Between two heartbeats of a node."""
    timeout: Annotated[Duration, Field(gt=0)] = 500_000_000
    """The longest silence that is no reason for suspicion."""

    @model_validator(mode="after")
    def _patient(self) -> TimeoutModel:
        if self.timeout <= self.interval:
            raise PydanticCustomError("timeout", "takes a timeout above the interval")
        return self


class PhiModel(Strict):
    """Phi accrual: who is silent for unlikely long, by what was heard so far, is suspected."""

    kind: Literal["phi"]
    interval: Annotated[Duration, Field(gt=0)] = 100_000_000
    """Between two heartbeats of a node."""
    threshold: Annotated[float, Field(gt=0, le=300)] = 8.0
    """A silence is too long when one so long has a probability below 10 to the minus this."""


DetectorModel = Annotated[TimeoutModel | PhiModel, Field(discriminator="kind")]

LINGER_BEATS = 20
"""Heartbeats go on for at least so many intervals after the last send."""


def faults_of(
    models: list[FaultModel], n: int, seed: int, per_actor: int, source: Path
) -> tuple[Fault, ...]:
    """What goes wrong, by time; `per_actor` nodes share one actor."""
    failures = []
    for position, model in enumerate(models):
        for node in model.nodes or ():
            if node >= n:
                raise BadInput(
                    f"{source}: faults.{position}.nodes: got node {node}, takes 0 to {n - 1}"
                )
        nodes: tuple[NodeId, ...] | None = None if model.nodes is None else tuple(model.nodes)
        kills = isinstance(model, KillActorModel)
        failures.append(Failure(model.at, nodes, model.fraction, kills))
    try:
        return timeline(failures, n, seed, per_actor)
    except NotEnough as error:
        raise BadInput(f"{source}: faults: {error}") from error


def detection_of(model: DetectorModel | None, *, wanted: bool, slowest: Nanos) -> Detection | None:
    """What the experiment says; where it says nothing, the default for an algorithm that wants one.

    `slowest` is the mean delay of the slowest links.
    """
    if model is None:
        if not wanted:
            return None
        model = TimeoutModel(kind="timeout")
    linger = max(LINGER_BEATS * model.interval, 4 * slowest)
    match model:
        case TimeoutModel(interval=interval, timeout=timeout):
            linger = max(linger, 2 * timeout)
            return TimeoutDetection(interval=interval, timeout=timeout, linger=linger)
        case PhiModel(interval=interval, threshold=threshold):
            return PhiDetection(interval=interval, threshold=threshold, linger=linger)
