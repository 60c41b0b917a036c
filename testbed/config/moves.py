"""Models of movement in an experiment file: what each takes, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from testbed.config.distributions import ConstantModel, DistributionModel, ExponentialModel, built
from testbed.config.quantities import Duration, Length, Speed
from testbed.config.strict import Probability, Strict
from testbed.core.distribution import Exponential
from testbed.core.errors import BadInput
from testbed.core.model import Nanos, NodeId
from testbed.core.world import FOREVER, Stay, World
from workloads.mobility.bonnmotion import bonnmotion
from workloads.mobility.cells import CellChanges, Next
from workloads.mobility.disconnections import Disconnections
from workloads.mobility.gauss_markov import GaussMarkov
from workloads.mobility.given import Given
from workloads.mobility.groups import Model
from workloads.mobility.ns2 import ns2
from workloads.mobility.replay import BadMovements, Ground, Replay
from workloads.mobility.walk import Beacons, Walk, Walking
from workloads.mobility.waypoint import RandomWaypoint


class DisconnectModel(Strict):
    """Departures that the host announces, and after which it is off the air."""

    share: Probability
    """Of all departures from a cell."""
    lasts: DistributionModel = ExponentialModel(kind="exponential", mean="5s")  # type: ignore[arg-type]  # parsed
    """How long the host is off the air."""


class Members(Strict):
    """What every model of movement takes."""

    hosts: Annotated[int, Field(ge=1)] | None = None
    """How many hosts move like this; the last group may leave it out and gets the rest."""
    disconnect: DisconnectModel = DisconnectModel(share=0.0)
    """Departures after which a host is off the air."""


class StillMoves(Members):
    """Hosts stay in the cells in which they are at the start, drawn at random."""

    kind: Literal["still"]


class ExponentialMoves(Members):
    """AV appendix A: from cell to cell, after exponential times; the first cell is random."""

    kind: Literal["exponential"]
    mean: Duration
    """Mean time in a cell, AV's t_h."""
    gap: DistributionModel = ConstantModel(kind="constant", value="0ms")  # type: ignore[arg-type]  # parsed
    """How long a host is in no cell between two."""
    next: Literal["any", "neighbour", "back"] = "any"
    """The next cell: any other, one that shares a side, or to one neighbour and back again."""


class WaypointMoves(Members):
    """Random waypoint over the grid of cells: walk straight to a place anywhere, pause, repeat."""

    kind: Literal["waypoint"]
    slow: Annotated[Speed, Field(gt=0)] = 0.5
    """Speeds are drawn from this ..."""
    fast: Annotated[Speed, Field(gt=0)] = 2.0
    """... to this."""
    pause: DistributionModel = ConstantModel(kind="constant", value="0s")  # type: ignore[arg-type]  # parsed
    """How long a host rests where it arrives."""

    @model_validator(mode="after")
    def _in_order(self) -> WaypointMoves:
        if self.slow > self.fast:
            raise PydanticCustomError("order", "takes a slow that is at most fast")
        return self


class GaussMarkovMoves(Members):
    """Gauss-Markov: speed and direction change little by little, away from the outer border."""

    kind: Literal["gauss-markov"]
    memory: Probability = 0.75
    """How much of speed and direction is kept at each step."""
    speed: Annotated[Speed, Field(gt=0)] = 1.4
    """Mean speed."""
    deviation: Speed = 0.3
    """Standard deviation of the speed."""
    turn: Annotated[float, Field(ge=0)] = 0.8
    """Standard deviation of the direction, in radians."""
    step: Annotated[Duration, Field(gt=0)] = 10**9
    """Time between two changes."""
    margin: Annotated[Length, Field(ge=0)] = 20.0
    """Hosts that are this near to the outer border are turned to the middle."""


class FileMoves(Members):
    """Walks from a file; host number i of the file is number i of these hosts."""

    kind: Literal["bonnmotion", "ns2"]
    file: str
    """Relative to the experiment file: BonnMotion's `.movements`, or a movement script of ns-2."""


class StayModel(Strict):
    """One stay of one host."""

    station: Annotated[int, Field(ge=0)]
    start: Duration = Field(default=0, alias="from")
    """When the host hears the station's beacon."""
    until: Duration | None = None
    """When it leaves; the last stay has no end."""
    disconnects: bool = False
    """It says that it leaves, and is off the air until its next stay."""


