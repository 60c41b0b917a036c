"""Experiment files: what is read, and the one sentence for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.config.load import find_experiment, load
from testbed.config.planning import plans
from testbed.core.distribution import Constant, Empirical, Exponential, LogNormal, Normal, Uniform
from testbed.core.errors import BadInput
from testbed.core.network import BurstLoss, Fifo, Loss
from testbed.engine.plan import Plan

GOOD = """
name: small
algorithm: [ks, rst]
nodes: 4
network: {latency: {kind: exponential, mean: 50ms}}
workload: {interval: 10ms, multicast: 0.5}
stop: {messages: 20, warmup: 5}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(GOOD)
    return path


def planned(file: Path, *settings: str) -> Plan:
    return plans(load(file, settings), file)[0].plan


def refusal(file: Path, *settings: str) -> str:
    with pytest.raises(BadInput) as caught:
        plans(load(file, settings), file)
    return str(caught.value).removeprefix(f"{file}: ")


def test_an_experiment_becomes_one_plan_per_algorithm(file: Path) -> None:
    both = plans(load(file), file)
    assert [one.plan.algorithm for one in both] == ["ks", "rst"]
    assert both[0].plan.traffic == both[1].plan.traffic
    assert both[0].plan.network == both[1].plan.network


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50ms", Constant(50_000_000)),
        ("{kind: constant, value: 1.5s}", Constant(1_500_000_000)),
        ("{kind: uniform, low: 1us, high: 2us}", Uniform(1_000, 2_000)),
        ("{kind: exponential, mean: 1min}", Exponential(60_000_000_000)),
        ("{kind: normal, mean: 100ms, deviation: 10ms}", Normal(100_000_000, 10_000_000)),
        ("{kind: lognormal, median: 20ms, sigma: 0.5}", LogNormal(20_000_000, 0.5)),
        ("{kind: trace, values: [1ms, 2ms]}", Empirical((1_000_000, 2_000_000))),
    ],
)
def test_every_latency_kind_is_read(file: Path, text: str, expected: object) -> None:
    assert expected == planned(file, f"network.latency={text}").network.default.latency


def test_a_delay_trace_is_read_from_a_file_beside_the_experiment(file: Path) -> None:
    (file.parent / "delays.txt").write_text("# measured\n1.5ms\n\n20us # short\n")
    plan = planned(file, "network.latency={kind: trace, file: delays.txt}")
    assert Empirical((1_500_000, 20_000)) == plan.network.default.latency


def test_a_delay_trace_with_a_bad_line_names_the_line(file: Path) -> None:
    (file.parent / "delays.txt").write_text("1ms\n17\n")
    sentence = refusal(file, "network.latency={kind: trace, file: delays.txt}")
    assert "line 2: got '17', takes a duration with its unit" in sentence


def test_loss_fifo_and_bandwidth_reach_the_network(file: Path) -> None:
    burst = "network.loss={kind: gilbert-elliott, to_bad: 0.1, to_good: 0.5}"
    spec = planned(file, burst, "network.fifo=gk", "network.bandwidth=1Mbps").network.default
    assert BurstLoss(0.1, 0.5) == spec.loss
    assert Fifo.GK is spec.fifo
    assert spec.bits_per_second == 1_000_000


def test_a_link_exception_inherits_what_it_does_not_say(file: Path) -> None:
    network = planned(
        file, "network.fifo=true", "network.links=[{from: 0, to: [1, 2], loss: 0.5}]"
    ).network
    assert Loss(0.5) == network.spec(0, 2).loss
    assert Fifo.ON is network.spec(0, 2).fifo
    assert network.default is network.spec(1, 0)


def test_a_reliable_link_goes_under_an_algorithm_that_needs_one_when_copies_get_lost(
    file: Path,
) -> None:
    assert planned(file).retry_after is None
    assert planned(file, "network.loss=0.1").retry_after == 200_000_000
    assert planned(file, "network.loss=0.1", "network.retry=7ms").retry_after == 7_000_000
    assert planned(file, "network.loss=0.1", "algorithm=immediate").retry_after is None
    assert planned(file, "network.reliable=true").retry_after is not None


