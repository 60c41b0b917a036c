"""All hosts of a run, each with the model that moves it."""

from __future__ import annotations

from typing import Protocol

import msgspec

from testbed.core.model import Nanos, NodeId
from testbed.core.world import Itinerary


class Model(Protocol):
    """Where a host is, and when; nobody moves after `until`."""

    def itinerary(self, host: NodeId, until: Nanos) -> Itinerary: ...


class Group(msgspec.Struct, frozen=True):
    """So many hosts, from the first of them, that move by one model."""

    first: NodeId
    count: int
    model: Model


class Groups(msgspec.Struct, frozen=True):
    """The mobility of a run: groups of hosts that follow one another."""

    notice: Nanos
    groups: tuple[Group, ...]

    def itinerary(self, host: NodeId, until: Nanos) -> Itinerary:
        return self._model(host).itinerary(host, until)

    def _model(self, host: NodeId) -> Model:
        return next(group.model for group in self.groups if host < group.first + group.count)
