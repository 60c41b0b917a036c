"""Deadlines, clocks, faults, detectors and buffers in an experiment file, and their mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.config.load import load
from testbed.config.planning import plans
from testbed.core.detection import PhiDetection, TimeoutDetection
from testbed.core.distribution import Constant, Empirical, Exponential, Uniform
from testbed.core.errors import BadInput
from testbed.core.fault import Crash
from testbed.engine.plan import Plan
from workloads.faults import Failure, NotEnough, timeline

MS = 1_000_000

SMALL = """
name: small
algorithm: {algorithm}
nodes: 6
engine: sim
network: {{latency: 20ms}}
workload: {{interval: 50ms, destinations: {{kind: all}}, payload: {{low: 1KB, high: 100KB}}}}
stop: {{messages: 20}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL.format(algorithm="bss"))
    return path


def planned(file: Path, *settings: str) -> Plan:
    return plans(load(file, settings), file)[0].plan


def refusal(file: Path, *settings: str) -> str:
    with pytest.raises(BadInput) as caught:
        planned(file, *settings)
    sentence = str(caught.value)
    assert sentence.startswith(f"{file}: ")
    assert "\n" not in sentence
    return sentence.removeprefix(f"{file}: ")


@pytest.mark.parametrize(
    ("text", "lifetime"),
    [
        ("500ms", Constant(500 * MS)),
        ("{kind: exponential, mean: 500ms}", Exponential(500 * MS)),
        ("{kind: uniform, low: 100ms, high: 1s}", Uniform(100 * MS, 1_000 * MS)),
        ("{kind: trace, values: [100ms, 300ms]}", Empirical((100 * MS, 300 * MS))),
    ],
)
def test_every_kind_of_lifetime_reaches_the_traffic(
    file: Path, text: str, lifetime: object
) -> None:
    assert planned(file, f"deadline={text}").traffic.lifetime == lifetime


def test_clocks_detectors_buffers_and_lans_reach_the_plan(file: Path) -> None:
    plan = planned(
        file,
        "clocks={offset: {kind: uniform, low: 5ms, high: 10ms}, drift: 50ppm}",
        "network.buffer=128MB",
        "network.lan={bandwidth: 10Mbps, hop: 2ms, columns: 3}",
    )
    assert plan.clocks is not None
    assert (plan.clocks.ahead, plan.clocks.drift_ppb) == (Uniform(5 * MS, 10 * MS), 50_000)
    assert plan.buffer_bytes == 128_000_000
    assert plan.network.lan is not None
    assert (plan.network.lan.bits_per_second, plan.network.lan.columns) == (10**7, 3)
    timeout = planned(file, "detector={kind: timeout, interval: 50ms, timeout: 200ms}").detector
    assert isinstance(timeout, TimeoutDetection)
    assert (timeout.interval, timeout.timeout) == (50 * MS, 200 * MS)
    assert isinstance(planned(file, "detector={kind: phi, threshold: 5}").detector, PhiDetection)
    assert planned(file).detector is None


def test_crashes_of_nodes_and_of_shares_become_facts(file: Path) -> None:
    named = planned(file, "faults=[{kind: crash, nodes: [1, 4], at: 2s}]").faults
    assert named == (Crash(2_000 * MS, (1, 4)),)
    (drawn,) = planned(file, "faults=[{kind: crash, fraction: 0.33, at: 1s}]").faults
    assert len(drawn.nodes) == 2
    assert not drawn.kills


def test_killing_an_actor_takes_all_its_nodes(file: Path) -> None:
    kill = "faults=[{kind: kill_actor, nodes: [4], at: 1s}]"
    (fault,) = planned(file, kill, "placement.nodes_per_actor=3").faults
    assert fault == Crash(1_000 * MS, (3, 4, 5), kills=True)
    assert planned(file, kill).faults[0].nodes == (4,)


def test_shares_are_drawn_among_those_that_still_run() -> None:
    halves = [Failure(2 * MS, fraction=0.5), Failure(1 * MS, fraction=0.5)]
    first, second = timeline(halves, 10, seed=4)
    assert first.time < second.time
    assert sorted(first.nodes + second.nodes) == list(range(10))
    assert timeline(halves, 10, seed=4) == (first, second) != timeline(halves, 10, seed=5)
    with pytest.raises(NotEnough, match="5 nodes are to crash, but only 0 still run"):
        timeline([*halves, Failure(3 * MS, fraction=0.5)], 10, seed=4)


