"""The failure detector: whom it suspects and when, and that its mistakes show in the trace."""

from __future__ import annotations

import msgspec
import pytest

from testbed.core.detection import Detection, PhiDetection, TimeoutDetection
from testbed.core.distribution import Constant, Exponential
from testbed.core.fault import Crash
from testbed.core.network import Loss
from testbed.engine.detector import Detector, PhiAccrual
from testbed.engine.plan import Plan
from testbed.trace.schema import Event
from tests.runs import MS, Outcome, first_difference, plan, run

TIMEOUT = TimeoutDetection(interval=20 * MS, timeout=100 * MS, linger=600 * MS)
PHI = PhiDetection(interval=20 * MS, threshold=8.0, linger=600 * MS)
DETECTIONS = pytest.mark.parametrize("spec", [TIMEOUT, PHI], ids=["timeout", "phi"])


def watched(spec: Detection, *, crash: int | None = None, **link: object) -> Plan:
    latency = link.pop("latency", Constant(5 * MS))
    made = plan("immediate", latency=latency, **link)
    faults = () if crash is None else (Crash(crash, (2,)),)
    return msgspec.structs.replace(made, detector=spec, faults=faults)


def judgements(outcome: Outcome, event: Event) -> list[tuple[int, int, int]]:
    return [(row["time"], row["node"], row["peer"]) for row in outcome.rows.named(event)]


@DETECTIONS
def test_everybody_suspects_the_crashed_one_and_nobody_else(spec: Detection) -> None:
    outcome = run(watched(spec, crash=200 * MS))
    suspicions = judgements(outcome, Event.SUSPECT)
    assert sorted((node, peer) for _, node, peer in suspicions) == [(n, 2) for n in (0, 1, 3, 4)]
    assert all(200 * MS < time < 400 * MS for time, _, _ in suspicions)
    assert not judgements(outcome, Event.TRUST)


@DETECTIONS
def test_without_a_crash_on_a_steady_network_nobody_is_suspected(spec: Detection) -> None:
    outcome = run(watched(spec))
    assert not judgements(outcome, Event.SUSPECT)


def test_a_lossy_network_makes_mistakes_and_they_are_taken_back() -> None:
    hasty = TimeoutDetection(interval=20 * MS, timeout=45 * MS, linger=600 * MS)
    outcome = run(watched(hasty, loss=Loss(0.3)))
    suspicions, trusts = (judgements(outcome, e) for e in (Event.SUSPECT, Event.TRUST))
    assert suspicions
    assert trusts
    assert not outcome.rows.named(Event.CRASH)


def test_detectors_end_and_the_run_with_them() -> None:
    outcome = run(watched(TIMEOUT))
    last = max(row["time"] for row in outcome.rows.named(Event.SEND))
    assert last < outcome.totals.end <= last + TIMEOUT.linger + 5 * MS


def test_heartbeats_of_all_nodes_do_not_leave_at_once() -> None:
    starts = {Detector(me, 5, TIMEOUT, 0).start(0) for me in range(5)}
    assert len(starts) == 5


def test_phi_grows_with_silence_and_falls_with_a_jittery_past() -> None:
    steady, jittery = PhiAccrual(20 * MS, 8.0), PhiAccrual(20 * MS, 8.0)
    time_steady = time_jittery = 0
    for beat in range(50):
        time_steady += 20 * MS
        time_jittery += 5 * MS if beat % 2 else 35 * MS
        steady.heard(1, time_steady)
        jittery.heard(1, time_jittery)
    silences = [steady.phi(1, time_steady + gap * MS) for gap in (10, 20, 25, 30)]
    assert silences == sorted(silences)
    assert silences[0] < 0.01 < 5 < silences[-1]
    assert jittery.phi(1, time_jittery + 30 * MS) < 1
    assert steady.is_overdue(1, time_steady + 10_000 * MS)


def test_a_frame_that_only_begins_like_a_heartbeat_is_refused() -> None:
    detector = Detector(0, 5, TIMEOUT, 0)
    for frame in (b"\x02", b"\x02\x09\0\0\0", b"\x02\0\0\0\0", b"\x02\x01\0\0\0\0"):
        assert detector.sender(frame) is None
    assert detector.sender(Detector(3, 5, TIMEOUT, 0).frame) == 3


@DETECTIONS
def test_a_run_with_a_detector_is_the_same_twice(spec: Detection) -> None:
    made = watched(spec, crash=200 * MS, loss=Loss(0.2), latency=Exponential(10 * MS))
    assert first_difference(run(made).rows, run(made).rows) is None
