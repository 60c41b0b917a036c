"""The loop of an actor with a transport made of lists: order comes from due times alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

import pytest

from actors.clock import RunClock
from actors.envelope import hello, pack, unpack
from actors.host import Host
from testbed.core.distribution import Constant
from testbed.core.errors import EngineError
from testbed.core.network import Network
from tests.live.conftest import MS, plan_of


class Lists:
    """A carrier whose far end is the test."""

    def __init__(self) -> None:
        self.incoming: list[bytes] = []
        self.sent: dict[int, list[bytes]] = {}
        self.on_wait = lambda: None

    def send(self, actor: int, envelopes: list[bytes]) -> None:
        self.sent.setdefault(actor, []).extend(envelopes)

    def take(self) -> Iterator[bytes]:
        batches, self.incoming = self.incoming, []
        yield from batches

    def wait(self, seconds: float) -> None:
        self.on_wait()

    def close(self) -> None:
        pass


class Rows:
    """A recorder that keeps nothing but the count."""

    rows = 0

    def row(self, *fields: int) -> None:
        self.rows += 1

    def destinations(self, dests: tuple[int, ...]) -> None:
        pass

    def flush_if_due(self) -> None:
        pass


class Stopped(RunClock):
    """A clock that stands at one time."""

    def __init__(self, at: int) -> None:
        self.at = at

    def now(self) -> int:
        return self.at

    def seconds_until(self, at: int) -> float:
        return (at - self.at) * 1e-9


def host_of(plan, carrier, nodes=(0,), homes=None, messages=0) -> Host:
    homes = homes or tuple(range(plan.n))
    return Host(plan, nodes, dict.fromkeys(nodes, messages), homes, carrier, Rows())


def run_until_idle(host: Host, carrier: Lists, at: int = 10**12) -> None:
    """The loop at a stopped clock, until it first has nothing to do."""
    carrier.on_wait = host.stop
    host.run(Stopped(at))
    assert host.failure is None


@pytest.fixture
def arrivals(monkeypatch):
    """What each shell is handed, in order."""
    seen: list[tuple[int, bytes]] = []

    def note_arrival(node: int, now: int, frame: bytes) -> None:
        seen.append((node, frame))

    def spy(host: Host) -> list[tuple[int, bytes]]:
        for node, shell in host.shells.items():
            monkeypatch.setattr(shell, "arrive", partial(note_arrival, node))
        return seen

    return spy


def test_frames_are_handled_by_due_time_then_source_then_number(arrivals):
    carrier = Lists()
    host = host_of(plan_of("fifo", n=3), carrier)
    seen = arrivals(host)
    envelopes = [
        (0, 2, 50, 9, b"d"), (0, 1, 50, 4, b"c"), (0, 1, 50, 3, b"b"), (0, 2, 40, 99, b"a"),
        (0, 1, 60, 1, b"e"),
    ]  # fmt: skip
    random.Random(1).shuffle(envelopes)
    carrier.incoming = [pack(*envelope) for envelope in envelopes]

    run_until_idle(host, carrier)

    assert [frame for _, frame in seen] == [b"a", b"b", b"c", b"d", b"e"]


def test_a_frame_is_held_until_it_is_due(arrivals):
    carrier = Lists()
    host = host_of(plan_of("fifo", n=3), carrier)
    seen = arrivals(host)
    carrier.incoming = [pack(0, 1, 999, 1, b"due"), pack(0, 1, 1001, 2, b"not yet")]

    run_until_idle(host, carrier, at=1000)

    assert seen == [(0, b"due")]
    assert host.status().waiting == 1
    assert host.status().next_due == 1001


def test_foreign_and_broken_envelopes_are_counted_and_ignored(arrivals):
    carrier = Lists()
    host = host_of(plan_of("fifo", n=3), carrier)
    seen = arrivals(host)
    carrier.incoming = [
        pack(1, 2, 0, 1, b"for a node of another actor"),
        pack(77, 2, 0, 1, b"for nobody"),
        pack(0, 77, 0, 1, b"from nobody"),
        b"noise",
        pack(0, 1, 0, 1, b"good"),
    ]

    run_until_idle(host, carrier)

    assert seen == [(0, b"good")]
    assert host.refused == 4


def test_copies_within_an_actor_take_the_mailbox_and_copies_to_others_leave_in_envelopes():
    plan = plan_of("fifo", n=3, latency=Constant(5 * MS))
    carrier = Lists()
    host = host_of(plan, carrier, nodes=(0, 1), homes=(0, 0, 1))

    inside = host.transmit(0, 1, b"inside", now=0)
    itself = host.transmit(0, 0, b"itself", now=0)
    outside = host.transmit(1, 2, b"outside", now=0)
    host._flush()

    assert inside == itself == outside == (5 * MS,)
    assert host.status().waiting == 2
    ((to, source, due, _, frame),) = unpack(carrier.sent[1][0])
    assert (to, source, due, frame) == (2, 1, 5 * MS, b"outside")
    assert host.status().expected == 3


def test_the_fate_of_a_copy_is_that_of_the_network_model():
    plan = plan_of("fifo", n=3)
    host = host_of(plan, Lists())
    link = Network(plan.network, plan.seed).link(0, 2)

    assert [host.transmit(0, 2, b"x", 0) for _ in range(40)] == [link.send(0, 1) for _ in range(40)]


def test_every_message_of_a_node_is_sent_once_and_no_more():
    plan = plan_of("immediate", n=3, multicast=1.0)
    carrier = Lists()
    host = host_of(plan, carrier, messages=7)

    run_until_idle(host, carrier)

    assert host.status().submitted == 7
    sent = {frame for batch in carrier.sent.values() for one in batch for *_, frame in unpack(one)}
    assert len(sent) == 7


def test_a_timer_that_was_armed_again_fires_once_at_its_new_time(monkeypatch):
    carrier = Lists()
    host = host_of(plan_of("fifo", n=3), carrier)
    fired: list[tuple[int, str]] = []
    monkeypatch.setattr(host.shells[0], "fire", lambda now, timer: fired.append((now, timer)))
    host.arm(0, "again", 10)
    host.arm(0, "again", 500)
    host.arm(0, "never", 10)
    host.disarm(0, "never")

    run_until_idle(host, carrier, at=100)
    before = list(fired)
    host._clock = Stopped(600)
    host._handle_what_is_due()

    assert before == []
    assert fired == [(600, "again")]
    assert host.status().timers == 0


def test_a_failure_of_the_loop_is_kept_for_the_driver(monkeypatch):
    carrier = Lists()
    host = host_of(plan_of("fifo", n=3), carrier, messages=1)
    carrier.on_wait = host.stop

    def refuse(*arguments):
        raise ValueError("no")

    monkeypatch.setattr(host.shells[0], "submit", refuse)
    host.run(Stopped(10**12))

    assert host.status().failure == ("ValueError", "no")


def test_a_peer_that_never_greets_is_named():
    host = host_of(plan_of("fifo", n=3), carrier := Lists())
    carrier.incoming = [hello(1)]

    with pytest.raises(EngineError, match="no connection from actors 2"):
        host.greet({1, 2}, -1.0, hello(0))
