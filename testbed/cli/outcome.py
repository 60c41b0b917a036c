"""What a finished run leaves behind besides its trace: fingerprint, versions, machine."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
from typing import Any

import numpy as np
import pyarrow as pa

from testbed.algorithms import find
from testbed.core.algorithm import packet_name
from testbed.core.network import Loss
from testbed.engine.plan import Plan
from testbed.trace.rundir import RunDir
from testbed.trace.schema import COLUMNS
from workloads.traffic import Traffic

_PACKAGES = ("causalbed", "ray", "pyspark", "pyarrow", "msgspec", "pyzmq", "numpy", "pandas")
_NOT_CONTENT = ("run", "cpu_ns")
"""A run's name and processor times differ between runs that did the same."""


def content_hash(run: RunDir) -> str:
    """SHA-256 over every row in (node, seq) order: same seed, same hash, in virtual time."""
    names = tuple(column.name for column in COLUMNS if column.name not in _NOT_CONTENT)
    table = run.table(names).sort_by([("node", "ascending"), ("seq", "ascending")])
    digest = hashlib.sha256()
    for name in names:
        column = table.column(name).combine_chunks()
        digest.update(name.encode())
        for array in _plain_arrays(column):
            digest.update(array.tobytes())
    return digest.hexdigest()


def _plain_arrays(column: pa.Array) -> list[np.ndarray]:
    """A column as plain numbers: validity, then values (texts as their bytes)."""
    valid = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), dtype=np.uint8)
    if pa.types.is_list(column.type):
        lengths = column.value_lengths().fill_null(-1).to_numpy(zero_copy_only=False)
        return [lengths.astype(np.int64), column.flatten().to_numpy().astype(np.int64)]
    if pa.types.is_string(column.type):
        text = "\0".join(column.fill_null("").to_pylist())
        return [valid, np.frombuffer(text.encode(), dtype=np.uint8)]
    return [valid, column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)]


def facts_of(plan: Plan) -> dict[str, Any]:
    """What statistics must know of a run and cannot see in its trace."""
    algorithm, link = find(plan.algorithm), plan.network.default
    air = None if plan.roam is None else plan.roam.wireless.bits_per_second
    lifetime = plan.traffic.lifetime if isinstance(plan.traffic, Traffic) else None
    return {
        "wired_bits_per_second": link.bits_per_second,
        "air_bits_per_second": air,
        "loss_rate": link.loss.rate if isinstance(link.loss, Loss) else None,
        "lifetime_ms": None if lifetime is None else lifetime.mean_ns / 1e6,
        "handoff_packets": [packet_name(packet) for packet in algorithm.handoff],
        "repair_packets": [packet_name(packet) for packet in algorithm.repair],
    }


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "missing"
    return found


def machine() -> dict[str, str | int]:
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        "memory_mib": memory_mib(),
    }


def memory_mib() -> int:
    """Memory of this machine, 0 where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (ValueError, OSError):
        return 0
