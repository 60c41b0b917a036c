"""Stations and hosts without a network: the test says which packet arrives next, and who moves.

What is on a wire hangs there until the test lets it arrive. So does what is in the air while the
test holds it; otherwise the air is immediate. What is in the air when its host leaves is lost.
Bytes are real.
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
from testbed.trace.schema import REASONS, Event
from tests.scene import FIELDS, Rows

_REASON, _NODE = FIELDS.index("reason"), FIELDS.index("node")


class Hop(NamedTuple):
    """A frame under way."""

    name: str
    source: NodeId
    to: NodeId
    frame: bytes
    packet: Any
    message: MessageId | None


class Stage:
    def __init__(
        self, name: str, cells: tuple[NodeId, ...], *, stations: int, keeps: bool = True
    ) -> None:
        """`cells` says in whose cell each host begins."""
        algorithm, params = find(name), parameters(name)
        world = World(stations, len(cells))
        self.stations = stations
        self.cells: dict[NodeId, NodeId | None] = dict(zip(world.host_ids, cells, strict=True))
        self.codec = Codec(algorithm, world.n, stations=stations)
        self.rows = Rows()
        self.now: Nanos = 0
        self.wires: list[Hop] = []
        self.air: list[Hop] = []
        self.is_air_held = False
        self.travelled: Counter[str] = Counter()
        self._names = dict(zip(algorithm.packets, algorithm.packet_names, strict=True))
        view = View(
            0, stations=tuple(range(stations)), hosts=tuple(world.host_ids),
            cells=dict(zip(world.host_ids, cells, strict=True)), keeps=keeps, params=params,
        )  # fmt: skip
        self.shells = []
        for me in range(world.n):
            role = world.role(me)
            node = algorithm.roles[role](msgspec.structs.replace(view, me=me))
            shell = Shell(
                me, role, node, algorithm=algorithm, n=world.n, codec=self.codec, port=self,
                sink=self.rows, stations=stations,
            )  # fmt: skip
            if me in view.cells:
                shell.place(view.cells[me])
            self.shells.append(shell)

    # --- what a test does ---------------------------------------------------------------------

    def send(self, node: NodeId, *dests: NodeId) -> MessageId:
        self.now += 1
        message = self.shells[node].submit(self.now, tuple(sorted(dests)), b"").id
        self._breathe()
        return message

    def leave(self, host: NodeId, *, disconnects: bool = False) -> None:
        if disconnects:
            self.shells[host].announce_disconnection(self.now)
            self._breathe()
        self.now += 1
        self.shells[host].leave(self.now, disconnects=disconnects)
        self.cells[host] = None
        self.air = [hop for hop in self.air if host not in (hop.source, hop.to)]

    def enter(self, host: NodeId, station: NodeId) -> None:
        self.now += 1
        self.cells[host] = station
        self.shells[host].enter(self.now, station)
        self._breathe()

    def move(self, host: NodeId, station: NodeId) -> None:
        self.leave(host)
        self.enter(host, station)

    def hold_air(self) -> None:
        self.is_air_held = True

    def free_air(self) -> None:
        self.is_air_held = False
        self._breathe()

    def arrive(self, name: str, source: NodeId, to: NodeId) -> None:
        """The first such packet arrives, and all that the air makes of it."""
        for under_way in (self.wires, self.air):
            for hop in under_way:
                if hop[:3] == (name, source, to):
                    under_way.remove(hop)
                    self._arrive(hop)
                    self._breathe()
                    return
        raise AssertionError(f"no {name} from {source} to {to} among {self.under_way()}")

    def settle(self) -> None:
        """Everything arrives, in the order of its sending."""
        self.free_air()
        while self.wires:
            self.arrive(*self.wires[0][:3])

    # --- what a test looks at -----------------------------------------------------------------

    def under_way(self) -> list[tuple[str, NodeId, NodeId]]:
        return [hop[:3] for hop in (*self.wires, *self.air)]

    def delivered(self, host: NodeId) -> list[MessageId]:
        return [
            (row["origin"], row["number"])
            for row in self.rows.named(Event.DELIVER)
            if row["node"] == host
        ]

    def discarded(self, reason: str) -> list[tuple[NodeId, MessageId]]:
        """Where, and what."""
        return [
            (row[_NODE], (row[5], row[6]))
            for row in self.rows.rows
            if row[4] == Event.DISCARD and REASONS[row[_REASON]] == reason
        ]

    def node(self, me: NodeId) -> Any:
        return self.shells[me].node

    def stored(self, station: NodeId) -> list[MessageId]:
        """The messages that a station keeps."""
        kept = self.node(station).storage.kept
        return [what.message.id for init in sorted(kept) for what in kept[init].values()]

    def h_recd(self, host: NodeId) -> list[int]:
        """At whatever station owns the host."""
        owners = [self.node(s).custody.owned for s in range(self.stations)]
        (charge,) = [owned[host] for owned in owners if host in owned]
        return list(charge.h_recd)

    def faults(self) -> list[str]:
        return [finding.prose for finding in self.rows.audit().findings]

    def memory(self) -> list[str]:
        """Whatever stations still keep of messages; nothing, once all is quiet."""
        return [
            f"station {me}: {what}"
            for me in range(self.stations)
            for what in left_over(self.node(me))
        ]

    # --- port ---------------------------------------------------------------------------------

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        arrival = self.codec.decode(frame)
        name = self._names[type(arrival.packet)]
        message = None if arrival.message is None else arrival.message.id
        hop = Hop(name, source, to, frame, arrival.packet, message)
        self.travelled[name] += 1
        host = max(source, to)
        if host < self.stations:
            self.wires.append(hop)
        elif self.cells[host] == min(source, to):
            self.air.append(hop)
        return (now + 1,)

    def arm(self, node: NodeId, timer: Timer, at: Nanos) -> None:
        raise AssertionError("no mobile algorithm sets a timer")

    def disarm(self, node: NodeId, timer: Timer) -> None:
        raise AssertionError("no mobile algorithm cancels a timer")

    def clock(self, node: NodeId, now: Nanos) -> Nanos:
        return now

    def cpu_ns(self) -> int:
        return 0

    def _arrive(self, hop: Hop) -> None:
        self.now += 1
        self.shells[hop.to].arrive(self.now, hop.frame)

    def _breathe(self) -> None:
        while self.air and not self.is_air_held:
            self._arrive(self.air.pop(0))


def left_over(station: Any) -> list[str]:
    """What a station keeps of messages, in words."""
    storage = station.storage
    kept = {
        "messages": len(storage),
        "tombstones": sum(map(len, storage.tombstones.values())),
        "acknowledgements awaited": len(station.unacknowledged),
        "notifications to be combined": len(station.notified),
        "intents": station.held(),
        "frames not notified": sum(len(c.in_air) for c in station.custody.owned.values()),
    }
    return [f"{count} {what}" for what, count in kept.items() if count]
