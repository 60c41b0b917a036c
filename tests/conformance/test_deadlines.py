"""What every deadline algorithm must do, whatever is lost, doubled, late or crashed."""

from __future__ import annotations

import msgspec
import pytest

from testbed.algorithms import find, parameters
from testbed.core.clocks import Clocks
from testbed.core.distribution import Exponential, Uniform
from testbed.core.network import Loss
from testbed.engine.virtual import VirtualEngine
from testbed.trace.oracle import Audit, Oracle, Verdict
from tests.deadline_schedules import FAIR, ROUGH, Weather, play, ratio
from tests.families import DEADLINE
from tests.runs import MS, plan

SOUND = [name for name in DEADLINE if not name.endswith("-printed")]
VARIANTS = [*SOUND, "odca[solicit=any]", "odca[patience_ms=20,tries=2]"]
WEATHERS = (Weather(), ROUGH, Weather(room=120), Weather(skew_ms=40), Weather(lifetimes=(60,)))


@pytest.mark.parametrize("seed", range(len(WEATHERS) * 8))
@pytest.mark.parametrize("name", VARIANTS)
def test_no_schedule_shows_an_inversion_a_duplicate_or_a_late_delivery(
    name: str, seed: int
) -> None:
    weather = WEATHERS[seed % len(WEATHERS)]
    stage = play(
        find(name), seed, n=2 + seed % 5, sends=8 + seed % 13, weather=weather,
        params=parameters(name),
    )  # fmt: skip
    assert stage.faults() == []
    assert stage.unexplained() == []
    assert stage.wasted == []
    alive = [node for me, node in enumerate(stage.nodes) if me not in stage.crashed]
    assert [node.held() for node in alive] == [0] * len(alive)
    assert weather.room is None or stage.peak_bytes <= weather.room


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", VARIANTS)
def test_without_loss_and_with_time_enough_everything_is_delivered(name: str, seed: int) -> None:
    stage = play(find(name), seed, n=2 + seed % 5, weather=FAIR, params=parameters(name))
    assert ratio(stage) == 1
    assert all(not discarded for discarded in stage.discarded) or name.startswith("odca")


def outcome(name: str, **link: object) -> Audit:
    """A run in virtual time with drifting clocks, judged by the oracle."""
    made = plan(name, n=6, messages=150, seed=3, **link)
    traffic = msgspec.structs.replace(made.traffic, lifetime=Exponential(300 * MS))
    clocks = Clocks(ahead=Uniform(0, 10 * MS), drift_ppb=100_000)
    made = msgspec.structs.replace(made, traffic=traffic, clocks=clocks)
    oracle = Oracle(range(6), guarantee=find(name).guarantee)
    VirtualEngine(made, oracle).run()
    return oracle.verdict()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_lossy_run_with_drifting_clocks_is_valid(name: str) -> None:
    audit = outcome(name, loss=Loss(0.1), duplicate=0.05)
    assert audit.verdict is Verdict.VALID, audit.why
    assert audit.inversions == audit.duplicates == 0
    assert 0.4 < audit.delivered / audit.owed < 0.95
