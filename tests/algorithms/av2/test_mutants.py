"""Each step of algorithm 2 left out or altered: the hunter's mobile schedules must show it.

Nothing here tests the matrix itself (tests/algorithms/rst) or who gets a host (custody.py).
"""

from __future__ import annotations

import msgspec
import pytest

from testbed.algorithms.mobile import av2
from testbed.core.algorithm import Algorithm
from testbed.core.world import FOREVER, Itinerary, Stay
from testbed.hunt.generate import Shape
from testbed.hunt.play import play
from testbed.hunt.roaming import Channel, HostSend, MobileSchedule
from testbed.hunt.wander import make_mobile_schedule
from tests.mutation import FAULTS, Mutant, first_seed, mutate
from tests.runs import MS

SCHEDULES = 150
NOTIFY = """            packet = Notify(sent, self._lanes(mss, target), host, previous, mss.me)
"""
ALL_LAST = "mss.last.get(host) == mss.n_s"
UP = "    def _new_charge(self) -> Resident:"
UNHELD = """    def _on_up(self, host, number, dests, message, turn):
        waiting = self.custody.awaited.get(host)
        if waiting is None:
            super()._on_up(host, number, dests, message, turn)
        else:
            self.custody.owned[host] = self._new_charge()
            self._accept(host, dests, message, turn)
            del self.custody.owned[host]

"""
HOLD = '''    """One MSS of the paper: a station is one, in algorithm 3 several."""
'''

A, B, C, D = range(4)


def walk(*cells: tuple[int, int]) -> Itinerary:
    """Where a host is, from which millisecond on; it leaves a millisecond before the next."""
    ends = [(time - 1) * MS for _, time in cells[1:]] + [FOREVER]
    return tuple(
        Stay(station, time * MS, end) for (station, time), end in zip(cells, ends, strict=True)
    )


