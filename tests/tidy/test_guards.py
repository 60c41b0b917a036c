"""The guards of conftest.py: a test without its marker starts no Ray, no Spark, and does not sleep.

Stand-ins take the place of ray and pyspark, so that nothing heavy is loaded to show it. Some tests
find them imported already, some import them on their own: a guard must see both.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"

STAND_INS = {
    "ray.py": """
running = False
def is_initialized():
    return running
def init():
    global running
    running = True
""",
    "pyspark/__init__.py": "",
    "pyspark/core/__init__.py": "",
    "pyspark/core/context.py": """
class SparkContext:
    _active_spark_context = None
""",
    "pyspark/sql.py": """
from pyspark.core.context import SparkContext
class SparkSession:
    class Builder:
        def getOrCreate(self):
            SparkContext._active_spark_context = self
""",
    "pytest.ini": "[pytest]\nmarkers =\n    ray: x\n    spark: x\n    slow: x\n",
}

TESTS = """
import sys
import pytest

def forget():
    for name in [name for name in sys.modules if name.split(".")[0] in ("ray", "pyspark")]:
        del sys.modules[name]

@pytest.fixture(scope="module", autouse=True)
def prepared():
    forget()
    {prepare}

def teardown_function(function):
    {prepare}

def start_ray():
    import ray
    ray.init()

def start_spark():
    from pyspark.sql import SparkSession
    SparkSession.Builder().getOrCreate()

def test_ray():
    start_ray()

def test_spark():
    start_spark()

def test_sleep():
    import time
    time.sleep(0)

@pytest.mark.slow
def test_marked_sleep():
    test_sleep()

@pytest.mark.ray
def test_marked_ray():
    start_ray()
    forget()

@pytest.mark.spark
def test_marked_spark():
    start_spark()
    forget()
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What pytest says of each of these tests under the real conftest."""
    folder = tmp_path_factory.mktemp("guarded")
    for name, text in STAND_INS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "conftest.py").write_text(CONFTEST.read_text())
    (folder / "test_late.py").write_text(TESTS.format(prepare="pass"))
    (folder / "test_loaded.py").write_text(TESTS.format(prepare="import ray, pyspark.sql"))
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--tb=line", str(folder)],
        cwd=folder, capture_output=True, text=True, check=False, env={"COLUMNS": "200"},
    )  # fmt: skip
    summary = re.compile(r"^(?:PASSED|FAILED|ERROR) (\S+?)\.py::(\S+)(.*)$", re.MULTILINE)
    lines = summary.findall(result.stdout)
    assert len(lines) >= 12, result.stdout
    return {f"{file}:{test}": complaint for file, test, complaint in lines}


@pytest.mark.parametrize(
    ("test", "complaint"),
    [
        ("test_late:test_ray", "this test started Ray without the marker `ray`"),
        ("test_late:test_spark", "this test started a Spark session without the marker"),
        ("test_late:test_sleep", "sleeps in a unit test"),
        ("test_loaded:test_ray", "a test without the marker `ray` starts Ray"),
        ("test_loaded:test_spark", "a test without the marker `spark` starts a Spark session"),
    ],
)
def test_what_needs_a_marker_fails_without_it(
    outcomes: dict[str, str], test: str, complaint: str
) -> None:
    assert complaint in outcomes[test]


@pytest.mark.parametrize("file", ["test_late", "test_loaded"])
@pytest.mark.parametrize("test", ["test_marked_ray", "test_marked_spark", "test_marked_sleep"])
def test_what_needs_a_marker_works_with_it(outcomes: dict[str, str], file: str, test: str) -> None:
    assert outcomes[f"{file}:{test}"] == ""
