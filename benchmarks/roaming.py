"""What the mobile benchmarks share: a world to run in, and an engine that keeps a ledger.

AV's values (appendix A): wires of 100 Mbit/s and 7 ms, air of 1 Mbit/s and 500 us; hosts stay in a
cell for an exponential time and then enter another at random.
"""

from __future__ import annotations

import time

from testbed.core.distribution import Constant, Exponential
from testbed.core.model import Nanos, NodeId
from testbed.core.network import Arrivals, Fifo, LinkSpec, NetworkSpec
from testbed.core.world import World
from testbed.engine.plan import Plan, Roam
from testbed.engine.virtual import VirtualEngine
from testbed.trace.schema import PACKED, Event
from workloads.destinations import Uniform
from workloads.hosts import HostTraffic
from workloads.mobility.cells import CellChanges
from workloads.mobility.groups import Group, Groups
from workloads.traffic import Stop, Traffic

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
WIRED = LinkSpec(latency=Constant(7 * MILLISECOND), bits_per_second=1e8)
WIRELESS = LinkSpec(latency=Constant(MILLISECOND // 2), bits_per_second=1e6, fifo=Fifo.ON)
PAYLOAD = 64

_NAMES = tuple(column.name for column in PACKED)
_NODE, _EVENT, _PEER = (_NAMES.index(name) for name in ("node", "event", "peer"))
_INTS, _BYTES = _NAMES.index("control_ints"), _NAMES.index("control_bytes")
_PAYLOAD, _CPU = _NAMES.index("payload_bytes"), _NAMES.index("cpu_ns")


def roaming(
    algorithm: str,
    world: World,
    *,
    messages: int,
    send_every: Nanos = SECOND,
    move_every: Nanos | None = 5 * SECOND,
    multicast: float = 0.0,
    destinations: Uniform | None = None,
    retry_after: Nanos | None = None,
) -> Plan:
    """Every host sends and moves at the same mean pace; `move_every` None: nobody moves."""
    stay = None if move_every is None else Exponential(move_every)
    model = CellChanges(seed=1, world=world, stay=stay, gap=Constant(20 * MILLISECOND))
    group = Group(world.stations, world.hosts, model)
    return Plan(
        algorithm=algorithm,
        n=world.n,
        seed=1,
        network=NetworkSpec(WIRED),
        traffic=HostTraffic(
            world=world,
            among_hosts=Traffic(
                interval=Exponential(send_every),
                destinations=destinations or Uniform(),
                multicast=multicast,
                payload_low=PAYLOAD,
                payload_high=PAYLOAD,
            ),
        ),
        stop=Stop(messages=messages),
        retry_after=retry_after,
        roam=Roam(world=world, mobility=Groups(5 * MILLISECOND, (group,)), wireless=WIRELESS),
    )


class Ledger:
    """A sink that adds up instead of writing down."""

    def __init__(self, stations: int) -> None:
        self._stations = stations
        self.wired_frames = self.wired_bytes = self.station_cpu_ns = 0
        self.air_ints = self.handoffs = self.delivered = 0

    def row(self, *fields: int) -> None:
        node, event, peer, first_host = fields[_NODE], fields[_EVENT], fields[_PEER], self._stations
        if event == Event.RECEIVE:
            if node < first_host:
                self.station_cpu_ns += fields[_CPU]
            if node < first_host and peer < first_host:
                self.wired_frames += 1
                self.wired_bytes += fields[_BYTES] + fields[_PAYLOAD]
            else:
                self.air_ints += fields[_INTS]
        elif event == Event.HANDOFF_END:
            self.handoffs += 1
        elif event == Event.DELIVER:
            self.delivered += 1

    def destinations(self, dests: tuple[NodeId, ...]) -> None:
        """Who a message was for is of no interest here."""


class MeteredEngine(VirtualEngine):
    """Virtual time with a real processor clock, and every byte that is put on the air."""

    def __init__(self, plan: Plan) -> None:
        self.ledger = Ledger(plan.stations)
        self.air_frames = self.air_bytes = 0
        self._first_host = plan.stations
        super().__init__(plan, self.ledger)

    def cpu_ns(self) -> int:
        return time.thread_time_ns()

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        if source >= self._first_host or to >= self._first_host:
            self.air_frames += 1
            self.air_bytes += len(frame)
        return super().transmit(source, to, frame, now)