def schedule(
    stations: int,
    stays: tuple[Itinerary, ...],
    sends: tuple[HostSend, ...],
    wires: tuple[Channel, ...],
) -> MobileSchedule:
    """One written by hand; a millisecond on a wire, a tenth of it in the air."""
    return MobileSchedule(
        algorithm="av2", stations=stations, hosts=len(stays), seed=0, number=0,
        kind="written by hand", keeps=True, notice=0, stays=stays, sends=sends, wires=wires,
        air=((MS // 10,),) * len(stays),
    )  # fmt: skip


MUTANTS = (
    Mutant("handoff_begin to s_j, as printed", "mss, target = self.mss[0], station * self.k",
           "mss, target = self.mss[0], claim.station * self.k", "liveness"),
    Mutant("no last awaited", ALL_LAST, "mss.last.get(host)", "liveness"),
    Mutant("one last not awaited", ALL_LAST, "mss.last.get(host) == mss.n_s - 1", "liveness"),
    Mutant("one last too many awaited", ALL_LAST, "mss.last.get(host) == mss.n_s + 1", "liveness"),
    Mutant("last of one move counted for the next", "            del mss.last[host]\n", "",
           "liveness"),
    Mutant("old messages not passed on", "(target := mss.gone.get(host)) is not None",
           "(target := mss.gone.get(host)) == -1", "liveness"),
    Mutant("old messages queued with the others",
           "                self._send_down(host, message, turn)\n            case HandoffBegin",
           "                self._route(mss, [host], message, turn)\n            case HandoffBegin",
           "order"),
    Mutant("not marked old, and sent down before handoff_over", "if resident.is_settled:",
           "if True:", "order"),
    Mutant("the host's own frames not held until enable", UP, UNHELD + UP, "order"),
    Mutant("PEND_ACK left behind", "dict(enable.pend_ack)", "{}", "liveness"),
    Mutant("number of frames up left behind", "resident.up, resident.down = enable.up, ",
           "resident.up, resident.down = 0, ", "liveness"),
    Mutant("number of frames down left behind", "= enable.up, enable.down", "= enable.up, 0",
           "liveness"),
    Mutant("a new handoff_begin does not wait", "        if handoff is None:\n",
           "        if True:\n", "liveness"),
    Mutant("a handoff_begin that waits is forgotten", "            handoff.claim = claim\n",
           "            pass\n", "liveness"),
    Mutant("nobody is notified", NOTIFY, "            continue\n" + NOTIFY, "liveness"),
    Mutant("notify without effect", "        mss.location[host] = station\n", "", "liveness"),
    Mutant("s_j does not notify itself",
           "        self._on_notify(mss, host, previous, mss.me, turn)\n", "", "liveness"),
    Mutant("what was queued stays queued", "for message in resident.queued:",
           "for message in ():", "liveness"),
    Mutant("what was queued comes down backwards", "in resident.queued:",
           "in resident.queued[::-1]:", "order"),
    Mutant("a host is never settled", "resident.is_settled = True", "pass", "liveness"),
    Mutant("no causal order among stations", HOLD,
           HOLD + "    def hold(self, received):\n        self.pending.hold(received, ())\n",
           "order"),
    Mutant("hand-off packets outside the causal order", HOLD,
           HOLD + "    def hold(self, received):\n"
           "        if isinstance(received.packet, Data | Old):\n"
           "            super().hold(received)\n"
           "        else:\n"
           "            self.pending.hold(received, ())\n", "liveness"),
    Mutant("a multicast counted one destination after the other",
           "            self._send(mss, target, Data(sent, self._lanes(mss, target), theirs), turn,"
           " message)\n",
           "            sent = mss.sent.copy()\n"
           "            for later in list(hosts)[list(hosts).index(target) + 1 :]:\n"
           "                sent[mss.me * mss.n_s + later] -= 1\n"
           "            self._send(mss, target, Data(sent, self._lanes(mss, target), theirs), turn,"
           " message)\n", "order"),
)  # fmt: skip

AIMED = (
    (
        Mutant("an older handoff_begin that waits replaces a newer one",
               "elif handoff.claim is None or handoff.claim.stay < claim.stay:", "else:",
               "liveness"),
        schedule(
            4, (walk((A, 0), (B, 10), (C, 20), (D, 23)), walk((A, 0))),
            (HostSend(200 * MS, 5, (4,)),),
            # s2's handoff_over is slow, and h's request from C comes behind that from D
            (Channel(A, B, (MS, 80 * MS)), Channel(C, B, (30 * MS,))),
        ),
    ),
    (
        Mutant("notify counted one destination after the other", NOTIFY,
               "            sent = mss.sent.copy()\n"
               "            for later in others[others.index(target) + 1 :]:\n"
               "                sent[mss.me * mss.n_s + later] -= 1\n" + NOTIFY, "order"),
        schedule(
            3, (walk((A, 0), (B, 10)), walk((A, 0)), walk((C, 0))),
            (HostSend(20 * MS, 4, (3, 5)), HostSend(30 * MS, 5, (3,))),
            # C has not heard of the move, A has, and nothing later from B that would tell it more
            (Channel(B, C, (100 * MS,)), Channel(B, A, (MS, MS, 100 * MS))),
        ),
    ),
)  # fmt: skip
"""Mutants that need a rare coincidence (one in 150, one in 1,500 random schedules), with it."""


def first_fault(algorithm: Algorithm, module: str, caught_by: str, schedules: int) -> int | None:
    """The number of the first schedule that shows the fault."""
    name = f"{module}:ALGORITHM"

    def shows(number: int) -> bool:
        schedule = make_mobile_schedule(name, algorithm, 1, number, Shape())
        return any(finding.fault is FAULTS[caught_by] for finding in play(schedule).findings)

    return first_seed(shows, schedules)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_schedules_show_no_fault_in_the_algorithm_itself(fault: str) -> None:
    assert first_fault(av2.ALGORITHM, av2.__name__, fault, 60) is None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_a_step_is_caught(mutant: Mutant) -> None:
    changed = mutate(av2, mutant)
    module = changed.size.__module__
    assert first_fault(changed, module, mutant.caught_by, SCHEDULES) is not None, (
        f"'{mutant.name}' survives"
    )


@pytest.mark.parametrize(("mutant", "aimed"), AIMED, ids=lambda value: getattr(value, "name", ""))
def test_a_mutant_that_needs_a_coincidence_is_caught_by_it(
    mutant: Mutant, aimed: MobileSchedule
) -> None:
    assert play(aimed).findings == []
    name = f"{mutate(av2, mutant).size.__module__}:ALGORITHM"
    findings = play(msgspec.structs.replace(aimed, algorithm=name)).findings
    assert {finding.fault for finding in findings} == {FAULTS[mutant.caught_by]}
