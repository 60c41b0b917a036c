"""Every mobile algorithm under the hunter: safe and live, the same twice, packets that stay put."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.core.algorithm import Guarantee
from testbed.hunt.generate import Shape
from testbed.hunt.hunter import run_chunk
from testbed.hunt.play import play
from testbed.trace.oracle import Fault
from tests.families import MOBILE
from tests.frames import bent, damaged
from tests.hunted import SEED, at_its_start, busy_run, encoded, roam, schedule_of
from tests.runs import first_difference

ORDERED = [name for name, a in MOBILE.items() if a.guarantee is Guarantee.CAUSAL]
CAUSAL = [name for name in ORDERED if not name.endswith("-printed")]
PRINTED = [name for name in ORDERED if name not in CAUSAL]
"""Kept as printed: what they deliver is in order, and they lose messages."""
OTHERS = [name for name in MOBILE if name not in ORDERED]
SCHEDULES = 1_000
PART = 250
"""Each part is a test, so that they can run side by side."""


@pytest.mark.parametrize("part", range(SCHEDULES // PART))
@pytest.mark.parametrize("name", CAUSAL)
def test_a_thousand_schedules_are_safe_and_live_through_all_hand_offs(name: str, part: int) -> None:
    tally, finds = run_chunk(name, SEED, Shape(), range(part * PART, (part + 1) * PART))
    assert [found.prose for found in finds] == []
    assert tally.schedules == PART
    assert tally.vacuous < PART / 2
    assert tally.moves > 10 * PART
    assert tally.lost_in_air > 5 * PART
    assert tally.arrived_out_of_order > PART
    if not MOBILE[name].is_on_hosts_alone:
        assert tally.busy_handoffs > 2 * PART


@pytest.mark.parametrize("name", OTHERS)
def test_an_algorithm_without_the_guarantee_is_found_out(name: str) -> None:
    audits = [play(schedule_of(name, number)) for number in range(40)]
    faults = {finding.fault for audit in audits for finding in audit.findings}
    assert faults
    assert Fault.STRANGER not in faults


@pytest.mark.parametrize("name", PRINTED)
def test_a_printed_form_that_promises_order_only_loses_messages(name: str) -> None:
    audits = [play(schedule_of(name, number)) for number in range(100)]
    faults = {finding.fault for audit in audits for finding in audit.findings}
    assert faults == {Fault.LIVENESS}


@pytest.mark.parametrize("name", MOBILE)
def test_the_same_schedule_gives_the_same_trace(name: str) -> None:
    for number in range(6):
        first, second = (roam(schedule_of(name, number)).rows for _ in range(2))
        assert first_difference(first, second) is None
        assert len(first.rows) > 20


@pytest.mark.parametrize("name", MOBILE)
def test_a_packet_comes_back_from_the_wire_as_it_was_and_as_large(name: str) -> None:
    algorithm, run = MOBILE[name], busy_run(name)
    kinds = set()
    for sent in run.sent:
        effect = sent.effect
        kinds.add(type(effect.packet))
        for to, frame in zip(effect.dests, sent.frames, strict=True):
            own = (effect.own or {}).get(to)
            arrival = run.codec.decode(frame)
            assert (arrival.source, arrival.packet, arrival.own) == (sent.node, effect.packet, own)
            assert arrival.message == effect.message
            assert algorithm.size(arrival.packet, arrival.own) == algorithm.size(effect.packet, own)
    assert len(kinds) > len(algorithm.packets) / 2


@pytest.mark.parametrize("name", MOBILE)
def test_a_packet_never_changes_after_it_was_sent_among_hosts(name: str) -> None:
    for number in range(8):
        run = roam(schedule_of(name, number))
        changed = [sent.effect for sent in run.sent if encoded(run.codec, sent) != sent.frames]
        assert changed == []


@pytest.mark.parametrize("name", CAUSAL)
def test_nothing_is_held_when_all_is_over(name: str) -> None:
    for number in range(8):
        shells = roam(schedule_of(name, number)).engine.shells.values()
        assert {shell.held() for shell in shells} == {0}
        assert all(shell.node.state_ints() >= 0 for shell in shells)


@pytest.mark.parametrize("name", MOBILE)
def test_no_frame_of_its_own_is_refused(name: str) -> None:
    for number in range(8):
        shells = roam(schedule_of(name, number)).engine.shells.values()
        assert {shell.malformed for shell in shells} == {0}


def survives(name: str, node: int, frame: bytes) -> None:
    """Whatever it makes of the frame, the node raises nothing, now or later."""
    run = busy_run(name)
    shell = at_its_start(run.schedule).shells[node]
    mine = [real for to, real in run.frames() if to == node]
    half = len(mine) // 2
    for real in [*mine[:half], frame, frame, *mine[half:]]:
        shell.arrive(1, real)


@pytest.mark.parametrize("name", MOBILE)
@given(data=st.data())
def test_damaged_and_bent_frames_do_no_harm_at_stations_and_hosts(
    name: str, data: st.DataObject
) -> None:
    node = data.draw(st.sampled_from(sorted(at_its_start(busy_run(name).schedule).shells)))
    frame = data.draw(st.one_of(bent(name), damaged(name), st.binary(max_size=40)))
    survives(name, node, frame)
