"""What the air carries: the barrier pays off over the matrix, and more so the more hosts there are.

`python -m benchmarks air` has the whole table; docs/findings.md quotes it.
"""

from __future__ import annotations

import pytest

from benchmarks.air import PAIRS, one


@pytest.mark.parametrize(("matrix", "barrier"), PAIRS)
def test_the_barrier_spares_more_of_the_air_the_more_hosts_there_are(
    matrix: str, barrier: str
) -> None:
    shares = [one(barrier, n_h)["bytes"] / one(matrix, n_h)["bytes"] for n_h in (5, 10, 20)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.9, "among five hosts it hardly matters"
    assert shares[-1] < 0.75


def test_a_matrix_on_the_host_is_in_the_air_and_one_at_the_station_is_not() -> None:
    at_station, on_host = one("av1", 20), one("host-rst", 20)
    assert at_station["frames"] == on_host["frames"], "the same frames, acknowledgements included"
    assert at_station["ints"] < 10
    assert on_host["ints"] > 20 * 20


@pytest.mark.parametrize("name", ["host-rst-direct", "host-prs"])
def test_straight_over_the_air_a_copy_is_a_frame_and_an_acknowledgement(name: str) -> None:
    frames = one(name, 10)["frames"]
    assert 2 <= frames < 2.1, "what is above two was lost, and sent again"
