"""Distributions against theory: a large keyed sample, tolerances of four standard errors.

The sample is deterministic, so these tests cannot fail by chance; a wrong formula would have to be
wrong by less than four standard errors of 32,000 draws to pass.
"""

from __future__ import annotations

import math
from statistics import NormalDist, fmean

import pytest

from testbed.core.distribution import (
    Constant,
    Distribution,
    Empirical,
    Exponential,
    LogNormal,
    Normal,
    Uniform,
)
from testbed.core.network import Link, LinkSpec

MS = 1_000_000
DRAWS = 32_000
STANDARD_ERRORS = 4
PHI = NormalDist()


def sample(distribution: Distribution, source: int = 1) -> list[int]:
    """Latencies as a link hands them out."""
    link = Link(LinkSpec(latency=distribution), 7, source, 2)
    return [link.send(0, 100)[0] for _ in range(DRAWS)]


def cut_normal(mean: float, deviation: float) -> tuple[float, float]:
    """Mean and deviation of max(0, X)."""
    z = mean / deviation
    first = mean * PHI.cdf(z) + deviation * PHI.pdf(z)
    second = (mean**2 + deviation**2) * PHI.cdf(z) + mean * deviation * PHI.pdf(z)
    return first, math.sqrt(second - first**2)


CASES = (
    (Uniform(20 * MS, 80 * MS), 50 * MS, 60 * MS / math.sqrt(12)),
    (Exponential(50 * MS), 50 * MS, 50 * MS),
    (Normal(50 * MS, 10 * MS), *cut_normal(50 * MS, 10 * MS)),
    (Normal(10 * MS, 20 * MS), *cut_normal(10 * MS, 20 * MS)),
    (LogNormal(50 * MS, 0.5), 50 * MS * math.exp(0.125),
     50 * MS * math.exp(0.125) * math.sqrt(math.exp(0.25) - 1)),
    (Empirical((10 * MS, 20 * MS, 60 * MS)), 30 * MS, math.sqrt(1400 / 3) * MS),
)  # fmt: skip


@pytest.mark.parametrize(("distribution", "mean", "deviation"), CASES)
def test_the_mean_is_that_of_theory(
    distribution: Distribution, mean: float, deviation: float
) -> None:
    tolerance = STANDARD_ERRORS * deviation / math.sqrt(DRAWS) + 1  # whole nanoseconds: one more
    assert fmean(sample(distribution)) == pytest.approx(mean, abs=tolerance)
    assert distribution.mean_ns == pytest.approx(mean)


QUANTILES = (
    (Uniform(20 * MS, 80 * MS), lambda q: (20 + 60 * q) * MS),
    (Exponential(50 * MS), lambda q: -50 * MS * math.log(1 - q)),
    (Normal(50 * MS, 10 * MS), lambda q: (50 + 10 * PHI.inv_cdf(q)) * MS),
    (LogNormal(50 * MS, 0.5), lambda q: 50 * MS * math.exp(0.5 * PHI.inv_cdf(q))),
)


@pytest.mark.parametrize(("distribution", "quantile"), QUANTILES)
@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.75, 0.99])
def test_quantiles_are_those_of_theory(distribution, quantile, share: float) -> None:
    below = sum(value < quantile(share) for value in sample(distribution)) / DRAWS
    tolerance = STANDARD_ERRORS * math.sqrt(share * (1 - share) / DRAWS)
    assert below == pytest.approx(share, abs=tolerance)


def test_a_constant_is_constant() -> None:
    assert set(sample(Constant(5 * MS))) == {5 * MS}
    assert Constant(5).mean_ns == 5


def test_a_normal_latency_is_cut_at_zero() -> None:
    values = sample(Normal(10 * MS, 20 * MS))
    zeros = PHI.cdf(-0.5)
    assert min(values) == 0
    tolerance = STANDARD_ERRORS * math.sqrt(zeros * (1 - zeros) / DRAWS)
    assert values.count(0) / DRAWS == pytest.approx(zeros, abs=tolerance)


def test_a_normal_without_deviation_is_its_mean() -> None:
    assert Normal(7, 0).mean_ns == 7
    assert Normal(7, 0).at(0.3) == 7


def test_a_delay_trace_is_replayed_value_by_value_each_as_likely() -> None:
    measured = (3, 3, 5, 8)
    values = sample(Empirical(measured))
    assert set(values) == set(measured)
    tolerance = STANDARD_ERRORS * math.sqrt(0.25 / DRAWS)
    assert values.count(3) / DRAWS == pytest.approx(0.5, abs=tolerance)


@pytest.mark.parametrize("distribution", [case[0] for case in CASES] + [Constant(3)])
@pytest.mark.parametrize("u", [0.0, 2.0**-53, 0.5, 1 - 2.0**-53])
def test_every_uniform_number_gives_a_duration(distribution: Distribution, u: float) -> None:
    assert distribution.at(u) >= 0
    assert isinstance(distribution.at(u), int)
