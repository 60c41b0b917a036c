"""A session is quiet, stays on this machine, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from analysis import java
from analysis.session import spark_session
from testbed.core.errors import BadInput

ALONE = """
import os
from pathlib import Path
from analysis.session import spark_session

with spark_session("local[1]") as spark:
    assert spark.sql("SELECT 1 AS one").collect()[0].one == 1
    jvm = spark.sparkContext._gateway.proc.pid
    scratch = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")).parent
    assert scratch.is_dir()
    assert Path(f"/proc/{jvm}").exists()
assert not Path(f"/proc/{jvm}").exists()
assert not scratch.exists()
assert "SPARK_CONF_DIR" not in os.environ
"""


@pytest.mark.spark
def test_a_local_session_listens_on_loopback_and_shows_nothing(spark: SparkSession) -> None:
    settings = dict(spark.sparkContext.getConf().getAll())
    assert settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.ui.enabled"] == "false"
    assert settings["spark.ui.showConsoleProgress"] == "false"
    assert settings["spark.sql.session.timeZone"] == "UTC"
    assert spark.sparkContext.uiWebUrl is None


@pytest.mark.spark
def test_a_second_session_in_one_process_is_refused(spark: SparkSession) -> None:
    with pytest.raises(BadInput, match="one at a time"), spark_session():
        pass


@pytest.mark.slow
@pytest.mark.spark
def test_a_session_prints_nothing_and_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_without_java_the_advice_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_candidates", list)
    with pytest.raises(BadInput, match="version 17 or newer") as refusal, spark_session():
        pass
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('openjdk version "17.0.15" 2025-04-15', True),
        ('openjdk version "21" 2023-09-19', True),
        ('java version "1.8.0_292"', False),
        ('openjdk version "11.0.2" 2019-01-15', False),
        ("Segmentation fault", False),
    ],
)
def test_a_java_that_is_too_old_is_no_java(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, found: bool
) -> None:
    command = tmp_path / "bin" / "java"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    command.chmod(0o755)
    monkeypatch.setattr(java, "_candidates", lambda: [command])
    assert found == (java.find_java() is not None)
