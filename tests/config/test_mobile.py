"""Experiment files with a topology: what becomes of them, and the one sentence for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.config.load import load
from testbed.config.planning import plans
from testbed.core.distribution import Constant
from testbed.core.errors import BadInput
from testbed.core.network import Fifo, LinkSpec
from testbed.core.world import FOREVER, Stay, World
from testbed.engine.plan import Plan, Roam
from workloads.hosts import HostTraffic

GOOD = """
name: small
algorithm: av1
topology: {stations: 6, hosts: 9}
mobility: {kind: exponential, mean: 1s}
workload: {interval: 10ms, multicast: 0.5}
stop: {messages: 20}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(GOOD)
    return path


def planned(file: Path, *settings: str) -> Plan:
    return plans(load(file, settings), file)[0].plan


def roam(file: Path, *settings: str) -> Roam:
    found = planned(file, *settings).roam
    assert found is not None
    return found


def test_a_topology_says_how_many_nodes_there_are(file: Path) -> None:
    plan = planned(file)
    assert plan.n == 15
    assert plan.roam is not None
    assert plan.roam.world == World(6, 9, columns=3, cell_metres=100.0)


def test_the_links_of_a_topology_are_those_of_the_simulation_of_av(file: Path) -> None:
    plan = planned(file)
    wired = LinkSpec(latency=Constant(7_000_000), bits_per_second=10**8, fifo=Fifo.OFF)
    wireless = LinkSpec(latency=Constant(500_000), bits_per_second=10**6, fifo=Fifo.ON)
    assert plan.network.default == wired
    assert roam(file).wireless == wireless


def test_what_the_network_says_itself_is_kept_in_a_topology(file: Path) -> None:
    spec = planned(file, "network.latency=3ms", "network.fifo=true").network.default
    assert spec == LinkSpec(latency=Constant(3_000_000), bits_per_second=10**8, fifo=Fifo.ON)
    assert planned(file, "network.bandwidth=null").network.default.bits_per_second is None


def test_the_grid_is_as_square_as_full_rows_allow(file: Path) -> None:
    grids = {count: roam(file, f"topology.stations={count}").world for count in (1, 4, 7, 10, 20)}
    assert {count: world.columns for count, world in grids.items()} == {
        1: 1, 4: 2, 7: 7, 10: 5, 20: 5,
    }  # fmt: skip


def test_hosts_of_a_topology_without_mobility_never_move(file: Path) -> None:
    file.write_text(GOOD.replace("mobility: {kind: exponential, mean: 1s}\n", ""))
    stays = planned(file).itineraries(10**12)
    assert all(len(itinerary) == 1 and itinerary[0].end == FOREVER for itinerary in stays.values())
    assert len(stays) == 9


def test_groups_take_the_hosts_in_order_each_with_its_model(file: Path) -> None:
    groups = "mobility={groups: [{kind: still, hosts: 4}, {kind: exponential, mean: 100ms}]}"
    stays = planned(file, groups).itineraries(10**10)
    assert [host for host, itinerary in stays.items() if len(itinerary) == 1] == [6, 7, 8, 9]


def test_stations_send_only_if_they_are_asked_to(file: Path) -> None:
    traffic = planned(file).traffic
    assert isinstance(traffic, HostTraffic)
    assert traffic.from_stations is None
    assert {sent.node >= 6 for sent in planned(file).submissions()} == {True}


def test_the_disconnection_policy_reaches_the_stations(file: Path) -> None:
    assert roam(file).keeps
    assert not roam(file, "mobility.disconnected=drop").keeps


def test_cells_that_hold_more_hosts_than_they_can_are_warned_of(file: Path) -> None:
    settings = ["mobility={kind: still}", "topology.capacity=2"]
    one = plans(load(file, settings), file)[0]
    stations = [stays[0].station for stays in one.plan.itineraries(0).values()]
    fullest = max(stations.count(station) for station in stations)
    assert fullest > 2
    assert f"has {fullest} hosts in its cell at 0.000 s" in one.warnings[0]
    assert not plans(load(file, [*settings, f"topology.capacity={fullest}"]), file)[0].warnings


