"""All hosts of a run, each with the model that moves it."""

from __future__ import annotations

from typing import Protocol

import msgspec

from testbed.core.model import Nanos, NodeId
from testbed.core.world import Itinerary
from workloads.mobility.place import Place


class Model(Protocol):
    """Where a host is, and when; nobody moves after `until`."""

    def itinerary(self, host: NodeId, until: Nanos) -> Itinerary: ...

    def trail(self, host: NodeId, until: Nanos) -> list[Place]:
        """Where it turned, or jumped from and to: for a map."""
        ...


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

    def trail(self, host: NodeId, until: Nanos) -> list[Place]:
        return self._model(host).trail(host, until)

    def _model(self, host: NodeId) -> Model:
        return next(group.model for group in self.groups if host < group.first + group.count)