def test_loss_without_a_reliable_link_is_warned_of(file: Path) -> None:
    one = plans(load(file, ["network.loss=0.1", "network.reliable=false"]), file)[0]
    assert one.plan.retry_after is None
    assert "assumes reliable channels" in one.warnings[0]


MISTAKES = {
    "network.lost=0.1": "network.lost: unknown key; known here are latency, loss, duplicate, "
    "bandwidth, fifo, reliable, retry, links, lan, buffer; did you mean 'loss'?",
    "algorithm=foo": "algorithm: unknown algorithm 'foo'; known are av1, ",
    "algorithm=no.such.module:X": "algorithm: algorithm 'no.such.module:X' cannot be loaded",
    "network.loss=-0.1": "network.loss: got -0.1, takes a number of at least 0",
    "nodes=1": "nodes: got 1, takes a number of at least 2",
    "nodes=many": "nodes: got 'many', takes a whole number",
    "network.latency.mean=50": "network.latency.mean: got 50, takes a duration with its unit, "
    "such as 50ms (ns, us, ms, s, min, h)",
    "network.latency.kind=slow": "network.latency.kind: got 'slow', takes one of 'constant', ",
    "network.bandwidth=100": "network.bandwidth: got 100, takes a data rate with its unit",
    "workload.payload=256": "workload.payload: got 256, takes a size with its unit",
    "algorithm=bss": "workload.destinations: got uniform with multicast 0.5, but bss only "
    "broadcasts: set destinations to {kind: all} and multicast to 1, or choose another algorithm",
    "workload.destinations.kind=ring": "workload.destinations.kind: got 'ring', takes one of ",
    "stop.warmup=20": "stop: got {'messages': 20, 'warmup': 20}, takes a warmup smaller than ",
    "stop={}": "stop: got {}, takes messages, duration or both",
    "speed=fast": "speed: got 'fast', takes a number or 'auto'",
    "engine=abacus": "engine: got 'abacus', takes 'ray' or 'sim'",
    "name=A b": "name: got 'A b', takes lower-case letters, digits",
    "mobility={kind: still}": "mobility: there is nobody to move; it takes a topology",
    "workload.stations=1s": "workload.stations: there are none; it takes a topology",
    "network.links=[{from: 9}]": "network.links: got node 9, takes 0 to 3",
    "network.links=[{form: 1}]": "network.links.0.form: unknown key",
    "network=7": "network: got 7, takes a mapping of keys",
    "workload.multicast=2": "workload.multicast: got 2, takes a number of at most 1",
    "placement.nodes_per_actor=0": "placement.nodes_per_actor: got 0, takes a number of at least 1",
}


@pytest.mark.parametrize(("setting", "sentence"), MISTAKES.items(), ids=MISTAKES)
def test_a_mistake_gets_one_sentence_with_key_given_and_taken(
    file: Path, setting: str, sentence: str
) -> None:
    answer = refusal(file, setting)
    assert answer.startswith(sentence)
    assert "\n" not in answer


def test_a_message_to_oneself_is_refused_where_the_paper_excludes_it(file: Path) -> None:
    sentence = refusal(file, "algorithm=prs", "workload.destinations={kind: all, itself: true}")
    assert "prs refuses a message to its own sender: PRS section 5.1" in sentence


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: x\nalgorithm: ks\nnodes: 3\nstop: {messages: 1}\n")
    with pytest.raises(BadInput, match="workload: missing; the experiment needs it"):
        load(path)


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "17", "a: [", "\tx: 1"])
def test_what_is_no_mapping_of_keys_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_an_unknown_experiment_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"no experiment 'nope': .* one of .*quickstart"):
        find_experiment("nope")


def test_every_experiment_of_the_house_can_be_planned() -> None:
    files = sorted(find_experiment("quickstart").parent.glob("*.yaml"))
    assert files
    for path in files:
        assert plans(load(path), path), path
