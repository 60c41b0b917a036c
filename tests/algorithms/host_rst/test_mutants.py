"""Each step of the relay left out or altered: the audit must notice, in hosts that wander."""

from __future__ import annotations

import pytest

from testbed.algorithms.mobile import host_rst, relay
from testbed.core.algorithm import Algorithm
from testbed.core.model import Role
from testbed.trace.schema import Event
from tests.mutation import FAULTS, Mutant, first_seed, mutate, mutate_beneath
from tests.roaming import judged, wandering
from tests.runs import run

FORWARD = """                packet = self.packets.data([host], carried.control)
                turn.send(given.station, packet, message=carried.message)
"""
DROPPED = """            charge.down += 1
            charge.pend_ack[charge.down] = Message(message.origin, message.number, b"")
"""

MUTANTS = (
    Mutant("what came for a host that has gone is thrown away", FORWARD, "", "liveness"),
    Mutant("what came before its host is thrown away",
           "self.early.setdefault(host, []).append(carried)", "pass", "liveness"),
    Mutant("what came before its host stays where it is",
           "self.early.pop(host, [])", "[]", "liveness"),
    Mutant("frames stay behind at a hand-off", "charge.up, charge.down, kept)",
           "charge.up, charge.down, [])", "liveness"),
    Mutant("the number of the last frame up stays behind", "(claim.host, charge.up, charge.down,",
           "(claim.host, 0, charge.down,", "liveness"),
    Mutant("the number of the last frame down stays behind",
           "(claim.host, charge.up, charge.down,", "(claim.host, charge.up, 0,", "liveness"),
    Mutant("the control information is dropped with the payload", DROPPED, "            pass\n",
           "liveness"),
    Mutant("a dropped message is not marked", "self.dropped.add(message.id)", "pass", "emptied"),
    Mutant("copies go to the first of a station's hosts only",
           "by_station.setdefault(station, []).append(d)",
           "by_station.setdefault(station, [d])", "liveness"),
)  # fmt: skip
"""`emptied`: delivered although its payload was dropped."""


def is_caught(algorithm: Algorithm, caught_by: str, schedules: int = 100) -> bool:
    name = f"{algorithm.roles[Role.HOST].__module__}:ALGORITHM"

    def shows(seed: int) -> bool:
        if caught_by == "emptied":
            rows = run(wandering(name, seed, keeps=False)).rows.named(Event.DELIVER)
            return any(row["payload_bytes"] == 0 for row in rows)
        findings = judged(wandering(name, seed)).findings
        return any(finding.fault is FAULTS[caught_by] for finding in findings)

    return first_seed(shows, schedules) is not None


@pytest.mark.parametrize("caught_by", ["order", "liveness", "once", "stranger", "emptied"])
def test_nothing_is_caught_in_the_algorithm_itself(caught_by: str) -> None:
    assert not is_caught(host_rst.ALGORITHM, caught_by, 20)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_relay_is_caught(mutant: Mutant) -> None:
    algorithm = mutate_beneath(host_rst, relay, mutant)
    assert is_caught(algorithm, mutant.caught_by), f"'{mutant.name}' survives"


def test_stations_keep_no_order_so_hosts_without_one_are_caught() -> None:
    disorder = Mutant(
        "nothing orders", "process: ClassVar[Process] = rst.Process",
        "from testbed.algorithms.static.rst import Process as Rst\n\n"
        "    class process(Rst):\n"
        "        def on_received(self, arrival, turn):\n"
        "            self._deliver(arrival, turn)\n", "order",
    )  # fmt: skip
    assert is_caught(mutate(host_rst, disorder), "order")
