"""Keyed draws: pure, uniform, and different for every part of their key."""

from __future__ import annotations

import math
from itertools import islice, pairwise
from statistics import fmean

import pytest

from testbed.core.draw import BLOCK, stream, uniforms


def test_a_draw_is_a_pure_function_of_its_key() -> None:
    assert uniforms(1, b"latency", 2, 3, 4) == uniforms(1, b"latency", 2, 3, 4)


def test_every_part_of_the_key_matters() -> None:
    keys = [
        (1, b"latency", 2, 3, 4), (2, b"latency", 2, 3, 4), (1, b"loss", 2, 3, 4),
        (1, b"latency", 3, 3, 4), (1, b"latency", 2, 4, 4), (1, b"latency", 2, 3, 5),
        (1, b"latency", 3, 2, 4), (-1, b"latency", 2, 3, 4),
    ]  # fmt: skip
    numbers = [u for key in keys for u in uniforms(*key)]
    assert len(set(numbers)) == len(keys) * BLOCK


def test_a_stream_is_its_blocks_in_turn() -> None:
    drawn = list(islice(stream(5, b"interval", 1), 3 * BLOCK))
    assert drawn == [u for block in range(3) for u in uniforms(5, b"interval", 1, 0, block)]


def test_draws_are_uniform_and_without_memory() -> None:
    count = 50_000
    drawn = list(islice(stream(5, b"interval", 1), count))
    assert min(drawn) >= 0
    assert max(drawn) < 1
    error = math.sqrt(1 / 12 / count)
    assert fmean(drawn) == pytest.approx(0.5, abs=4 * error)
    for tenth in range(10):
        share = sum(tenth / 10 <= u < (tenth + 1) / 10 for u in drawn) / count
        assert share == pytest.approx(0.1, abs=4 * math.sqrt(0.09 / count))
    products = fmean((a - 0.5) * (b - 0.5) for a, b in pairwise(drawn))
    assert products == pytest.approx(0, abs=4 / 12 / math.sqrt(count))
