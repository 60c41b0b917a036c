"""One Ray for all that a command does, quiet and closed to others, and the actors in it.

Starting Ray takes seconds, and so does each handful of actors: a session keeps both for the next
run. A session that connects to a running cluster leaves it running.
"""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import ray

from actors.actor import CONTROL, NodeActor
from testbed.core.errors import BadInput, EngineError

_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",
    "RAY_worker_maximum_startup_concurrency": "1024",
    "RAY_worker_register_timeout_seconds": "300",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
"""For Ray and for the actors, which inherit it: no telemetry, few threads, small processes.

Ray's own default of niceness 15 would make every due time wait for whatever else runs, and its
default of as many starting processes as cores warns about each actor beyond it.
"""
_CLUSTERS = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
OBJECT_STORE_BYTES = 128 * 1024 * 1024
"""The store carries traces between machines in pieces and nothing else."""


class LiveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to run live; none of it changes what is run."""

    transport: str = "direct"
    nodes_per_actor: int = 1
    """0: as the machine allows."""
    speed: float | None = 1.0
    """Emulated seconds per wall second; None: as fast as lateness stays within its budget."""
    address: str | None = None
    """Of a running Ray cluster; None: a Ray of our own, on this machine."""
    dashboard: bool = False


class RaySession:
    """The actors that exist in the Ray that this process is connected to."""

    def __init__(self, options: LiveOptions, *, several_machines: bool) -> None:
        self.options = options
        self.several_machines = several_machines
        self._idle: list[Any] = []

    def borrow(self, count: int) -> list[Any]:
        """So many actors, idle ones first; all new ones start at the same time."""
        taken, self._idle = self._idle[:count], self._idle[count:]
        options: dict[str, Any] = {
            "num_cpus": 0,
            "max_restarts": 0,
            "enable_task_events": False,
            "concurrency_groups": {CONTROL: 1},
        }
        if self.several_machines:
            options["scheduling_strategy"] = "SPREAD"
        make = ray.remote(**options)(NodeActor)
        return taken + [make.remote() for _ in range(count - len(taken))]

    def give_back(self, actors: list[Any]) -> None:
        """They are whole and idle: the next run gets the same ones, in the same order."""
        self._idle[:0] = actors

    def kill(self, actors: list[Any]) -> None:
        """They may be in any state: end their processes."""
        for actor in actors:
            ray.kill(actor, no_restart=True)

    def close(self) -> None:
        self.kill(self._idle)
        self._idle = []


_open: list[RaySession] = []
"""The session of this process, if there is one: Ray itself allows no second."""


@contextmanager
def ray_session(options: LiveOptions) -> Iterator[RaySession]:
    """The session of this process, made if there is none; whoever made it ends it."""
    if _open:
        yield _open[0]
        return
    ours = not ray.is_initialized()
    try:
        if ours:
            _start_ray(options)
        machines = sum(1 for node in ray.nodes() if node["Alive"])
        session = RaySession(options, several_machines=machines > 1)
        _open.append(session)
        try:
            yield session
        finally:
            with uninterrupted():
                _open.clear()
                session.close()
    finally:
        if ours:
            with uninterrupted():
                ray.shutdown()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until this block, which must be short, is through."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _start_ray(options: LiveOptions) -> None:
    common: dict[str, Any] = {
        "log_to_driver": False,
        "logging_level": "ERROR",
        "include_dashboard": options.dashboard,
    }
    with _environment(own=options.address is None):
        if options.address is not None:
            _join(options.address)
            return
        try:
            ray.init(
                address="local",
                _node_ip_address="127.0.0.1",
                object_store_memory=OBJECT_STORE_BYTES,
                **common,
            )
        except (OSError, RuntimeError, ValueError, TimeoutError) as error:
            raise EngineError(f"Ray did not start: {_first_line(error)}") from error


def _join(address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError, TimeoutError) as error:
        raise BadInput(
            f"no Ray cluster answers at '{address}' ({_first_line(error)}); it takes host:port of "
            "a running one, of the same Ray version, with the same RAY_AUTH_TOKEN"
        ) from error


@contextmanager
def _environment(*, own: bool) -> Iterator[None]:
    """Variables that Ray and its workers read when they start; afterwards all is as before.

    A Ray of our own asks for a token made for this process, which stays in the environment because
    later calls need it too, and it listens on loopback addresses only: Ray does that where it takes
    a cluster for impossible, whatever address it is given.
    """
    wanted = _QUIET | ({_CLUSTERS: "0"} if own else {})
    missing = [name for name in wanted if name not in os.environ]
    constants = ray._private.ray_constants
    clusters = constants.ENABLE_RAY_CLUSTER
    os.environ.update({name: wanted[name] for name in missing})
    if own:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        ray._raylet.Config.initialize("")  # Ray read the mode when it was imported
        constants.ENABLE_RAY_CLUSTER = False  # and this too
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = clusters
        for name in missing:
            del os.environ[name]


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
