"""A mobile scene whose air is immediate: only what is on a wire waits for the test."""

from __future__ import annotations

from collections import Counter

from testbed.algorithms import find, parameters
from testbed.core.model import MessageId, Nanos, NodeId
from testbed.core.network import Arrivals
from tests.mobile_scene import MobileScene


class Stage(MobileScene):
    """An algorithm by its name, parameters among it."""

    def __init__(
        self, name: str, cells: tuple[NodeId, ...], *, stations: int, keeps: bool = True
    ) -> None:
        self.travelled: Counter[str] = Counter()
        super().__init__(
            find(name), stations=stations, cells=cells, keeps=keeps, params=parameters(name)
        )

    def send(self, node: NodeId, *dests: NodeId) -> MessageId:
        message = super().send(node, *dests)
        self._breathe()
        return message

    def enter(self, host: NodeId, station: NodeId) -> None:
        super().enter(host, station)
        self._breathe()

    def deaf(self, host: NodeId) -> None:
        """The host is out of reach, and neither it nor anybody else knows yet."""
        self.cell[host] = None

    def pass_on(self, kind: str, source: NodeId, to: NodeId) -> None:
        """The oldest such packet arrives, and all that the air makes of it."""
        self.arrive(kind, source, to)
        self._breathe()

    def on_wires(self) -> list[tuple[str, NodeId, NodeId]]:
        return [(frame.kind, frame.source, frame.to) for frame in self.flying]

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        kind = type(self.codec.decode(frame).packet).__name__
        self.travelled[kind] += 1
        return super().transmit(source, to, frame, now)

    def _breathe(self) -> None:
        is_air = self.world.is_air
        while any(is_air(frame.source, frame.to) for frame in self.flying):
            air = next(i for i, f in enumerate(self.flying) if is_air(f.source, f.to))
            self.arrive_at(air)
