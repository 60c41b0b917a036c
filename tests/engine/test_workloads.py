"""Traffic: timelines keyed by who sends, destination sets as drawn, and when it all stops."""

from __future__ import annotations

import math
from collections import Counter
from itertools import islice, pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.core.distribution import Constant, Exponential
from testbed.core.draw import stream
from testbed.core.model import Submission
from workloads.destinations import All, Selective, Uniform, pick
from workloads.traffic import Stop, Traffic

MS = 1_000_000
STANDARD_ERRORS = 4


def timeline(node: int, n: int = 6, seed: int = 1, count: int = 200, **change) -> list[Submission]:
    traffic = Traffic(
        **{"interval": Exponential(100 * MS), "destinations": Uniform(), "multicast": 0.5} | change
    )
    return list(islice(traffic.timeline(node, n, seed), count))


def choices(kind, n: int, sender: int, count: int = 6000) -> list[tuple[int, ...]]:
    draws = stream(3, b"destinations", sender)
    return [kind.choose(sender, n, draws) for _ in range(count)]


def is_share(found: int, of: int, share: float) -> bool:
    return abs(found / of - share) <= STANDARD_ERRORS * math.sqrt(share * (1 - share) / of)


# --- identity -------------------------------------------------------------------------------------


def test_a_timeline_is_a_pure_function_of_seed_and_node() -> None:
    assert timeline(2) == timeline(2)
    assert timeline(2) != timeline(3)
    assert timeline(2) != timeline(2, seed=2)


def test_when_a_node_sends_does_not_depend_on_how_many_others_there_are() -> None:
    small, large = timeline(1, n=3), timeline(1, n=40)
    assert [s.time for s in small] == [s.time for s in large]
    assert [s.payload_bytes for s in small] == [s.payload_bytes for s in large]


def test_when_a_node_sends_does_not_depend_on_whom_it_sends_to_or_how_much() -> None:
    times = [s.time for s in timeline(1)]
    assert times == [s.time for s in timeline(1, destinations=All())]
    assert times == [s.time for s in timeline(1, multicast=0.0)]
    assert times == [s.time for s in timeline(1, payload_low=0, payload_high=9)]
    dests = [s.dests for s in timeline(1)]
    assert dests == [s.dests for s in timeline(1, interval=Constant(5))]
    assert dests == [s.dests for s in timeline(1, payload_low=0, payload_high=9)]


def test_merging_keeps_every_timeline_and_sorts_by_time_then_node() -> None:
    traffic = Traffic(interval=Constant(10), destinations=Uniform())
    merged = list(islice(traffic.merged(3, 1), 9))
    assert [(s.time, s.node) for s in merged] == [(t, n) for t in (10, 20, 30) for n in range(3)]
    assert [s for s in merged if s.node == 1] == list(islice(traffic.timeline(1, 3, 1), 3))


# --- destinations ---------------------------------------------------------------------------------


def test_sizes_and_members_of_uniform_sets_are_equally_likely() -> None:
    drawn = choices(Uniform(), 5, sender=2)
    sizes = Counter(map(len, drawn))
    assert set(sizes) == {1, 2, 3, 4}
    assert all(is_share(count, len(drawn), 1 / 4) for count in sizes.values())
    singles = Counter(dests for dests in drawn if len(dests) == 1)
    assert set(singles) == {(0,), (1,), (3,), (4,)}
    assert all(is_share(count, sizes[1], 1 / 4) for count in singles.values())
    pairs = Counter(dests for dests in drawn if len(dests) == 2)
    assert len(pairs) == 6
    assert all(is_share(count, sizes[2], 1 / 6) for count in pairs.values())


def test_bounds_of_set_sizes_are_kept_and_cut_to_the_system() -> None:
    assert {len(d) for d in choices(Uniform(low=2, high=3), 6, 0)} == {2, 3}
    assert {len(d) for d in choices(Uniform(low=4, high=9), 4, 0)} == {3}
    assert {len(d) for d in choices(Uniform(itself=True), 3, 0)} == {1, 2, 3}


def test_the_sender_is_a_destination_only_where_it_is_asked_for() -> None:
    assert not any(2 in dests for dests in choices(Uniform(), 5, 2))
    assert any(2 in dests for dests in choices(Uniform(itself=True), 5, 2))
    assert set(choices(All(), 4, 2, 3)) == {(0, 1, 3)}
    assert set(choices(All(itself=True), 4, 2, 3)) == {(0, 1, 2, 3)}


@pytest.mark.parametrize("sender", [0, 3])
def test_full_selectivity_keeps_to_the_senders_parity(sender: int) -> None:
    drawn = choices(Selective(same=1.0), 8, sender)
    assert {d % 2 for dests in drawn for d in dests} == {sender % 2}
    assert not any(sender in dests for dests in drawn)
    assert {len(dests) for dests in drawn} == {1, 2, 3}


def test_selectivity_is_a_probability_per_message() -> None:
    drawn = choices(Selective(same=0.75, low=7, high=7), 8, 0)
    # All seven others, unless the three of the same parity were chosen from.
    assert {len(dests) for dests in drawn} == {3, 7}
    assert is_share(sum(len(dests) == 3 for dests in drawn), len(drawn), 0.75)


@pytest.mark.parametrize("n", [2, 3])
def test_a_node_alone_of_its_parity_still_has_a_destination(n: int) -> None:
    assert all(choices(Selective(same=1.0), n, sender=1, count=50))


@given(st.integers(1, 12), st.integers(0, 12), st.integers(0, 10_000))
def test_a_pick_is_sorted_without_repeats_and_as_large_as_asked(
    candidates: int, count: int, seed: int
) -> None:
    picked = pick(list(range(candidates)), count, stream(seed, b"x", 0))
    assert picked == tuple(sorted(set(picked)))
    assert len(picked) == min(count, candidates)


def test_the_share_of_multicasts_is_as_asked() -> None:
    sent = timeline(0, n=9, count=4000, multicast=0.25, destinations=Uniform(low=2))
    assert is_share(sum(len(s.dests) > 1 for s in sent), len(sent), 0.25)


# --- rates, payloads, stopping --------------------------------------------------------------------


def test_intervals_have_their_mean_and_rates_divide_it() -> None:
    for node, rate in ((0, 1.0), (1, 3.0), (2, 1.0), (3, 3.0)):
        times = [0, *(s.time for s in timeline(node, count=4000, rates=(1.0, 3.0)))]
        mean = 100 * MS / rate
        gaps = [b - a for a, b in pairwise(times)]
        assert fmean(gaps) == pytest.approx(mean, abs=STANDARD_ERRORS * mean / math.sqrt(4000))


def test_payloads_are_uniform_between_their_bounds() -> None:
    sizes = Counter(s.payload_bytes for s in timeline(0, count=4000, payload_low=3, payload_high=6))
    assert set(sizes) == {3, 4, 5, 6}
    assert all(is_share(count, 4000, 0.25) for count in sizes.values())


def test_sending_stops_after_so_many_messages_or_at_a_time_whichever_is_first() -> None:
    traffic = Traffic(interval=Constant(10), destinations=Uniform())

    def sent(**rule: int) -> list[int]:
        return [s.time for s in Stop(**rule).cut(traffic.merged(2, 1))]

    assert sent(messages=3) == [10, 10, 20]
    assert sent(duration=20) == [10, 10, 20, 20]
    assert sent(duration=25, messages=3) == [10, 10, 20]
    assert sent(duration=15, messages=100) == [10, 10]
    assert sent(messages=0) == []
