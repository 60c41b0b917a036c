"""The fate of copies: exact arithmetic where there is one, theory where there is chance."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.core.distribution import Constant, Exponential, Uniform
from testbed.core.network import (
    BurstLoss,
    Fifo,
    Link,
    LinkSpec,
    Loss,
    Network,
    NetworkSpec,
    Override,
)

MS = 1_000_000
COPIES = 40_000
STANDARD_ERRORS = 4


class Scripted:
    """A latency that a test writes down, copy by copy; then zero."""

    def __init__(self, *latencies: int) -> None:
        self._left = list(latencies)

    def at(self, u: float) -> int:
        return self._left.pop(0) if self._left else 0


def link(latency: Any, source: int = 0, target: int = 1, seed: int = 3, **spec: Any) -> Link:
    return Link(LinkSpec(latency=latency, **spec), seed, source, target)


def fates(made: Link, copies: int = 200, size: int = 100, gap: int = MS) -> list[tuple[int, ...]]:
    return [made.send(i * gap, size) for i in range(copies)]


# --- order ----------------------------------------------------------------------------------------


def test_without_fifo_copies_overtake() -> None:
    made = link(Scripted(30 * MS, 10 * MS))
    assert [made.send(0, 1), made.send(MS, 1)] == [(30 * MS,), (11 * MS,)]


def test_fifo_moves_an_overtaking_copy_to_the_last_arrival() -> None:
    made = link(Scripted(30 * MS, 10 * MS, 40 * MS), fifo=Fifo.ON)
    arrivals = [made.send(0, 1), made.send(MS, 1), made.send(2 * MS, 1)]
    assert arrivals == [(30 * MS,), (30 * MS,), (42 * MS,)]


def test_gk_sets_an_overtaking_copy_one_millisecond_behind_the_last_arrival() -> None:
    made = link(Scripted(30 * MS, 10 * MS, 5 * MS, 28 * MS, 31 * MS), fifo=Fifo.GK)
    times = [made.send(i * MS, 1)[0] for i in range(5)]
    # 30; 11 < 30 becomes 31; 7 < 31 becomes 32; 31 < 32 becomes 33; 35 stays.
    assert times == [30 * MS, 31 * MS, 32 * MS, 33 * MS, 35 * MS]


def test_gk_leaves_a_copy_that_arrives_at_the_same_time() -> None:
    made = link(Scripted(30 * MS, 29 * MS), fifo=Fifo.GK)
    assert [made.send(0, 1), made.send(MS, 1)] == [(30 * MS,), (30 * MS,)]


@pytest.mark.parametrize("fifo", [Fifo.ON, Fifo.GK])
def test_a_fifo_link_keeps_order_through_loss_duplicates_and_bandwidth(fifo: Fifo) -> None:
    made = link(Exponential(50 * MS), fifo=fifo, loss=Loss(0.2), duplicate=0.2, bits_per_second=1e6)
    arrivals = [arrival for fate in fates(made, 500) for arrival in fate]
    assert arrivals == sorted(arrivals)


# --- bandwidth ------------------------------------------------------------------------------------


def test_copies_queue_for_the_wire_and_then_travel() -> None:
    made = link(Constant(5 * MS), bits_per_second=1e6)
    # 1000 bytes at 1 Mbit/s take 8 ms: on the wire until 8, 16 and, after a pause, 38 ms.
    times = [made.send(0, 1000), made.send(0, 1000), made.send(30 * MS, 1000)]
    assert times == [(13 * MS,), (21 * MS,), (43 * MS,)]


def test_serialization_depends_on_the_size_and_latency_does_not() -> None:
    slow = link(Uniform(0, 90 * MS), bits_per_second=8e6)
    free = link(Uniform(0, 90 * MS))
    for i, size in enumerate((1, 10, 1000, 0)):
        now = i * 100 * MS
        assert slow.send(now, size)[0] - free.send(now, size)[0] == size * 1000


def test_a_lost_copy_has_used_the_wire() -> None:
    made = link(Constant(0), bits_per_second=1e6, loss=Loss(1.0))
    made.send(0, 1000)
    assert made.send(0, 1000) == ()
    assert made._busy_until == 16 * MS


# --- loss -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.01, 0.2, 0.7])
def test_the_share_of_lost_copies_is_the_rate(rate: float) -> None:
    lost = fates(link(Constant(1), loss=Loss(rate)), COPIES).count(())
    tolerance = STANDARD_ERRORS * math.sqrt(rate * (1 - rate) / COPIES)
    assert lost / COPIES == pytest.approx(rate, abs=tolerance)


BURSTS = (
    BurstLoss(0.05, 0.25), BurstLoss(0.01, 0.1), BurstLoss(0.3, 0.9),
    BurstLoss(0.1, 0.3, loss_good=0.02, loss_bad=0.6),
)  # fmt: skip


@pytest.mark.parametrize("loss", BURSTS)
def test_bursty_loss_has_the_stationary_rate_of_its_chain(loss: BurstLoss) -> None:
    bad = loss.to_bad / (loss.to_bad + loss.to_good)
    rate = bad * loss.loss_bad + (1 - bad) * loss.loss_good
    memory = 1 - loss.to_bad - loss.to_good
    # Losses of one state are independent; between states the chain's memory adds covariance.
    covariance = (loss.loss_bad - loss.loss_good) ** 2 * bad * (1 - bad) * memory / (1 - memory)
    error = math.sqrt((rate * (1 - rate) + 2 * covariance) / COPIES)
    lost = fates(link(Constant(1), loss=loss), COPIES).count(())
    assert lost / COPIES == pytest.approx(rate, abs=STANDARD_ERRORS * error)


@pytest.mark.parametrize("loss", BURSTS[:3])
def test_bursts_have_the_mean_length_of_the_bad_state(loss: BurstLoss) -> None:
    lost = [fate == () for fate in fates(link(Constant(1), loss=loss), COPIES)]
    bursts = [len(list(run)) for is_lost, run in groupby(lost) if is_lost]
    mean = 1 / loss.to_good
    error = math.sqrt(1 - loss.to_good) / loss.to_good / math.sqrt(len(bursts))
    assert sum(bursts) / len(bursts) == pytest.approx(mean, abs=STANDARD_ERRORS * error)


def test_chains_at_their_limits() -> None:
    assert fates(link(Constant(1), loss=BurstLoss(0.0, 1.0)), 100).count(()) == 0
    assert fates(link(Constant(1), loss=BurstLoss(1.0, 0.0)), 100).count(()) == 100
    alternating = [fate == () for fate in fates(link(Constant(1), loss=BurstLoss(1.0, 1.0)), 8)]
    assert alternating == [True, False] * 4


# --- duplication ----------------------------------------------------------------------------------


def test_the_share_of_doubled_copies_is_the_rate_and_twins_have_their_own_latency() -> None:
    made = fates(link(Exponential(50 * MS), duplicate=0.1), COPIES)
    doubled = [fate for fate in made if len(fate) == 2]
    tolerance = STANDARD_ERRORS * math.sqrt(0.09 / COPIES)
    assert len(doubled) / COPIES == pytest.approx(0.1, abs=tolerance)
    later = sum(second > first for first, second in doubled) / len(doubled)
    assert later == pytest.approx(0.5, abs=STANDARD_ERRORS * math.sqrt(0.25 / len(doubled)))


# --- identity -------------------------------------------------------------------------------------

LATENCY = Exponential(50 * MS)


def test_loss_and_duplication_change_nothing_for_the_copies_they_spare() -> None:
    plain = fates(link(LATENCY))
    lossy = fates(link(LATENCY, loss=Loss(0.3)))
    bursty = fates(link(LATENCY, loss=BurstLoss(0.1, 0.3)))
    doubled = fates(link(LATENCY, duplicate=0.3))
    assert () in lossy
    assert () in bursty
    assert all(fate in ((), known) for fate, known in zip(lossy, plain, strict=True))
    assert all(fate in ((), known) for fate, known in zip(bursty, plain, strict=True))
    assert [fate[:1] for fate in doubled] == plain


def test_duplication_does_not_change_what_is_lost() -> None:
    lossy = fates(link(LATENCY, loss=Loss(0.3)))
    both = fates(link(LATENCY, loss=Loss(0.3), duplicate=0.5))
    assert [fate[:1] for fate in both] == lossy


@given(st.lists(st.integers(0, 3000), min_size=40, max_size=40))
def test_the_size_of_frames_does_not_change_their_fate(sizes: list[int]) -> None:
    spec = {"loss": Loss(0.2), "duplicate": 0.2}
    made, other = link(LATENCY, **spec), link(LATENCY, **spec)
    assert [made.send(i, size) for i, size in enumerate(sizes)] == fates(other, 40, gap=1)


@given(st.permutations([(a, b) for a in range(3) for b in range(3) for _ in range(6)]))
def test_the_order_in_which_links_are_used_does_not_matter(uses: list[tuple[int, int]]) -> None:
    spec = NetworkSpec(LinkSpec(latency=LATENCY, loss=Loss(0.2), duplicate=0.2))
    mixed, apart = Network(spec, 9), Network(spec, 9)
    seen: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for source, target in uses:
        seen.setdefault((source, target), []).append(mixed.link(source, target).send(0, 10))
    for (source, target), arrivals in sorted(seen.items()):
        assert [apart.link(source, target).send(0, 10) for _ in arrivals] == arrivals


def test_links_and_seeds_have_fates_of_their_own() -> None:
    one = fates(link(LATENCY), 50)
    assert one == fates(link(LATENCY), 50)
    assert one != fates(link(LATENCY, source=1, target=0), 50)
    assert one != fates(link(LATENCY, target=2), 50)
    assert one != fates(link(LATENCY, seed=4), 50)


# --- overrides ------------------------------------------------------------------------------------


def test_the_last_override_that_matches_counts() -> None:
    default, slow, special = (LinkSpec(latency=Constant(ms * MS)) for ms in (1, 2, 3))
    spec = NetworkSpec(
        default, (Override((0,), None, slow), Override((0, 1), (2,), special))
    )  # fmt: skip
    assert spec.spec(0, 1) is slow
    assert spec.spec(0, 2) is special
    assert spec.spec(1, 2) is special
    assert spec.spec(1, 0) is default
    assert spec.specs() == (default, slow, special)
    network = Network(spec, 1)
    assert [network.link(0, t).send(0, 1) for t in (1, 2)] == [(2 * MS,), (3 * MS,)]


def test_an_override_elsewhere_changes_no_other_link() -> None:
    default = LinkSpec(latency=LATENCY)
    lossy = LinkSpec(latency=Constant(1), loss=Loss(0.5))
    plain = Network(NetworkSpec(default), 1)
    mixed = Network(NetworkSpec(default, (Override((0,), (1,), lossy),)), 1)
    fates(mixed.link(0, 1))
    assert fates(mixed.link(0, 2)) == fates(plain.link(0, 2))


def test_a_link_is_made_once_and_keeps_its_count() -> None:
    network = Network(NetworkSpec(LinkSpec(latency=LATENCY)), 1)
    first = network.link(0, 1).send(0, 1)
    assert network.link(0, 1) is network.link(0, 1)
    assert network.link(0, 1).send(0, 1) != first
