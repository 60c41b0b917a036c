"""Algorithms with one fault each, for the hunter to find; named as `tests.hunt.broken:NAME`."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from testbed.algorithms.static import immediate, rst
from testbed.core.algorithm import Algorithm
from testbed.core.model import Message, NodeId, Role
from testbed.core.node import Arrival, Node, Turn, View


class DeafToTheFirst(rst.Process):
    """Does not wait for what node 0 sent."""

    def on_received(self, arrival: Arrival[rst.Data, None], turn: Turn) -> None:
        column = arrival.packet.sent[self.me :: self.n]
        column[arrival.source] -= 1
        column[0] = 0
        self.queue.hold(arrival, enumerate(column))
        while (ready := self.queue.pop()) is not None:
            self._deliver(ready, turn)


class CrashesAtTheThird(rst.Process):
    """Raises when the third copy arrives."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.arrived = 0

    def on_received(self, arrival: Arrival[rst.Data, None], turn: Turn) -> None:
        self.arrived += 1
        if self.arrived == 3:
            raise LookupError("the third is one too many")
        super().on_received(arrival, turn)


class KeepsTheLast(rst.Process):
    """Never delivers the fourth message of node 1."""

    def _deliver(self, ready: Arrival[rst.Data, None], turn: Turn) -> None:
        if (ready.source, ready.message and ready.message.number) != (1, 4):
            super()._deliver(ready, turn)


class SendsForEver(immediate.Process):
    """Sends everything that arrives back to where it came from."""

    def on_received(self, arrival: Arrival[immediate.Data, None], turn: Turn) -> None:
        super().on_received(arrival, turn)
        turn.send(arrival.source, arrival.packet, message=arrival.message)


class KillsItsProcess(immediate.Process):
    """What a fault in native code would do."""

    def on_submitted(self, message: Message, dests: tuple[NodeId, ...], turn: Turn) -> None:
        os._exit(7)


def _like(algorithm: Algorithm, process: type[Node[Any, Any]]) -> Algorithm:
    return dataclasses.replace(algorithm, name=process.__name__, roles={Role.PROCESS: process})


DEAF = _like(rst.ALGORITHM, DeafToTheFirst)
CRASHES = _like(rst.ALGORITHM, CrashesAtTheThird)
KEEPS = _like(rst.ALGORITHM, KeepsTheLast)
ENDLESS = _like(immediate.ALGORITHM, SendsForEver)
DEADLY = _like(immediate.ALGORITHM, KillsItsProcess)
NEEDS_FIFO = dataclasses.replace(immediate.ALGORITHM, name="needs-fifo", needs_fifo=True)
