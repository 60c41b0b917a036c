"""The section `topology` of an experiment file: stations, hosts, cells, and the air between them.

An experiment with a topology is mobile; AV appendix A gives what it does not say.
"""

from __future__ import annotations

from math import isqrt
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from testbed.config.distributions import ConstantModel, DistributionModel, built
from testbed.config.quantities import Length, Rate
from testbed.config.strict import Strict
from testbed.core.network import Fifo, LinkSpec
from testbed.core.world import World


class WirelessModel(Strict):
    """The air between a host and the station of its cell: FIFO, and reliable while it stays."""

    latency: DistributionModel = ConstantModel(kind="constant", value="500us")  # type: ignore[arg-type]  # parsed
    """Propagation delay of a frame."""
    bandwidth: Annotated[Rate, Field(gt=0)] | None = 10**6
    """Each direction between a host and its station sends at this rate; none: no queueing."""


class TopologyModel(Strict):
    """Stations with a cell each, row by row on a grid, and the hosts that move between them."""

    stations: Annotated[int, Field(ge=1, le=1_000)]
    """How many; they are nodes 0, 1, 2, ..."""
    hosts: Annotated[int, Field(ge=2, le=10_000)]
    """How many; they are the nodes after the stations."""
    columns: Annotated[int, Field(ge=1)] | None = None
    """Cells in one row of the grid; by default as near to a square as fills every row."""
    cell: Annotated[Length, Field(gt=0)] = 100.0
    """Side of a square cell."""
    capacity: Annotated[int, Field(ge=1)] | None = None
    """Hosts that one cell can hold; none: any number."""
    wireless: WirelessModel = WirelessModel()
    """The air in every cell."""

    @model_validator(mode="after")
    def _fits(self) -> TopologyModel:
        if self.columns is not None and self.columns > self.stations:
            raise PydanticCustomError("columns", "takes at most as many columns as stations")
        if self.capacity is not None and self.hosts > self.stations * self.capacity:
            raise PydanticCustomError(
                "capacity",
                "takes at most {most} hosts, because {stations} cells hold {capacity} each",
                {
                    "most": self.stations * self.capacity,
                    "stations": self.stations,
                    "capacity": self.capacity,
                },
            )
        return self


WIRED = {"latency": "7ms", "bandwidth": "100Mbps"}
"""Between stations, unless `network` says otherwise; not FIFO."""


def with_wires(tree: Any) -> Any:
    """The experiment's tree with what a topology implies: the number of nodes, and AV's wires."""
    if not isinstance(tree, dict) or not isinstance(tree.get("topology"), dict):
        return tree
    sizes = [tree["topology"].get(key) for key in ("stations", "hosts")]
    if "nodes" not in tree and all(type(size) is int for size in sizes):
        tree = tree | {"nodes": sum(sizes)}
    network = tree.get("network", {})
    return tree | {"network": WIRED | network} if isinstance(network, dict) else tree


def world_of(topology: TopologyModel) -> World:
    return World(
        topology.stations,
        topology.hosts,
        topology.columns or _columns(topology.stations),
        topology.cell,
    )


def _columns(stations: int) -> int:
    """The divisor next to the square root from above: no row of the grid is short."""
    root = isqrt(stations - 1) + 1
    return next(columns for columns in range(root, stations + 1) if stations % columns == 0)


def wireless_spec(model: WirelessModel, source: Path) -> LinkSpec:
    return LinkSpec(
        latency=built(model.latency, source), bits_per_second=model.bandwidth, fifo=Fifo.ON
    )
