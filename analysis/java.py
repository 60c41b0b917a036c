"""The Java runtime that Spark needs: found, or installed where we may, or asked for.

`python -m analysis.java` is what the Makefile calls.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from testbed.core.errors import BadInput

VERSION_MIN = 17
ADVICE = (
    f"Spark needs a Java runtime, version {VERSION_MIN} or newer: install one "
    "(Debian, Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME to it."
)
_PACKAGES = ("openjdk-21-jre-headless", "openjdk-17-jre-headless", "default-jre-headless")


def find_java() -> tuple[Path, int] | None:
    """The home and version of a Java that Spark can use, or None."""
    for java in _candidates():
        version = _version(java)
        if version is not None and version >= VERSION_MIN:
            return java.resolve().parent.parent, version
    return None


def _candidates() -> list[Path]:
    homes = [Path(os.environ["JAVA_HOME"]) / "bin" / "java"] if "JAVA_HOME" in os.environ else []
    on_path = shutil.which("java")
    installed = sorted(Path("/usr/lib/jvm").glob("*/bin/java"), reverse=True)
    return [*homes, *([Path(on_path)] if on_path else []), *installed]


def _version(java: Path) -> int | None:
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', answer.stderr)
    if match is None:
        return None
    return int(match[2] or 0) if match[1] == "1" else int(match[1])


def require_java() -> Path:
    """The home of a Java that Spark can use; raises BadInput with advice where there is none."""
    found = find_java()
    if found is None:
        raise BadInput(ADVICE)
    return found[0]


def install() -> bool:
    """Try apt, where there is one and we may use it; whether a Java is there afterwards."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    subprocess.run(["apt-get", "update", "-qq"], **quiet)  # type: ignore[call-overload]
    for package in _PACKAGES:
        command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package]
        if subprocess.run(command, **quiet).returncode == 0:  # type: ignore[call-overload]
            break
    return find_java() is not None


def main() -> int:
    if find_java() is not None:
        return 0
    sys.stderr.write("no Java runtime found, trying to install one with apt\n")
    if install():
        return 0
    sys.stderr.write(ADVICE + "\n")
    return 64


if __name__ == "__main__":
    sys.exit(main())
