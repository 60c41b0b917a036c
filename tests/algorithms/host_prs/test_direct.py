"""Hosts without stations: a reliable link over absences, nothing at stations, no foreign frames."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from testbed.algorithms import find
from testbed.algorithms.mobile import host_prs
from testbed.core.errors import BadInput, MalformedFrame
from testbed.core.model import Role, Submission
from testbed.core.wire import Codec
from testbed.core.world import FOREVER, Stay, World
from testbed.engine.virtual import VirtualEngine
from testbed.trace.oracle import Fault, Verdict
from testbed.trace.schema import REASONS, Event
from tests.mutation import Mutant, mutate
from tests.roaming import RETRY, judged, scripted, stays, wandering
from tests.runs import MS, Outcome

DIRECT = ("host-prs", "host-rst-direct")
WORLD = World(stations=3, hosts=3)
A, B, C = WORLD.host_ids
HOME = {B: stays(then=1), C: stays(then=2)}


def sends(*given: tuple[int, int, tuple[int, ...]]) -> list[Submission]:
    """(milliseconds, host, destinations)."""
    return [Submission(at * MS, host, dests, 10) for at, host, dests in given]


def deliveries(outcome: Outcome, host: int) -> list[tuple[int, int]]:
    rows = outcome.rows.named(Event.DELIVER)
    return [(row["origin"], row["number"]) for row in rows if row["node"] == host]


@pytest.mark.parametrize("name", DIRECT)
def test_random_schedules_deliver_once_and_in_causal_order(name: str) -> None:
    verdicts = []
    for seed in range(80):
        audit = judged(wandering(name, seed))
        assert [finding.prose for finding in audit.findings] == [], f"seed {seed}"
        verdicts.append(audit.verdict)
    assert verdicts.count(Verdict.VALID) > 74, "nearly all put the algorithm to the test"


@pytest.mark.parametrize("name", DIRECT)
def test_a_message_to_a_host_that_is_away_is_sent_again_until_it_is_back(name: str) -> None:
    """C is away when A writes to it; B, which knows of that, finds C before A tries again."""
    away = {C: (Stay(2, 0, 5 * MS), Stay(0, 45 * MS, FOREVER))}
    outcome = scripted(
        name, WORLD, HOME | away, sends((10, A, (C,)), (11, A, (B,)), (46, B, (C,)))
    )  # fmt: skip
    assert deliveries(outcome, C) == [(A, 1), (B, 1)]
    drops = outcome.rows.named(Event.DROP)
    assert [(row["node"], row["peer"], REASONS[row["reason"]]) for row in drops] == [
        (A, C, "left_cell")
    ]
    assert [row["node"] for row in outcome.rows.named(Event.RETRANSMIT)] == [A]
    assert outcome.audit.evidence.held == 1
    assert outcome.audit.verdict is Verdict.VALID


@pytest.mark.parametrize("name", DIRECT)
def test_stations_see_and_send_nothing(name: str) -> None:
    outcome = scripted(name, WORLD, HOME, sends((0, A, (B, C)), (10, B, (A,))))
    assert all(row["node"] in WORLD.host_ids for row in outcome.rows.named())
    assert set(outcome.engine.shells) == set(WORLD.host_ids)


@pytest.mark.parametrize("name", DIRECT)
def test_hosts_in_different_cells_reach_each_other_in_one_hop(name: str) -> None:
    outcome = scripted(name, WORLD, HOME, sends((0, A, (C,))))
    (arrival,) = outcome.rows.named(Event.RECEIVE)
    frame_bytes = arrival["control_bytes"] + arrival["payload_bytes"] + 9
    assert arrival["time"] == MS // 2 + frame_bytes * 8 * 1000, "latency, and the frame at 1 Mbit/s"


@pytest.mark.parametrize("name", DIRECT)
def test_a_host_may_be_away_for_longer_than_any_link_between_processes_would_try(
    name: str,
) -> None:
    hours = 3_600_000 * MS
    away = {C: (Stay(2, 0, 5 * MS), Stay(0, hours, FOREVER))}
    outcome = scripted(name, WORLD, HOME | away, sends((10, A, (C,))))
    assert len(outcome.rows.named(Event.RETRANSMIT)) > 100
    assert deliveries(outcome, C) == [(A, 1)]


@pytest.mark.parametrize("name", DIRECT)
def test_without_the_reliable_link_absences_leave_messages_behind(name: str) -> None:
    faults = set()
    for seed in range(10):
        bare = msgspec.structs.replace(wandering(name, seed), retry_after=None)
        faults |= {finding.fault for finding in judged(bare).findings}
    assert faults == {Fault.LIVENESS}


def test_the_record_says_that_hosts_are_alone_so_that_planning_gives_them_a_link() -> None:
    assert [find(name).is_on_hosts_alone for name in (*DIRECT, "host-rst", "av1", "prs")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert all(find(name).needs_reliable for name in DIRECT)
    assert RETRY > 0


def test_hosts_without_an_order_aboard_are_caught() -> None:
    disorder = Mutant(
        "nothing orders", "process: ClassVar[Process] = prs.Process",
        "from testbed.algorithms.static.prs import Process as Prs\n\n"
        "    class process(Prs):\n"
        "        def on_received(self, arrival, turn):\n"
        "            self._deliver(arrival, turn)\n", "order",
    )  # fmt: skip
    name = f"{mutate(host_prs, disorder).roles[Role.HOST].__module__}:ALGORITHM"
    faults = {
        finding.fault for seed in range(20) for finding in judged(wandering(name, seed)).findings
    }
    assert faults == {Fault.CAUSAL_ORDER}


# --- frames that no host can have sent -------------------------------------------------------

MESSAGE = [A, 1, b""]
SOUND: dict[str, Any] = {
    "host-prs": [A, MESSAGE, [0, 1, 2, [[1, 0, 1]]], None],
    "host-rst-direct": [A, MESSAGE, [0, [1] * 9], None],
}


def refused(name: str, tree: Any) -> bool:
    try:
        Codec(find(name), WORLD.n, stations=WORLD.stations).decode(msgspec.msgpack.encode(tree))
    except MalformedFrame:
        return True
    return False


@pytest.mark.parametrize("name", DIRECT)
def test_a_frame_from_a_station_or_about_its_message_is_refused(name: str) -> None:
    source, message, packet, own = SOUND[name]
    assert not refused(name, [source, message, packet, own])
    assert refused(name, [WORLD.stations - 1, message, packet, own])
    assert refused(name, [source, [WORLD.stations - 1, 1, b""], packet, own])
    assert refused(name, [WORLD.n, message, packet, own])


@pytest.mark.parametrize(
    ("name", "packet"),
    [
        ("host-prs", [0, 1, 8, []]),
        ("host-prs", [0, 1, 2, [[3, 0, 1]]]),
        ("host-prs", [0, 1, 2, [[1, 3, 1]]]),
        ("host-rst-direct", [0, [1] * 36]),
    ],
)
def test_content_for_as_many_as_all_nodes_and_not_the_hosts_is_refused(
    name: str, packet: Any
) -> None:
    assert refused(name, [A, MESSAGE, packet, None])


@pytest.mark.parametrize("name", DIRECT)
def test_a_stranger_that_claims_to_be_a_station_gets_no_answer(name: str) -> None:
    engine = VirtualEngine(wandering(name, 1), None)
    stations = engine._plan.stations
    host = engine.shells[stations]
    source, message, packet, own = SOUND[name]
    frame = msgspec.msgpack.encode([source, message, packet, own])
    host.arrive(0, b"\x00" + bytes(4) + (0).to_bytes(4, "little") + frame)
    assert engine._copies == 0
    host.arrive(0, b"\x00" + bytes(4))
    assert host.malformed >= 1


def test_a_host_refuses_to_write_to_itself_where_barriers_cannot() -> None:
    with pytest.raises(BadInput, match="host-prs refuses a message to its own sender"):
        scripted("host-prs", WORLD, HOME, sends((0, A, (A, B))))


def test_a_matrix_takes_a_message_to_oneself_over_the_air_like_any_other() -> None:
    outcome = scripted("host-rst-direct", WORLD, HOME, sends((0, A, (A, B))))
    assert deliveries(outcome, A) == deliveries(outcome, B) == [(A, 1)]
