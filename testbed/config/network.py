"""The section `network` of an experiment file: what it takes, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from testbed.config.distributions import DistributionModel, ExponentialModel, built
from testbed.config.quantities import Duration, Rate, Size
from testbed.config.strict import Probability, Strict
from testbed.core.medium import Lan
from testbed.core.network import BurstLoss, Fifo, LinkSpec, Loss, NetworkSpec, Override


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


class LanModel(Strict):
    """Ahn section 5: nodes on a grid, one medium that all multicasts queue for."""

    bandwidth: Annotated[Rate, Field(gt=0)] = 10**8
    """Of the medium, and of each hop beyond the first."""
    hop: Duration = 1_000_000
    """Propagation delay between neighbours; in proportion to distance between others."""
    columns: Annotated[int, Field(ge=1)] | None = None
    """Nodes in one row of the grid; by default as near to a square as it goes."""


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
    links: list[LinkModel] = Field(default=[])
    """Exceptions for single links; the last that matches counts."""
    lan: LanModel | None = None
    """A medium that all nodes share, before `latency`; none: links know nothing of each other."""
    buffer: Annotated[Size, Field(gt=0)] | None = None
    """Payload bytes that each node may keep; a copy that does not fit is dropped."""


def network_spec(network: NetworkModel, source: Path) -> NetworkSpec:
    """The network model of a run; delay files are found beside `source`."""
    default = LinkSpec(
        latency=built(network.latency, source),
        loss=_loss(network.loss),
        duplicate=network.duplicate,
        bits_per_second=network.bandwidth,
        fifo=_fifo(network.fifo),
    )
    overrides = []
    for link in network.links:
        spec = LinkSpec(
            latency=default.latency if link.latency is None else built(link.latency, source),
            loss=default.loss if link.loss is None else _loss(link.loss),
            duplicate=default.duplicate if link.duplicate is None else link.duplicate,
            bits_per_second=link.bandwidth or default.bits_per_second,
            fifo=default.fifo if link.fifo is None else _fifo(link.fifo),
        )
        sources = None if link.source is None else tuple(link.source)
        targets = None if link.target is None else tuple(link.target)
        overrides.append(Override(sources, targets, spec))
    return NetworkSpec(default, tuple(overrides), _lan(network.lan))


def _lan(lan: LanModel | None) -> Lan | None:
    if lan is None:
        return None
    return Lan(bits_per_second=lan.bandwidth, hop=lan.hop, columns=lan.columns)


def _loss(loss: IndependentLossModel | BurstLossModel) -> Loss | BurstLoss:
    if isinstance(loss, IndependentLossModel):
        return Loss(loss.rate)
    return BurstLoss(loss.to_bad, loss.to_good, loss.loss_good, loss.loss_bad)


def _fifo(fifo: bool | str) -> Fifo:
    return Fifo.GK if fifo == "gk" else Fifo.ON if fifo else Fifo.OFF
