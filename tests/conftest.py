"""What every test gets: bounded Hypothesis profiles, and a guard against Ray, Spark and sleeping.

A test without the marker `ray` (or `spark`) that starts Ray (or a Spark session) fails, and so does
a test that waits by `time.sleep`, itself or through code of the project: only the markers `ray`,
`spark` and `slow` allow that.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

_OURS = ("tests", "test_", "testbed", "actors", "workloads", "analysis")

_COMMON = {
    "deadline": None,
    "database": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("ci", max_examples=40, derandomize=True, **_COMMON)
settings.register_profile("explore", max_examples=2_000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def _nothing_heavy_without_its_marker(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    marks = {mark.name for mark in request.node.iter_markers()}
    ray_before, spark_before = _ray_runs(), _spark_runs()
    if "ray" not in marks and "ray" in sys.modules:
        monkeypatch.setattr("ray.init", _refusal("Ray", "ray"))
    if "spark" not in marks and "pyspark.sql" in sys.modules:
        monkeypatch.setattr(
            "pyspark.sql.SparkSession.Builder.getOrCreate", _refusal("a Spark session", "spark")
        )
    if not marks & {"ray", "spark", "slow"}:
        monkeypatch.setattr("time.sleep", _sleep_of_others_only(time.sleep))
    yield
    # A test may import what was not there to be guarded, so look at what it left behind.
    if "ray" not in marks and not ray_before and _ray_runs():
        pytest.fail("this test started Ray without the marker `ray`")
    if "spark" not in marks and not spark_before and _spark_runs():
        pytest.fail("this test started a Spark session without the marker `spark`")


def _refusal(what: str, marker: str):
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError(f"a test without the marker `{marker}` starts {what}")

    return refuse


def _sleep_of_others_only(sleep):
    """Libraries may wait (subprocess does, for its children); our own code may not."""

    def guarded(seconds: float) -> None:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.startswith(_OURS):
            raise AssertionError(f"{caller} sleeps in a unit test")
        sleep(seconds)

    return guarded


def _ray_runs() -> bool:
    ray = sys.modules.get("ray")
    return ray is not None and hasattr(ray, "is_initialized") and ray.is_initialized()


def _spark_runs() -> bool:
    core = sys.modules.get("pyspark.core.context") or sys.modules.get("pyspark.context")
    return core is not None and core.SparkContext._active_spark_context is not None
