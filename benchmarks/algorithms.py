"""What an algorithm costs: microseconds per send and per delivery, and how they grow with n.

Traffic as in PRS section 7: one message in ten is a multicast to a uniform destination set, the
others go to one node; `bss` broadcasts. The system is warmed up first, since logs and barriers take
time to fill. The steps are timed apart:

    send      on_submitted, once per message
    encode    the shared part and all own parts, once per message
    decode    bytes to packet, once per copy
    deliver   on_received, per delivery: the hold-back queue and the merging count

Seconds are processor time, less what reading that clock costs. Growth is the exponent b of
time = a * n^b, fitted to the logarithms.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections.abc import Iterator
from heapq import heappop, heappush
from time import thread_time
from typing import Any

from testbed.algorithms import find
from testbed.core.algorithm import Algorithm
from testbed.core.distribution import Exponential
from testbed.core.draw import stream
from testbed.core.model import Message, NodeId, Role, Submission
from testbed.core.node import Deliver, Transmit, Turn, View
from testbed.core.wire import Codec
from workloads.destinations import All, Uniform
from workloads.traffic import Stop, Traffic

ALGORITHMS = ("bss", "rst", "prs", "ks")
NODES = (10, 40, 100)
STEPS = ("send", "encode", "decode", "deliver")
WARMUP_PER_NODE = 5
TIMED = 300
"""Messages that are timed, after the warm-up."""

CLOCK_CALLS = 2_000

LATENCY = Exponential(50_000_000)


class Bench:
    """All nodes of one algorithm, its codec, copies in flight, and a stopwatch for each step."""

    def __init__(self, algorithm: Algorithm, n: int) -> None:
        self.codec = Codec(algorithm, n)
        make = algorithm.roles[Role.PROCESS]
        self.nodes = [make(View(me, tuple(range(n)))) for me in range(n)]
        self.in_flight: list[tuple[int, int, NodeId, bytes]] = []
        self.latencies = stream(1, b"latency", 0)
        self.numbers = [0] * n
        self.tickets = 0
        self.clock_seconds = _cost_of_the_clock()
        self.reset()

    def reset(self) -> None:
        self.seconds = dict.fromkeys(STEPS, 0.0)
        self.times = dict.fromkeys(STEPS, 0)
        self.bytes_sent = 0

    def send(self, submission: Submission) -> None:
        node = submission.node
        self.numbers[node] += 1
        message = Message(node, self.numbers[node], b"")
        turn = Turn(submission.time)
        started = thread_time()
        self.nodes[node].on_submitted(message, submission.dests, turn)
        sent = thread_time()
        copies = [copy for e in turn.effects if isinstance(e, Transmit) for copy in self.frames(e)]
        encoded = thread_time()
        self.note("send", sent - started, 1)
        self.note("encode", encoded - sent, 1)
        for to, frame in copies:
            self.tickets += 1
            self.bytes_sent += len(frame)
            arrival = submission.time + LATENCY.at(next(self.latencies))
            heappush(self.in_flight, (arrival, self.tickets, to, frame))

    def frames(self, effect: Transmit) -> Iterator[tuple[NodeId, bytes]]:
        origin = effect.message.origin if effect.message else 0
        shared = self.codec.shared_part(origin, effect.message, effect.packet)
        own = effect.own or {}
        return ((to, shared + self.codec.own_part(own.get(to))) for to in effect.dests)

    def arrive_until(self, until: float) -> None:
        while self.in_flight and self.in_flight[0][0] < until:
            now, _, to, frame = heappop(self.in_flight)
            turn = Turn(now)
            started = thread_time()
            arrival = self.codec.decode(frame)
            decoded = thread_time()
            self.nodes[to].on_received(arrival, turn)
            done = thread_time()
            self.note("decode", decoded - started, 1)
            self.note("deliver", done - decoded, sum(isinstance(e, Deliver) for e in turn.effects))

    def note(self, step: str, seconds: float, times: int) -> None:
        self.seconds[step] += max(0.0, seconds - self.clock_seconds)
        self.times[step] += times


def _cost_of_the_clock() -> float:
    """What one reading adds to an interval."""
    readings = [thread_time() for _ in range(CLOCK_CALLS)]
    return statistics.median(b - a for a, b in itertools.pairwise(readings))


def costs(name: str, n: int) -> dict[str, float]:
    """Microseconds of each step, and bytes per copy."""
    traffic = Traffic(
        interval=Exponential(100_000_000),
        destinations=All() if name == "bss" else Uniform(),
        multicast=1.0 if name == "bss" else 0.1,
    )
    bench = Bench(find(name), n)
    warmup = WARMUP_PER_NODE * n
    submissions = Stop(messages=warmup + TIMED).cut(traffic.merged(n, 1))
    for rank, submission in enumerate(submissions):
        if rank == warmup:
            bench.reset()
        bench.arrive_until(submission.time)
        bench.send(submission)
    bench.arrive_until(math.inf)
    result = {step: bench.seconds[step] / bench.times[step] * 1e6 for step in STEPS}
    return result | {"bytes": bench.bytes_sent / bench.times["decode"]}


def measure(nodes: tuple[int, ...] = NODES) -> dict[str, Any]:
    measured: dict[str, dict[int, dict[str, float]]] = {
        name: {n: costs(name, n) for n in nodes} for name in ALGORITHMS
    }
    growth = {
        name: {step: _exponent({n: by_n[n][step] for n in nodes}) for step in STEPS}
        for name, by_n in measured.items()
    }
    return {"us": measured, "growth": growth, "messages": TIMED}


def _exponent(us_of: dict[int, float]) -> float:
    xs, ys = [math.log(n) for n in us_of], [math.log(us) for us in us_of.values()]
    return statistics.linear_regression(xs, ys).slope


def table(result: dict[str, Any]) -> str:
    lines = [f"{'':<5}{'n':>5}" + "".join(f"{step:>10}" for step in STEPS) + f"{'bytes':>10}"]
    for name, by_n in result["us"].items():
        for n, row in by_n.items():
            cells = "".join(f"{row[step]:>10.1f}" for step in STEPS)
            lines.append(f"{name:<5}{n:>5}{cells}{row['bytes']:>10.0f}")
        growth = "".join(f"{result['growth'][name][step]:>10.2f}" for step in STEPS)
        lines.append(f"{name:<5}{'n^':>5}{growth}")
    return "microseconds of each step, bytes of a copy without payload\n" + "\n".join(lines)


if __name__ == "__main__":
    outcome = measure()
    print(table(outcome))
    print(json.dumps(outcome, indent=2))
