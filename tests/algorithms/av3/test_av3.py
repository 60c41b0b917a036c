"""Algorithm 3: logical stations, who goes where, and algorithm 2 as its case k=1."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from testbed.algorithms import find, parameters
from testbed.algorithms.mobile import av2, av3
from testbed.core.distribution import Constant, Exponential
from testbed.core.errors import BadInput, MalformedFrame
from testbed.core.model import Message, NodeId
from testbed.core.network import Fifo, LinkSpec
from testbed.core.wire import Codec
from testbed.core.world import FOREVER, Itinerary, Stay, World
from testbed.engine.plan import Plan, Roam
from testbed.hunt.generate import Shape
from testbed.hunt.play import play
from testbed.hunt.wander import make_mobile_schedule
from testbed.trace.oracle import Fault
from testbed.trace.schema import Event
from tests.algorithms.av2.stage import Stage
from tests.mutation import Mutant, mutate
from tests.runs import MS, first_difference, network, run
from workloads.destinations import Uniform
from workloads.hosts import HostTraffic
from workloads.traffic import Stop, Traffic


class Tour(msgspec.Struct, frozen=True):
    """Every host goes round all cells, each at its own pace."""

    stations: int
    notice: int = 0

    def itinerary(self, host: NodeId, until: int) -> Itinerary:
        pace = (17 + host) * MS
        turns = range(until // pace)
        stays = [Stay((host + t) % self.stations, t * pace, (t + 1) * pace - MS) for t in turns]
        return (*stays, Stay((host + len(stays)) % self.stations, len(stays) * pace, FOREVER))


def roaming(name: str, *, stations: int, hosts: int, seed: int) -> Plan:
    world = World(stations, hosts)
    traffic = Traffic(
        interval=Exponential(15 * MS), destinations=Uniform(), multicast=0.5,
        payload_low=0, payload_high=40,
    )  # fmt: skip
    return Plan(
        algorithm=name,
        n=world.n,
        seed=seed,
        network=network(Exponential(12 * MS), bits_per_second=1e7),
        traffic=HostTraffic(world=world, among_hosts=traffic),
        stop=Stop(messages=80),
        roam=Roam(
            world=world,
            mobility=Tour(stations),
            wireless=LinkSpec(latency=Constant(MS // 2), bits_per_second=1e6, fifo=Fifo.ON),
        ),
    )


# --- k=1 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_with_one_logical_station_the_trace_is_that_of_algorithm_2(seed: int) -> None:
    stations = 2 + seed % 4
    one, other = (
        run(roaming(name, stations=stations, hosts=5, seed=seed)).rows
        for name in ("av2", "av3[k=1]")
    )
    assert first_difference(one, other) is None
    assert len(one.named(Event.HANDOFF_END)) > 5
    assert sum(row["control_ints"] for row in one.named(Event.RECEIVE)) > 1000


def test_with_two_logical_stations_the_trace_is_another() -> None:
    one, other = (
        run(roaming(name, stations=3, hosts=5, seed=1)).rows for name in ("av2", "av3[k=2]")
    )
    assert first_difference(one, other) is not None


# --- logical stations -------------------------------------------------------------------------


def test_hosts_of_different_logical_stations_do_not_inhibit_each_other() -> None:
    delivered = {}
    for name in ("av2", "av3[k=2]"):
        stage = Stage(name, (0, 0, 1), stations=2)
        stage.send(4, 2)
        late = stage.flying.pop()
        message = stage.send(4, 3)
        stage.settle()
        delivered[name] = stage.delivered_at(3)
        stage.flying.append(late)
        stage.settle()
        assert stage.delivered_at(3) == [message]
    assert delivered == {"av2": [], "av3[k=2]": [(4, 1 + 1)]}


def test_within_one_station_a_message_waits_for_what_is_on_a_wire() -> None:
    stage = Stage("av3", (0, 0, 1), stations=2)
    m1 = stage.send(4, 3)  # to the second logical station of s0
    late = stage.flying.pop()
    stage.send(4, 2)  # to the first
    stage.settle()
    m3 = stage.send(2, 3)  # from the first to the second: no wire, but causally after m1
    assert stage.flying == []
    assert stage.delivered_at(3) == []
    stage.flying.append(late)
    stage.settle()
    assert stage.delivered_at(3) == [m1, m3]


def test_a_host_that_enters_goes_to_the_logical_station_with_the_fewest_hosts() -> None:
    stage = Stage("av3[k=3]", (0, 0, 0, 0, 1, 1), stations=2)
    assert [resident.lane for resident in stage.node(0).custody.owned.values()] == [0, 1, 2, 0]
    stage.move(6, 0)
    stage.move(7, 0)
    assert [hop.arrival.packet.station for hop in stage.flying] == [1, 2]
    stage.settle()
    lanes = {host: resident.lane for host, resident in stage.node(0).custody.owned.items()}
    assert lanes == {2: 0, 3: 1, 4: 2, 5: 0, 6: 1, 7: 2}
    stage.move(5, 1)
    stage.settle()
    stage.move(5, 0)
    stage.settle()
    assert stage.node(0).custody.owned[5].lane == 0
    assert all(mss.location[5] == 0 for station in (0, 1) for mss in stage.node(station).mss)


@pytest.mark.parametrize("n_s", [2, 3, 5])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_hand_off_costs_two_packets_per_logical_station_elsewhere_and_three(
    k: int, n_s: int
) -> None:
    stage = Stage(f"av3[k={k}]", (0, 1), stations=n_s)
    stage.move(n_s, 1)
    stage.settle()
    assert stage.flying == []
    ordered = ("HandoffBegin", "Enable", "Notify", "Last", "HandoffOver")
    assert sum(stage.travelled[name] for name in ordered) == 2 * k * (n_s - 1) + 3
    message = stage.send(n_s + 1, n_s)
    assert stage.delivered_at(n_s) == [message]


def test_one_station_with_several_logical_ones_hands_nothing_over() -> None:
    stage = Stage("av3", (0, 0, 0), stations=1)
    message = stage.send(1, 2, 3)
    stage.move(2, 0)
    stage.settle()
    assert stage.travelled["HandoffBegin"] == 0
    assert stage.delivered_at(2) == stage.delivered_at(3) == [message]


# --- parameters, sizes, decoding --------------------------------------------------------------


def test_the_parameter_is_two_unless_given_and_at_least_one() -> None:
    assert parameters("av3") == av3.Params(2)
    assert parameters("av3[k=7]") == av3.Params(7)
    with pytest.raises(BadInput, match="`int` >= 1"):
        parameters("av3[k=0]")


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_matrix_has_a_row_and_a_column_for_every_logical_station(k: int) -> None:
    stage = Stage(f"av3[k={k}]", (0, 1), stations=2)
    stage.send(2, 3)
    (data,) = stage.flying
    size = find("av3").size(data.arrival.packet, None)
    assert size.units == (2 * k) ** 2
    assert size.ints == (2 * k) ** 2 + 1 + (2 if k > 1 else 0)
    assert stage.node(0).state_ints() == k * 2 * k * (2 * k + 1)


@pytest.mark.parametrize(
    "packet",
    [
        av2.Data([0] * 36, [0, 2], [3]),
        av2.Data([0] * 36, [0], [3]),
        av2.Data([0] * 36, [], [3]),
        av2.Data([0] * 9, [0, 1], [3]),
        av2.Notify([0] * 36, [0, 1], 3, 0, 6),
    ],
    ids=str,
)
def test_a_packet_of_another_k_is_refused(packet: Any) -> None:
    codec = Codec(av3.ALGORITHM, 6, stations=3, params=av3.Params(2))
    message = None if isinstance(packet, av2.Notify) else Message(4, 1, b"")
    possible = msgspec.structs.replace(packet, sent=[0] * 36, lanes=[0, 1])
    if isinstance(packet, av2.Notify):
        possible = msgspec.structs.replace(possible, station=5)
    for good, tried in ((True, possible), (False, packet)):
        frame = codec.shared_part(1, message, tried) + codec.own_part(None)
        if good:
            assert codec.decode(frame).packet == tried
        else:
            with pytest.raises(MalformedFrame, match="impossible content"):
                codec.decode(frame)


# --- schedules and mutants --------------------------------------------------------------------


def faults(name: str, number: int) -> set[Fault]:
    schedule = make_mobile_schedule(name, find(name), 1, number, Shape())
    return {finding.fault for finding in play(schedule).findings}


@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_schedule_breaks_order_or_leaves_a_message_behind(k: int) -> None:
    assert [faults(f"av3[k={k}]", number) for number in range(60)] == [set()] * 60


CLASS = "class SupportStation(av2.SupportStation):\n"
MUTANTS = (
    Mutant("nothing waits inside a station", CLASS, CLASS + """
    def _send(self, mss, target, packet, turn, message=None):
        if target // self.k != self.me:
            super()._send(mss, target, packet, turn, message)
            return
        inner = self.mss[target % self.k]
        inner.sent = list(map(max, inner.sent, packet.sent))
        inner.deliv[mss.me] += 1
        inner.pending.advanced(mss.me)
        self._take(inner, av2.Received(mss.me, packet, message), turn)
""", "order"),
    Mutant("stations disagree where hosts are at the start", "dealt[station] % self.k",
           "(dealt[station] + self.me) % self.k", "order"),
    Mutant("hosts that enter belong to no logical station's arrays", CLASS, CLASS + """
    def _on_enable(self, mss, source, enable, turn):
        super()._on_enable(self.mss[(mss.me + 1) % self.k], source, enable, turn)
""", "order"),
)  # fmt: skip
FAULT = {"order": Fault.CAUSAL_ORDER, "liveness": Fault.LIVENESS}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_logical_stations_is_caught(mutant: Mutant) -> None:
    name = f"{mutate(av3, mutant).possible_with.__module__}:ALGORITHM"
    assert any(FAULT[mutant.caught_by] in faults(name, number) for number in range(300))
