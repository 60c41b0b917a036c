"""A tiny mobile stage: stations and hosts, and a test that says what arrives next and who moves.

No clock and no network: what was sent hangs on its wire or in the air until the test lets it
arrive. A host that leaves its cell loses what is in the air around it. Bytes are real.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from testbed.core.algorithm import Algorithm
from testbed.core.model import MessageId, Nanos, NodeId, Role
from testbed.core.network import LOST, Arrivals
from testbed.core.node import Arrival, Node, Timer, View
from testbed.core.wire import Codec
from testbed.core.world import World
from testbed.engine.shell import Shell
from testbed.trace.oracle import Audit
from testbed.trace.schema import Event
from tests.scene import Rows


class Frame(NamedTuple):
    """One frame on its way."""

    kind: str
    source: NodeId
    to: NodeId
    arrival: Arrival[Any, Any]
    frame: bytes

    def __str__(self) -> str:
        message = self.arrival.message
        what = "" if message is None else f" m{message.origin}.{message.number}"
        return f"{self.kind} {self.source}->{self.to}{what}"


class MobileScene:
    """All nodes of one mobile system; it is the port of their shells."""

    def __init__(
        self,
        algorithm: Algorithm,
        *,
        stations: int,
        cells: tuple[NodeId, ...],
        keeps: bool = True,
        params: Any = None,
    ) -> None:
        """`cells` is the station of each host at the start; hosts follow the stations."""
        self.algorithm = algorithm
        self.world = World(stations, len(cells))
        self.codec = Codec(algorithm, self.world.n, stations=stations, params=params)
        self.rows = Rows()
        self.now: Nanos = 0
        self.flying: list[Frame] = []
        self.lost: list[Frame] = []
        self.timers: dict[tuple[NodeId, Timer], Nanos] = {}
        at_start = dict(zip(self.world.host_ids, cells, strict=True))
        self.cell: dict[NodeId, NodeId | None] = dict(at_start)
        view = View(
            0,
            stations=tuple(range(stations)),
            hosts=tuple(self.world.host_ids),
            cells=at_start,
            keeps=keeps,
            params=params,
        )
        self.shells: dict[NodeId, Shell] = {}
        for me in range(self.world.n):
            role = self.world.role(me)
            if role in algorithm.roles:
                self.shells[me] = self._shell(me, role, view)
        for shell in self.shells.values():
            shell.start(0)

    def _shell(self, me: NodeId, role: Role, view: View) -> Shell:
        shell = Shell(
            me,
            role,
            self.algorithm.roles[role](msgspec.structs.replace(view, me=me)),
            algorithm=self.algorithm,
            n=self.world.n,
            codec=self.codec,
            port=self,
            sink=self.rows,
            stations=self.world.stations,
        )
        if role is Role.HOST:
            shell.place(view.cells[me])
        return shell

    # --- what a test does ---------------------------------------------------------------------

    def send(self, node: NodeId, *dests: NodeId) -> MessageId:
        """The application at a host (or station) sends."""
        self.now += 1
        return self.shells[node].submit(self.now, tuple(sorted(dests)), b"").id

    def arrive(self, kind: str, source: NodeId, to: NodeId) -> list[MessageId]:
        """Let the oldest such frame arrive; the messages that it delivered, in order."""
        position = next(
            (
                i
                for i, f in enumerate(self.flying)
                if (f.kind, f.source, f.to) == (kind, source, to)
            ),
            None,
        )
        assert position is not None, f"no {kind} {source}->{to} among {self.in_flight()}"
        return self.arrive_at(position)

    def arrive_at(self, position: int) -> list[MessageId]:
        """Let this frame arrive; the air is FIFO."""
        frame = self.flying[position]
        if self.world.is_air(frame.source, frame.to):
            earlier = [f for f in self.flying[:position] if f[1:3] == frame[1:3]]
            assert not earlier, f"{frame} would overtake {earlier[0]} in the air"
        del self.flying[position]
        return self.inject(frame.to, frame.frame)

    def inject(self, at: NodeId, frame: bytes) -> list[MessageId]:
        """Let any bytes arrive at a node."""
        self.now += 1
        before = len(self.rows.rows)
        self.shells[at].arrive(self.now, frame)
        return [(row[5], row[6]) for row in self.rows.rows[before:] if row[4] == Event.DELIVER]

    def settle(self, *, hold: tuple[str, ...] = ()) -> list[MessageId]:
        """Let everything arrive, oldest first, except frames of these kinds."""
        delivered = []
        while (
            at := next((i for i, f in enumerate(self.flying) if f.kind not in hold), None)
        ) is not None:
            delivered += self.arrive_at(at)
        return delivered

    def leave(self, host: NodeId) -> None:
        """The host is gone, and what is in the air around it is lost."""
        self._go(host, disconnects=False)

    def disconnect(self, host: NodeId) -> None:
        """The host says so first; what it says still arrives."""
        self.now += 1
        station = self.cell[host]
        self.shells[host].announce_disconnection(self.now)
        while (at := self._first_in_air(host, station)) is not None:
            self.arrive_at(at)
        self._go(host, disconnects=True)

    def enter(self, host: NodeId, station: NodeId) -> None:
        """The host hears the beacon of this station."""
        self.now += 1
        self.cell[host] = station
        self.shells[host].enter(self.now, station)

    def move(self, host: NodeId, station: NodeId) -> None:
        self.leave(host)
        self.enter(host, station)

    # --- what a test looks at -----------------------------------------------------------------

    def node(self, me: NodeId) -> Any:
        node: Node[Any, Any] = self.shells[me].node
        return node

    def in_flight(self) -> list[str]:
        """What is on its way, oldest first, as `kind source->to message`."""
        return [str(frame) for frame in self.flying]

    def delivered_at(self, node: NodeId) -> list[MessageId]:
        return [
            (row[5], row[6]) for row in self.rows.rows if row[0] == node and row[4] == Event.DELIVER
        ]

    def faults(self) -> list[str]:
        """What the audit finds wrong, in its own words."""
        return [finding.prose for finding in self.audit().findings]

    def audit(self) -> Audit:
        return self.rows.audit()

    def _first_in_air(self, host: NodeId, station: NodeId | None) -> int | None:
        pair = (host, station)
        return next((i for i, f in enumerate(self.flying) if (f.source, f.to) == pair), None)

    def _go(self, host: NodeId, *, disconnects: bool) -> None:
        self.now += 1
        self.cell[host] = None
        in_air = [f for f in self.flying if host in (f.source, f.to)]
        self.lost += in_air
        self.flying = [f for f in self.flying if f not in in_air]
        self.shells[host].leave(self.now, disconnects=disconnects)

    # --- port ---------------------------------------------------------------------------------

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        arrival = self.codec.decode(frame)
        flying = Frame(type(arrival.packet).__name__, source, to, arrival, frame)
        if self._reaches(source, to):
            self.flying.append(flying)
            return (now + 1,)
        self.lost.append(flying)
        return LOST

    def _reaches(self, source: NodeId, to: NodeId) -> bool:
        hosts = [node for node in (source, to) if node in self.cell]
        if len(hosts) == 1:
            return self.cell[hosts[0]] == (to if hosts[0] == source else source)
        return all(self.cell[host] is not None for host in hosts)

    def arm(self, node: NodeId, timer: Timer, at: Nanos) -> None:
        self.timers[node, timer] = at

    def disarm(self, node: NodeId, timer: Timer) -> None:
        self.timers.pop((node, timer), None)

    def clock(self, node: NodeId, now: Nanos) -> Nanos:
        return now

    def cpu_ns(self) -> int:
        return 0