STAYS = """
mobility:
  kind: itinerary
  stays:
    - [{station: 0, until: 1s, disconnects: true}, {station: 5, from: 3s}]
    - [{station: 4}]
"""


def test_stays_that_are_written_down_are_the_itineraries(file: Path) -> None:
    mobile = GOOD.replace("mobility: {kind: exponential, mean: 1s}\n", STAYS)
    file.write_text(mobile.replace("hosts: 9", "hosts: 2"))
    stays = planned(file).itineraries(10**12)
    assert stays == {
        6: (Stay(0, 0, 10**9, True), Stay(5, 3 * 10**9, FOREVER)),
        7: (Stay(4, 0, FOREVER),),
    }


@pytest.mark.parametrize(
    ("stays", "sentence"),
    [
        ("[{station: 6}]", "mobility.stays: got station 6, takes 0 to 5"),
        ("[{station: 0, from: 1s}]", "takes stays from 0ns on, all but the last with an end"),
        ("[{station: 0, until: 1s}]", "takes stays from 0ns on, all but the last with an end"),
        ("[{station: 0}, {station: 1}]", "takes stays from 0ns on, all but the last with an end"),
        ("[{station: 0, until: 2s}, {station: 1, from: 1s}]", "takes stays that follow one anothe"),
        ("[{station: 0, until: 0s}, {station: 1, from: 1s}]", "takes stays that follow one anothe"),
    ],
)
def test_stays_that_nobody_can_live_are_refused(file: Path, stays: str, sentence: str) -> None:
    mobility = f"mobility={{kind: itinerary, stays: [{stays}, [{{station: 0}}]]}}"
    with pytest.raises(BadInput) as caught:
        planned(file, "topology.hosts=2", mobility)
    assert sentence in str(caught.value)


def test_a_movement_file_is_found_beside_the_experiment_and_its_mistakes_told(file: Path) -> None:
    walks = ["0 50 50 10 250 50", "0 50 150"]
    (file.parent / "walks.movements").write_text("\n".join(walks))
    settings = (
        "topology.hosts=2",
        "mobility={kind: bonnmotion, file: walks.movements, beacon: 0s}",
    )
    stays = planned(file, *settings).itineraries(10**12)
    assert [stay.station for stay in stays[6]] == [0, 1, 2]
    assert stays[6][1] == Stay(1, 2_500_000_000, 7_500_000_000)
    assert stays[7] == (Stay(3, 0, FOREVER),)
    (file.parent / "walks.movements").write_text("0 50 50 9 60 60 8 50 50\n0 1 1\n")
    with pytest.raises(BadInput, match=r"walks.movements: line 1: times out of order: 8 s after 9"):
        planned(file, *settings)


def test_a_walk_needs_a_grid_of_full_rows(file: Path) -> None:
    with pytest.raises(BadInput, match=r"topology.columns: got 4 for 6 stations; waypoint walks"):
        planned(file, "topology.columns=4", "mobility={kind: waypoint}")


