"""Stations and hosts without a network: the test says which packet arrives next, and who moves.

What is on a wire hangs there until the test lets it arrive. The air is immediate and in order;
what is in it when its host is elsewhere is lost. Bytes are real.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import msgspec

from testbed.algorithms import find, parameters
from testbed.core.model import MessageId, Nanos, NodeId
from testbed.core.network import Arrivals
from testbed.core.node import Timer, View
from testbed.core.wire import Codec
from testbed.core.world import World
from testbed.engine.shell import Shell
from testbed.trace.schema import Event
from tests.scene import Rows


class Hop(NamedTuple):
    """A frame under way."""

    source: NodeId
    to: NodeId
    name: str
    frame: bytes
    packet: Any
    message: MessageId | None


class Stage:
    def __init__(
        self, name: str, cells: tuple[NodeId, ...], *, stations: int, keeps: bool = True
    ) -> None:
        """`cells` says in whose cell each host begins."""
        self.algorithm = find(name)
        params = parameters(name)
        self.world = World(stations, len(cells))
        self.cells: dict[NodeId, NodeId | None] = dict(zip(self.world.host_ids, cells, strict=True))
        n = self.world.n
        self.codec = Codec(self.algorithm, n, stations=stations, params=params)
        self.rows = Rows()
        self.now: Nanos = 0
        self.wires: list[Hop] = []
        self._air: list[Hop] = []
        self.travelled: Counter[str] = Counter()
        self._names = dict(zip(self.algorithm.packets, self.algorithm.packet_names, strict=True))
        view = View(
            0, stations=tuple(range(stations)), hosts=tuple(self.world.host_ids),
            cells={host: cell for host, cell in self.cells.items() if cell is not None},
            keeps=keeps, params=params,
        )  # fmt: skip
        self.shells = [self._shell(me, view) for me in range(n)]

    def _shell(self, me: NodeId, view: View) -> Shell:
        role = self.world.role(me)
        shell = Shell(
            me, role, self.algorithm.roles[role](msgspec.structs.replace(view, me=me)),
            algorithm=self.algorithm, n=self.world.n, codec=self.codec, port=self,
            sink=self.rows, stations=self.world.stations,
        )  # fmt: skip
        if me in view.cells:
            shell.place(view.cells[me])
        return shell

    # --- what a test does ---------------------------------------------------------------------

    def send(self, host: NodeId, *dests: NodeId) -> MessageId:
        self.now += 1
        message = self.shells[host].submit(self.now, tuple(sorted(dests)), b"").id
        self._breathe()
        return message

    def leave(self, host: NodeId, *, disconnects: bool = False) -> None:
        if disconnects:
            self.shells[host].announce_disconnection(self.now)
            self._breathe()
        self.now += 1
        self.shells[host].leave(self.now, disconnects=disconnects)
        self.cells[host] = None

    def enter(self, host: NodeId, station: NodeId) -> None:
        self.now += 1
        self.cells[host] = station
        self.shells[host].enter(self.now, station)
        self._breathe()

    def move(self, host: NodeId, station: NodeId) -> None:
        self.leave(host)
        self.enter(host, station)

    def deaf(self, host: NodeId) -> None:
        """The host is out of reach, and neither it nor anybody else knows yet."""
        self.cells[host] = None

    def arrive(self, name: str, source: NodeId, to: NodeId) -> None:
        """The first such packet on this wire arrives, and all that the air makes of it."""
        hop = next(h for h in self.wires if h[:3] == (source, to, name))
        self.wires.remove(hop)
        self._arrive(hop)
        self._breathe()

    def settle(self) -> None:
        """Everything arrives, in the order of its sending."""
        while self.wires:
            source, to, name = self.wires[0][:3]
            self.arrive(name, source, to)

    # --- what a test looks at -----------------------------------------------------------------

    def on_wires(self) -> list[tuple[str, NodeId, NodeId]]:
        return [(hop.name, hop.source, hop.to) for hop in self.wires]

    def delivered(self, host: NodeId) -> list[MessageId]:
        return [(row["origin"], row["number"]) for row in self.rows.named(Event.DELIVER)
                if row["node"] == host]  # fmt: skip

    def node(self, me: NodeId) -> Any:
        return self.shells[me].node

    # --- the air, and the port ----------------------------------------------------------------

    def _breathe(self) -> None:
        while self._air:
            hop = self._air.pop(0)
            host, station = max(hop.source, hop.to), min(hop.source, hop.to)
            if self.cells[host] == station:
                self._arrive(hop)

    def _arrive(self, hop: Hop) -> None:
        self.now += 1
        self.shells[hop.to].arrive(self.now, hop.frame)

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        arrival = self.codec.decode(frame)
        name = self._names[type(arrival.packet)]
        message = None if arrival.message is None else arrival.message.id
        is_air = self.world.is_air(source, to)
        (self._air if is_air else self.wires).append(
            Hop(source, to, name, frame, arrival.packet, message)
        )
        self.travelled[name] += 1
        return (now + 1,)

    def arm(self, node: NodeId, timer: Timer, at: Nanos) -> None:
        raise AssertionError("stations and hosts set no timer")

    def disarm(self, node: NodeId, timer: Timer) -> None:
        raise AssertionError("stations and hosts cancel no timer")

    def clock(self, node: NodeId, now: Nanos) -> Nanos:
        return now

    def cpu_ns(self) -> int:
        return 0
