"""A host that a station thinks off the air, and hears all the same: a find of a long hunt.

The host is back twice at one moment. The air takes its first registration, its message comes before
the second. A station that then still gives messages up for it gives up one that the host itself has
sent since it is back. `causalbed check av1 --seed 21` met this twice in 100,000 schedules.
"""

from __future__ import annotations

import msgspec

from testbed.algorithms.mobile import air, av1, custody, station
from testbed.hunt.hunter import replay
from testbed.hunt.schedule import Schedule
from testbed.trace.oracle import Fault, Verdict
from tests.mutation import Mutant, mutate_family
from tests.traces import TRACES

FILE = TRACES / "station-hears-before-the-registration.json"
DEAF = Mutant(
    "a frame does not say that the host is back",
    "        charge.is_disconnected = False  # who sends is back, registered or not\n",
    "",
    "waiver",
)  # fmt: skip


def test_a_host_that_is_heard_is_back() -> None:
    audit = replay(Schedule.load(FILE))
    assert audit.verdict is Verdict.VALID
    assert audit.waived < audit.owed


def test_a_station_that_waits_for_the_registration_gives_up_too_much() -> None:
    deaf = mutate_family((air, custody, station, av1), DEAF)
    audit = replay(msgspec.structs.replace(Schedule.load(FILE), algorithm=deaf))
    assert Fault.WAIVER in {finding.fault for finding in audit.findings}
