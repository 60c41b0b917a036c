"""The Ray actor: Ray places, starts, supervises and collects it; messages pass by it.

Its calls are few and short (the host's loop runs in a thread of its own), and it imports little,
because each actor is a process. One actor can serve several runs, one after the other.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import ray

from actors.calls import CallCarrier
from actors.clock import RunClock, clock_identity, loopback_identity
from actors.direct import DirectCarrier, RunKeys
from actors.envelope import hello
from actors.host import Host, Status
from testbed.algorithms import find
from testbed.core.errors import EngineError
from testbed.core.model import Nanos, NodeId
from testbed.engine.plan import Plan
from testbed.trace.recorder import Recorder

GREETING_SECONDS = 60.0
STOP_SECONDS = 30.0
CHUNK_BYTES = 8 * 1024 * 1024
_SWITCH_SECONDS = 0.002
"""The trace is written by a second thread; it must not keep the loop from its due times."""

CONTROL = "control"
"""Calls of the driver have a thread of their own, so that they never queue behind messages."""
Method = TypeVar("Method", bound=Callable[..., Any])


def _control(method: Method) -> Method:
    marked: Method = ray.method(concurrency_group=CONTROL)(method)
    return marked


class Whereabouts(msgspec.Struct, frozen=True):
    """Which process this is, and what it shares with others."""

    process: int
    address: str
    clock: str
    loopback: str


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What an actor needs to know to take part in one run."""

    plan: Plan
    run_id: str
    actor: int
    homes: tuple[int, ...]
    """The actor of each node."""
    messages_of: dict[NodeId, int]
    last_send: Nanos
    """When the last message of the run is sent; nobody moves after it."""
    spool: str
    """Path of the run's spool; used where `mark` is found in it, a local folder elsewhere."""
    mark: str
    bind: str
    """Address to listen at."""
    keys: RunKeys | None
    """None: transport `ray`."""


class Ready(msgspec.Struct, frozen=True):
    """An actor's answer to its task."""

    endpoint: str | None
    shares_folder: bool


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one actor's part of a run amounted to."""

    messages: int
    copies: int
    delivered: int
    held: int
    malformed: int
    refused: int
    end: Nanos
    rows: int
    lateness: list[int]
    lateness_max: Nanos


class NodeActor:
    """prepare, connect, start, status ..., stop, publish: one run, in this order."""

    def __init__(self) -> None:
        _keep_pandas_out()
        sys.setswitchinterval(_SWITCH_SECONDS)
        gc.set_threshold(50_000, 20, 20)
        self._host: Host | None = None
        self._carrier: DirectCarrier | CallCarrier | None = None
        self._thread: threading.Thread | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    @_control
    def whereabouts(self) -> Whereabouts:
        address = ray.util.get_node_ip_address()
        return Whereabouts(os.getpid(), address, clock_identity(), loopback_identity())

    @_control
    def read_clock(self) -> int:
        return time.monotonic_ns()

    @_control
    def prepare(self, task: Task) -> Ready:
        """Make the nodes, open the trace, listen."""
        self.release()
        self._task = task
        shared = Path(task.spool)
        shares_folder = (shared / task.mark).exists()
        if not shares_folder:
            self._scratch = tempfile.TemporaryDirectory(prefix="causalbed-")
            shared = Path(self._scratch.name)
        self._spool = shared / f"actor-{task.actor:04d}.arrows"
        self._recorder = Recorder(task.run_id, self._spool, find(task.plan.algorithm).packet_names)
        if task.keys is None:
            self._carrier = CallCarrier()
            endpoint = None
        else:
            self._carrier = DirectCarrier(task.bind, task.keys)
            endpoint = self._carrier.endpoint
        nodes = tuple(node for node, home in enumerate(task.homes) if home == task.actor)
        self._host = Host(
            task.plan, nodes, task.messages_of, task.homes, self._carrier, self._recorder,
            task.last_send,
        )  # fmt: skip
        return Ready(endpoint, shares_folder)

    @_control
    def connect(self, peers: dict[int, Any]) -> None:
        """Connect to all peers, and wait until all of them have connected here."""
        assert self._carrier is not None
        assert self._host is not None
        me = self._task.actor
        others = {actor: peer for actor, peer in peers.items() if actor != me}
        self._carrier.connect(others)
        self._host.greet(set(others), GREETING_SECONDS, hello(me))
        gc.collect()
        gc.freeze()  # what exists now stays: no collection during the run looks at it

    @_control
    def start(self, start: int, speed: float) -> None:
        """Begin when this machine's monotonic clock reads `start`."""
        assert self._host is not None
        clock = RunClock(start, speed)
        self._thread = threading.Thread(target=self._host.run, args=(clock,), name="host")
        self._thread.daemon = True
        self._thread.start()

    def take_envelope(self, envelope: bytes) -> None:
        """Transport `ray`: a peer's copy, in the peer's call."""
        if isinstance(self._carrier, CallCarrier):
            self._carrier.put(envelope)

    @_control
    def status(self) -> Status:
        assert self._host is not None
        return self._host.status()

    @_control
    def bury(self, actor: int) -> None:
        """Another actor was killed."""
        assert self._host is not None
        self._host.bury(actor)

    @_control
    def stop(self) -> Outcome:
        """End the loop, write the trace out, count."""
        host = self._host
        assert host is not None
        host.stop()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)
            if self._thread.is_alive():
                raise EngineError(f"actor {self._task.actor} did not stop in {STOP_SECONDS:.0f} s")
        self._recorder.close()
        shells = host.shells.values()
        return Outcome(
            messages=host.status().submitted - host.skipped,
            copies=host.copies,
            delivered=sum(shell.delivered for shell in shells),
            held=sum(shell.held() for shell in shells),
            malformed=sum(shell.malformed for shell in shells),
            refused=host.refused,
            end=host.end,
            rows=self._recorder.rows,
            lateness=host.lateness.counts,
            lateness_max=host.lateness.max,
        )

    @_control
    def publish(self, events: str) -> int:
        """The spool to Parquet: into `events` where the folder is shared, else beside the spool."""
        from testbed.trace.rundir import publish_spool  # only now: it costs each process 10 MB

        target = Path(events) if self._scratch is None else self._spool.parent
        return publish_spool(self._spool, target)

    @_control
    def published_bytes(self, offset: int) -> bytes:
        """A piece of the published file, for a driver that does not share the folder."""
        with self._spool.with_suffix(".parquet").open("rb") as file:
            file.seek(offset)
            return file.read(CHUNK_BYTES)

    @_control
    def release(self) -> None:
        """Forget the last run."""
        if self._carrier is not None:
            self._carrier.close()
        if self._scratch is not None:
            self._scratch.cleanup()
        self._host = self._carrier = self._thread = self._scratch = None
        gc.unfreeze()


class _Refusal(MetaPathFinder):
    """Makes `import pandas` fail as if it were not installed."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname == "pandas":
            raise ImportError("pandas is kept out of actors")


def _keep_pandas_out() -> None:
    """Arrow imports pandas at its first value if it can: 60 MB and half a second per actor."""
    refusal = _Refusal()
    sys.meta_path.insert(0, refusal)
    pa.scalar(0)  # Arrow looks once, and remembers that there is none
    sys.meta_path.remove(refusal)
