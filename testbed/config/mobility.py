"""The section `mobility` of an experiment file: what it takes, and what becomes of it.

One model for all hosts, or groups of hosts with a model each, in the order of the hosts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from testbed.config.moves import Moves, Scene, model_of
from testbed.config.quantities import Duration
from testbed.config.strict import Strict
from testbed.core.errors import BadInput
from testbed.core.world import World
from workloads.mobility.groups import Group, Groups

MovesModel = Annotated[Moves, Field(discriminator="kind")]

_OWN = ("disconnected", "notice", "beacon", "groups")


def _short_groups(given: Any) -> Any:
    """One model with its keys here is short for one group of all hosts."""
    if not isinstance(given, dict) or "groups" in given:
        return given
    own = {key: value for key, value in given.items() if key in _OWN}
    return own | {"groups": [{key: given[key] for key in given if key not in own}]}


class MobilityModel(Strict):
    """Where hosts go; a model's keys stand here, or in `groups` where hosts differ."""

    disconnected: Literal["keep", "drop"] = "keep"
    """What stations do with messages for a host that has disconnected."""
    notice: Duration = 5_000_000
    """How long before it is gone a disconnecting host tells its station."""
    beacon: Duration = 100_000_000
    """Time between two beacons of a station, for models with positions; a host knows its new cell
    at the first that it hears."""
    groups: Annotated[list[MovesModel], Field(min_length=1)]
    """Models with their keys, for as many hosts each as they say."""


Mobility = Annotated[MobilityModel, BeforeValidator(_short_groups)]


def groups_of(mobility: MobilityModel, world: World, seed: int, source: Path) -> Groups:
    """Every host with its model; counts that do not fit are refused."""
    first, groups = world.stations, []
    for position, moves in enumerate(mobility.groups):
        is_last = position == len(mobility.groups) - 1
        left = world.n - first
        count = left if moves.hosts is None and is_last else moves.hosts
        if count is None:
            raise BadInput(
                f"{source}: mobility.groups.{position}.hosts: missing; only the last group may "
                "leave it out"
            )
        if count > left or (is_last and count < left) or not count:
            total = sum(group.hosts or 0 for group in mobility.groups)
            raise BadInput(
                f"{source}: mobility.groups: got models for {total} hosts, takes one for each of "
                f"the {world.hosts} of topology.hosts"
            )
        scene = Scene(world, seed, mobility.beacon, source, first, count)
        groups.append(Group(first, count, model_of(moves, scene)))
        first += count
    return Groups(mobility.notice, tuple(groups))
