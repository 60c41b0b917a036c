"""One quiet Spark session: local on loopback by default, any master by option.

Whatever the JVM prints goes to a log file; when the session ends the JVM has ended, and so has
everything it started. This file knows Spark and Java, nothing of traces.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from analysis.java import require_java
from testbed.core.errors import BadInput

CONF_DIR = Path(__file__).parent / "conf"
SHUFFLE_PARTITIONS_PER_CORE = 2
DRIVER_MEMORY_MIB_MAX = 4096
DRIVER_MEMORY_MIB_MIN = 768
DRIVER_MEMORY_SHARE = 0.25
"""Of the machine: the driver is also the executor of a local session."""
JVM_OPTIONS_LOCAL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A command lives for seconds: the optimizing compiler would cost more than it gives (half of a
start's processor time)."""
STOP_SECONDS = 20
LOG_LINES_SHOWN = 1


@contextmanager
def spark_session(master: str | None = None, *, log: Path | None = None) -> Iterator[SparkSession]:
    """A session for one command; `log` keeps what the JVM prints, else it goes with the session."""
    java_home = require_java()
    if SparkContext._active_spark_context is not None:
        raise BadInput("this process has a Spark session already; it takes one at a time")
    # Errors of queries come as exceptions; Spark would print them to the terminal as well.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    scratch = Path(tempfile.mkdtemp(prefix="causalbed-spark-"))
    try:
        log_file = log or scratch / "spark.log"
        log_file.parent.mkdir(parents=True, exist_ok=True)
        conf = _conf(master or "local[*]", scratch)
        variables = _variables(conf, java_home)
        with log_file.open("ab") as stream, _environment(variables):
            gateway = _launch(conf, stream, log_file)
        try:
            with _environment(variables):
                session = _connect(gateway, conf, log_file)
            yield session
        finally:
            _end(gateway)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def is_local(master: str) -> bool:
    return master.startswith("local")


def _conf(master: str, scratch: Path) -> SparkConf:
    settings = {
        "spark.app.name": "causalbed",
        "spark.master": master,
        "spark.driver.memory": f"{_driver_memory_mib()}m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.adaptive.enabled": "true",
    }
    if is_local(master):
        partitions = SHUFFLE_PARTITIONS_PER_CORE * (os.cpu_count() or 1)
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(scratch),
            "spark.sql.shuffle.partitions": str(partitions),
            "spark.driver.extraJavaOptions": f"{JVM_OPTIONS_LOCAL} -Djava.io.tmpdir={scratch}",
        }
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    return conf


def _driver_memory_mib() -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    share = int(machine * DRIVER_MEMORY_SHARE)
    return max(DRIVER_MEMORY_MIB_MIN, min(DRIVER_MEMORY_MIB_MAX, share))


def _variables(conf: SparkConf, java_home: Path) -> dict[str, str]:
    """What Spark reads from the environment; a cluster's users have settings of their own."""
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    variables = {"JAVA_HOME": str(java_home), "PYSPARK_PYTHON": python}
    if is_local(conf.get("spark.master") or ""):
        variables |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(CONF_DIR)}
    elif "SPARK_CONF_DIR" not in os.environ:
        variables["SPARK_CONF_DIR"] = str(CONF_DIR)
    return variables


def _launch(conf: SparkConf, stream: BinaryIO, log: Path) -> Any:
    """Start the JVM with its own output; this process keeps its terminal."""
    try:
        return launch_gateway(conf, {"stdout": stream, "stderr": stream})
    except Exception as error:  # whatever kept the JVM from starting
        raise BadInput(f"Spark did not start: {_last_words(log) or error}") from error


def _connect(gateway: Any, conf: SparkConf, log: Path) -> SparkSession:
    try:
        context = SparkContext(conf=conf, gateway=gateway)
    except Exception as error:  # a master that is not to be reached, or no address
        master = conf.get("spark.master")
        reason = _last_words(log) or str(error).strip().splitlines()[-1]
        raise BadInput(f"Spark has no session at master '{master}': {reason}") from error
    return SparkSession(context)


def _end(gateway: Any) -> None:
    """Stop Spark, then its JVM, and forget both, so that a next session starts anew."""
    try:
        session = SparkSession.getActiveSession()
        if session is not None:
            session.stop()
    finally:
        gateway.shutdown()
        process = gateway.proc
        if process is not None:
            process.stdin.close()  # the JVM ends when its input does
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        SparkContext._gateway = None
        SparkContext._jvm = None
        SparkContext._active_spark_context = None


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    before = {key: os.environ.get(key) for key in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value


def _last_words(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if " ERROR " in line]
    return " ".join(lines[-LOG_LINES_SHOWN:])
