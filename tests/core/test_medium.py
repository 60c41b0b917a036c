"""The shared LAN: one medium for all, replayed alike by every sender."""

from __future__ import annotations

from testbed.core.distribution import Constant
from testbed.core.medium import Lan, Medium
from testbed.core.model import Submission
from testbed.core.network import LinkSpec, Network, NetworkSpec

MS = 1_000_000
LAN = Lan(bits_per_second=8_000_000, hop=1 * MS)  # 1000 bytes take one millisecond


def offered(*sends: tuple[int, int, int]) -> list[Submission]:
    return [Submission(time * MS, node, (0, 1, 2, 3), size) for time, node, size in sends]


def medium(*sends: tuple[int, int, int], ends: dict[int, int] | None = None) -> Medium:
    return Medium(LAN, 4, iter(offered(*sends)), ends or {})


def test_a_multicast_occupies_the_medium_once() -> None:
    lan = medium((0, 0, 10_000))
    assert [lan.departure(0, to, 0, 10_050) for to in (1, 2, 3)] == [10 * MS] * 3


def test_all_senders_queue_for_one_medium() -> None:
    lan = medium((0, 0, 10_000), (1, 1, 5_000), (2, 2, 5_000))
    assert lan.departure(2, 0, 2 * MS, 5_000) == 20 * MS
    assert lan.departure(1, 0, 1 * MS, 5_000) == 15 * MS


def test_two_actors_that_send_for_different_nodes_replay_the_same_queue() -> None:
    sends = [(at, at % 3, 4_000) for at in range(12)]
    whole, apart = medium(*sends), {node: medium(*sends) for node in range(3)}
    for at, node, size in sends:
        together = whole.departure(node, 3, at * MS, size)
        assert together == apart[node].departure(node, 3, at * MS, size)


def test_what_an_algorithm_sends_beyond_the_traffic_waits_its_turn() -> None:
    lan = medium((0, 0, 10_000))
    assert lan.departure(1, 2, 3 * MS, 1_000) == 11 * MS
    assert lan.departure(1, 2, 4 * MS, 1_000) == 12 * MS  # behind its own
    assert lan.departure(2, 1, 4 * MS, 1_000) == 11 * MS  # nobody else can know of that


def test_what_waits_for_the_medium_when_its_sender_crashes_is_never_sent() -> None:
    lan = medium((0, 0, 10_000), (1, 1, 5_000), ends={1: 12 * MS})
    assert lan.departure(1, 0, 1 * MS, 5_000) is None
    assert lan.departure(0, 1, 0, 10_000) == 10 * MS


def test_a_crashed_node_offers_nothing_more() -> None:
    lan = medium((0, 1, 1_000), (5, 1, 50_000), (6, 2, 1_000), ends={1: 2 * MS})
    assert lan.departure(2, 0, 6 * MS, 1_000) == 7 * MS


def test_delay_and_bandwidth_follow_the_distance_on_the_grid() -> None:
    lan = Lan(bits_per_second=8_000_000, hop=1 * MS)
    assert [lan.distance(0, node, 9) for node in range(9)] == [0, 1, 2, 1, 2, 3, 2, 3, 4]
    queue = Medium(lan, 9, iter(()), {})
    assert queue.travel(0, 1, 2_000) == 1 * MS
    assert queue.travel(0, 8, 2_000) == 4 * MS + 3 * 2 * MS


def test_a_network_with_a_lan_adds_queue_travel_and_latency() -> None:
    spec = NetworkSpec(LinkSpec(latency=Constant(100 * MS)), lan=LAN)
    network = Network(spec, 1, medium=medium((0, 0, 10_000)))
    assert network.link(0, 1).send(0, 10_000) == (10 * MS + 1 * MS + 100 * MS,)
    assert network.link(0, 3).send(0, 10_000) == (10 * MS + 2 * MS + 10 * MS + 100 * MS,)


def test_copies_that_wait_for_a_wire_die_with_their_sender() -> None:
    spec = NetworkSpec(LinkSpec(latency=Constant(0), bits_per_second=8_000_000))
    link = Network(spec, 1, ends={0: 15 * MS}).link(0, 1)
    assert link.send(0, 10_000) == (10 * MS,)
    assert link.send(1 * MS, 10_000) == ()
