"""What repair is worth: odca against tdca over the same network, in virtual time."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from testbed.config.load import load
from testbed.config.planning import plans
from testbed.engine.virtual import Totals, VirtualEngine

EXPERIMENT = Path(__file__).parents[3] / "experiments" / "deadline.yaml"
SEEDS = range(1, 6)


def totals(name: str, seed: int, *settings: str) -> Totals:
    """A small group under the experiment's own conditions, or others."""
    given = (f"seed={seed}", "nodes=9", "workload.interval.mean=900ms", "stop.messages=250")
    experiment = load(EXPERIMENT, (*given, *settings))
    plan = msgspec.structs.replace(plans(experiment, EXPERIMENT)[0].plan, algorithm=name)
    return VirtualEngine(plan, None).run()


@pytest.mark.parametrize("name", ["odca", "odca[solicit=any]"])
def test_repair_delivers_more_of_the_same_messages_on_average(name: str) -> None:
    gains = [totals(name, s).delivered - totals("tdca", s).delivered for s in SEEDS]
    assert sum(gain > 0 for gain in gains) >= 4
    assert sum(gains) > 0.002 * 5 * 250 * 8


def test_without_loss_there_is_nothing_to_repair() -> None:
    settings = ("network.loss=0", "deadline={kind: constant, value: 10s}")
    for name in ("odca", "tdca", "delta-causal"):
        assert totals(name, 1, *settings).delivered == 250 * 8


def test_repair_costs_copies_in_proportion_to_what_is_missing() -> None:
    lossy, lossless = totals("odca", 1).copies, totals("odca", 1, "network.loss=0").copies
    plain = totals("tdca", 1).copies
    assert plain < lossless < lossy < 1.5 * plain