def test_deadlines_that_an_algorithm_ignores_are_warned_of(file: Path) -> None:
    (one,) = plans(load(file, ["deadline=500ms"]), file)
    assert "bss ignores deadlines: what it delivers late is counted as a miss" in one.warnings[0]


MISTAKES = {
    "deadline=0ms": "deadline: got '0ms', takes lifetimes above 0, such as 500ms",
    "deadline=-5ms": "deadline: got '-5ms', takes a duration with its unit",
    "deadline=500": "deadline: got 500, takes a duration with its unit, such as 50ms",
    "deadline={kind: exponential, mean: 0s}": "deadline: got {'kind': 'exponential', 'mean': '0s'}",
    "deadline={kind: trace, values: [1s, 0s]}": "deadline: got {'kind': 'trace'",
    "clocks.drift=50": "clocks.drift: got 50, takes a rate of drift with its unit, such as 50ppm",
    "clocks.ofset=5ms": "clocks.ofset: unknown key; known here are offset, drift; did you mean",
    "faults=[{kind: crash, nodes: [6], at: 1s}]": "faults.0.nodes: got node 6, takes 0 to 5",
    "faults=[{kind: crash, nodes: [1, 1], at: 1s}]": "faults.0: got {'kind': 'crash', ",
    "faults=[{kind: crash, at: 1s}]": "faults.0: got {'kind': 'crash', 'at': '1s'}, takes either",
    "faults=[{kind: crash, nodes: [1], at: 1}]": "faults.0.at: got 1, takes a duration with its",
    "faults=[{kind: crash, fraction: 1.5, at: 1s}]": "faults.0.fraction: got 1.5, takes a number "
    "of at most 1",
    "faults=[{kind: meteor, at: 1s}]": "faults.0.kind: got 'meteor', takes one of 'crash', "
    "'kill_actor'",
    "faults=[{kind: crash, fraction: 0.7, at: 1s}, {kind: crash, fraction: 0.7, at: 2s}]": "faults:"
    " 4 nodes are to crash, but only 2 still run",
    "detector={kind: phi, treshold: 3}": "detector.treshold: unknown key; known here are kind, "
    "interval, threshold; did you mean 'threshold'?",
    "detector={kind: timeout, interval: 1s, timeout: 1s}": "detector.timeout: got {'kind': ",
    "network.buffer=99KB": "network.buffer: got 99000B, but a message may have 100000B: it takes a "
    "buffer for at least one message",
}


@pytest.mark.parametrize(("setting", "sentence"), MISTAKES.items(), ids=MISTAKES)
def test_a_mistake_gets_one_sentence_that_names_the_key(
    file: Path, setting: str, sentence: str
) -> None:
    assert refusal(file, setting).startswith(sentence)


def test_clocks_further_apart_than_messages_live_are_refused(file: Path) -> None:
    wild = "clocks.offset={kind: uniform, low: 0ms, high: 600ms}"
    assert planned(file, wild, "deadline=601ms")
    sentence = refusal(file, wild, "deadline=600ms")
    assert sentence.startswith("clocks: they are up to 600ms apart, but messages live 600ms")
    drifting = ("clocks.drift=1000ppm", "stop.duration=100s", "deadline=200ms")
    assert refusal(file, *drifting).startswith("clocks: they are up to 200ms apart")


def test_what_only_processes_have_is_refused_with_a_topology(file: Path) -> None:
    roaming = (
        "algorithm=av1",
        "topology={stations: 2, hosts: 4}",
        "workload.destinations={kind: uniform}",
    )
    file.write_text(file.read_text().replace("nodes: 6\n", ""))
    assert refusal(file, *roaming, "detector={kind: phi}").startswith("detector: it is for")
    assert refusal(file, *roaming, "network.lan={}").startswith("network.lan: it is for processes")


def test_a_deadline_algorithm_without_deadlines_is_refused(file: Path) -> None:
    file.write_text(SMALL.format(algorithm="odca"))
    assert refusal(file).startswith("deadline: missing, but odca gives up what cannot meet its")
    assert planned(file, "deadline=500ms").algorithm == "odca"
