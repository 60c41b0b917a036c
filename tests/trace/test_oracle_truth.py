"""The oracle against happened-before by definition, on random traces, whole and broken."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.algorithms import find
from testbed.trace.events import TraceEvent, audit_events
from testbed.trace.oracle import Audit, Oracle, Verdict
from testbed.trace.schema import Event
from tests.scene import Scene
from tests.schedules import from_choices, from_seed, play
from tests.trace.happened import Counts, Trace, count_faults, has_circle


def counts(audit: Audit) -> Counts:
    return Counts(
        audit.inversions, audit.duplicates, audit.undelivered, audit.strangers,
        audit.evidence.arrived_out_of_order,
    )  # fmt: skip


def damage(trace: Trace, dice: random.Random) -> Trace:
    """Take some rows away, repeat some, swap some, and let some nodes see what is not theirs."""
    broken = {node: list(events) for node, events in trace.items()}
    for _ in range(dice.randrange(1, 5)):
        events = broken[dice.choice(list(broken))]
        if not events:
            continue
        at = dice.randrange(len(events))
        kind = dice.choice(("drop", "repeat", "swap", "stranger"))
        if kind == "drop":
            del events[at]
        elif kind == "swap":
            other = dice.randrange(len(events))
            events[at], events[other] = events[other], events[at]
        elif kind == "stranger":
            message = (dice.randrange(4), dice.randrange(1, 9))
            events.insert(at, TraceEvent(Event.DELIVER, message, (), 0))
        elif events[at].event is not Event.SEND:
            events.insert(dice.randrange(len(events)), events[at])
    return broken


@given(n=st.integers(2, 5), choices=st.lists(st.integers(0, 59), max_size=120))
def test_the_oracle_agrees_with_the_definition(n: int, choices: list[int]) -> None:
    scene = play(Scene(find("immediate"), n), from_choices(choices), sends=10, itself=True)
    trace = scene.rows.events_of()
    assert counts(audit_events(trace)) == count_faults(trace)


def test_the_oracle_agrees_with_the_definition_on_broken_traces() -> None:
    compared = 0
    for seed in range(250):
        dice = random.Random(seed)
        name = dice.choice(("immediate", "fifo", "rst"))
        scene = play(Scene(find(name), 4), from_seed(seed), sends=9, itself=True)
        broken = damage(scene.rows.events_of(), dice)
        audit = audit_events(broken)
        if has_circle(broken):
            continue
        compared += 1
        expected = count_faults(broken)
        assert counts(audit) == expected, f"seed {seed}"
        is_faulty = any(expected[:4])
        assert (audit.verdict is Verdict.INVALID) == is_faulty
        assert bool(audit.findings) == is_faulty
    assert compared > 100


def test_a_delivery_in_its_own_past_is_never_called_valid() -> None:
    circles = 0
    for seed in range(250):
        scene = play(Scene(find("rst"), 3), from_seed(seed), sends=9)
        trace = scene.rows.events_of()
        bare = {
            node: [event for event in events if event.event is not Event.RECEIVE]
            for node, events in trace.items()
        }
        broken = damage(bare, random.Random(seed))
        if has_circle(broken):
            circles += 1
            assert audit_events(broken).verdict is Verdict.INVALID
    assert circles > 10


@given(st.integers(0, 200), st.randoms(use_true_random=False))
def test_the_order_in_which_nodes_are_listed_does_not_matter(
    seed: int, dice: random.Random
) -> None:
    trace = play(Scene(find("fifo"), 4), from_seed(seed), sends=9).rows.events_of()
    trace = damage(trace, random.Random(seed))
    nodes = list(trace)
    dice.shuffle(nodes)
    assert audit_events({node: trace[node] for node in nodes}) == audit_events(trace)


@pytest.mark.parametrize("seed", range(20))
def test_any_order_that_respects_causality_gives_the_same_counts(seed: int) -> None:
    trace = play(Scene(find("immediate"), 4), from_seed(seed), sends=12).rows.events_of()
    reference = audit_events(trace)
    dice = random.Random(seed)
    for _ in range(3):
        oracle = Oracle(range(4))
        for node, event in interleaved(trace, dice):
            if event.event is Event.SEND:
                oracle.send(node, event.message, event.dests)
            elif event.event is Event.RECEIVE:
                oracle.receive(node, event.message, event.time)
            else:
                oracle.deliver(node, event.message, event.time)
        audit = oracle.verdict()
        assert counts(audit) == counts(reference)
        assert {f.prose for f in audit.findings} == {f.prose for f in reference.findings}


def interleaved(trace: Trace, dice: random.Random) -> list[tuple[int, TraceEvent]]:
    """One random order of all events in which a send comes before its receives and deliveries."""
    left = {node: list(events) for node, events in trace.items()}
    sent: set[tuple[int, int]] = set()
    order = []
    while any(left.values()):
        node = dice.choice([
            node for node, events in left.items()
            if events and (events[0].event is Event.SEND or events[0].message in sent)
        ])  # fmt: skip
        event = left[node].pop(0)
        if event.event is Event.SEND:
            sent.add(event.message)
        order.append((node, event))
    return order