class GivenMoves(Members):
    """Stays that are written down, host by host."""

    kind: Literal["itinerary"]
    stays: Annotated[list[Annotated[list[StayModel], Field(min_length=1)]], Field(min_length=1)]
    """For each host the list of its stays, by time, from 0 on."""

    @model_validator(mode="after")
    def _by_time(self) -> GivenMoves:
        for stays in self.stays:
            ends = [0, *(FOREVER if stay.until is None else stay.until for stay in stays)]
            if stays[0].start or ends[-1] != FOREVER or FOREVER in ends[:-1]:
                raise PydanticCustomError(
                    "stays", "takes stays from 0ns on, all but the last with an end (until)"
                )
            starts = [stay.start for stay in stays]
            if any(a > b for a, b in zip(ends, starts, strict=False)) or any(
                a >= b for a, b in zip(starts, ends[1:], strict=True)
            ):
                raise PydanticCustomError("stays", "takes stays that follow one another in time")
        return self


Moves = StillMoves | ExponentialMoves | WaypointMoves | GaussMarkovMoves | FileMoves | GivenMoves


class Scene(NamedTuple):
    """What a model of movement is built for."""

    world: World
    seed: int
    beacon: Nanos
    source: Path
    first: NodeId
    """Of the hosts that move by the model."""
    hosts: int


def model_of(moves: Moves, scene: Scene) -> Model:
    """The movement of these hosts."""
    seed, world, source = scene.seed, scene.world, scene.source
    match moves:
        case StillMoves():
            return CellChanges(seed=seed, world=world, stay=None)
        case ExponentialMoves():
            return CellChanges(
                seed=seed,
                world=world,
                stay=Exponential(moves.mean),
                gap=built(moves.gap, source),
                next=Next(moves.next),
                disconnections=_disconnections(moves, source),
            )
        case GivenMoves():
            return _given(moves, scene)
    if world.stations % world.columns:
        raise BadInput(
            f"{source}: topology.columns: got {world.columns} for {world.stations} stations; "
            f"{moves.kind} walks over a grid of full rows and takes a divisor"
        )
    return Walking(
        seed=seed,
        world=world,
        walk=_walk(moves, scene),
        beacons=Beacons(seed, scene.beacon),
        disconnections=_disconnections(moves, source),
    )


def _disconnections(moves: Members, source: Path) -> Disconnections:
    return Disconnections(moves.disconnect.share, built(moves.disconnect.lasts, source))


def _walk(moves: WaypointMoves | GaussMarkovMoves | FileMoves, scene: Scene) -> Walk:
    seed, width, height = scene.seed, scene.world.width, scene.world.height
    match moves:
        case WaypointMoves():
            return RandomWaypoint(
                seed=seed,
                width=width,
                height=height,
                slow=moves.slow,
                fast=moves.fast,
                pause=built(moves.pause, scene.source),
            )
        case GaussMarkovMoves():
            return GaussMarkov(
                seed=seed,
                width=width,
                height=height,
                margin=moves.margin,
                memory=moves.memory,
                speed=moves.speed,
                deviation=moves.deviation,
                turn=moves.turn,
                step=moves.step,
            )
    return _replay(moves, scene)


def _replay(moves: FileMoves, scene: Scene) -> Replay:
    file = scene.source.parent / moves.file
    read = bonnmotion if moves.kind == "bonnmotion" else ns2
    try:
        text = file.read_text()
        tracks = read(text, Ground(scene.hosts, scene.world.width, scene.world.height))
    except BadMovements as error:
        raise BadInput(f"{file}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise BadInput(f"{scene.source}: mobility.file: {file} cannot be read: {reason}") from error
    return Replay(scene.first, tracks)


def _given(moves: GivenMoves, scene: Scene) -> Given:
    source, stations = scene.source, scene.world.stations
    if len(moves.stays) != scene.hosts:
        raise BadInput(
            f"{source}: mobility.stays: got {len(moves.stays)} hosts, takes {scene.hosts}"
        )
    unknown = [s.station for stays in moves.stays for s in stays if s.station >= stations]
    if unknown:
        raise BadInput(
            f"{source}: mobility.stays: got station {unknown[0]}, takes 0 to {stations - 1}"
        )
    return Given(
        scene.world,
        scene.first,
        tuple(
            tuple(
                Stay(s.station, s.start, FOREVER if s.until is None else s.until, s.disconnects)
                for s in stays
            )
            for stays in moves.stays
        ),
    )