MISTAKES = {
    "nodes=5": "nodes: got 5, takes 15, which is the 6 stations and 9 hosts of topology",
    "topology.hosts=1": "topology.hosts: got 1, takes a number of at least 2",
    "topology.capacity=1": "topology: got {'stations': 6, 'hosts': 9, 'capacity': 1}, takes at "
    "most 6 hosts, because 6 cells hold 1 each",
    "topology.columns=7": "topology: got {'stations': 6, 'hosts': 9, 'columns': 7}, takes at most",
    "topology.cell=100": "topology.cell: got 100, takes a length with its unit, such as 100m",
    "topology.cell=0m": "topology.cell: got '0m', takes a number above 0",
    "topology.station=3": "topology.station: unknown key; known here are stations, hosts, columns,",
    "topology.wireless.loss=0.1": "topology.wireless.loss: unknown key; known here are latency, ",
    "topology.wireless.bandwidth=0bps": "topology.wireless.bandwidth: got '0bps', takes a number ",
    "topology.wireless.latency=fast": "topology.wireless.latency: got 'fast', takes",
    "algorithm=ks": "algorithm: ks runs on processes that stay where they are, but there is a "
    "topology: remove it, or choose one of av1",
    "workload.stations=1s": "workload.stations: got a sending interval, but av1 takes messages "
    "from hosts only",
    "algorithm=[av1, 'av1[k=0]']": "algorithm: 'av1[k=0]': av1 takes no parameters",
    "algorithm='av3[k=0]'": "algorithm: 'av3[k=0]': takes `int` >= 1 for `k`",
    "algorithm='av3[l=1]'": "algorithm: 'av3[l=1]': unknown parameter 'l'; known are k",
    "mobility.kind=teleport": "mobility.kind: got 'teleport', takes one of 'still', 'exponential', "
    "'waypoint', 'gauss-markov', 'bonnmotion', 'ns2', 'itinerary'",
    "mobility={kind: waypoint, slow: 3m/s}": "mobility: got {'kind': 'waypoint', 'slow': '3m/s'}, "
    "takes a slow that is at most fast",
    "mobility={kind: waypoint, fast: 3}": "mobility.fast: got 3, takes a speed with its unit, such "
    "as 1.4m/s (m/s, km/h)",
    "mobility={kind: waypoint, pause: {kind: exponential, mean: 1s, of: 1}}": "mobility.pause.of: "
    "unknown key; known here are kind, mean",
    "mobility={kind: gauss-markov, memory: 2}": "mobility.memory: got 2, takes a number of at most",
    "mobility={kind: gauss-markov, step: 0s}": "mobility.step: got '0s', takes a number above 0",
    "mobility={kind: bonnmotion}": "mobility.file: missing; the experiment needs it",
    "mobility={kind: ns2, file: nowhere.tcl}": "mobility.file: ",
    "mobility={kind: itinerary, stays: [[{station: 0}]]}": "mobility.stays: got 1 hosts, takes 9",
    "mobility={kind: itinerary, stays: [[{station: 0, until: 1s}]]}": "mobility: got ",
    "mobility.maen=1s": "mobility.maen: unknown key; known here are hosts, disconnect, kind, mean, "
    "gap, next; did you mean 'mean'?",
    "mobility.mean=1": "mobility.mean: got 1, takes a duration with its unit",
    "mobility.next=home": "mobility.next: got 'home', takes 'any', 'neighbour' or 'back'",
    "mobility.disconnected=lose": "mobility.disconnected: got 'lose', takes 'keep' or 'drop'",
    "mobility.disconnect.share=2": "mobility.disconnect.share: got 2, takes a number of at most 1",
    "mobility={groups: []}": "mobility.groups: got [], takes at least 1",
    "mobility={groups: [{kind: still, hosts: 3}]}": "mobility.groups: got models for 3 hosts, "
    "takes one for each of the 9 of topology.hosts",
    "mobility={groups: [{kind: still, hosts: 9}, {kind: still}]}": "mobility.groups: got models ",
    "mobility={groups: [{kind: still}, {kind: still}]}": "mobility.groups.0.hosts: missing; only ",
    "mobility={groups: [{kind: exponential}]}": "mobility.groups.0.mean: missing",
    "network.links=[{from: 15}]": "network.links: got node 15, takes 0 to 14",
}


@pytest.mark.parametrize(("setting", "sentence"), MISTAKES.items(), ids=MISTAKES)
def test_a_mobile_mistake_gets_one_sentence_with_key_given_and_taken(
    file: Path, setting: str, sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        plans(load(file, [setting]), file)
    answer = str(caught.value).removeprefix(f"{file}: ")
    assert answer.startswith(sentence)
    assert "\n" not in answer


def test_a_mobile_algorithm_without_a_topology_is_refused(file: Path) -> None:
    file.write_text("nodes: 4\n" + GOOD.replace("topology: {stations: 6, hosts: 9}\n", ""))
    with pytest.raises(BadInput, match="mobility: there is nobody to move"):
        planned(file)
    file.write_text(file.read_text().replace("mobility: {kind: exponential, mean: 1s}\n", ""))
    with pytest.raises(BadInput, match="av1 runs on stations and hosts: add a topology, or choose"):
        planned(file)
