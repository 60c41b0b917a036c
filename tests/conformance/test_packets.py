"""Packets of every algorithm: they survive the wire, are sized alike at both ends, and stay put."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

import testbed.algorithms
from testbed.algorithms import find
from testbed.core.algorithm import Algorithm
from testbed.core.errors import BadInput
from testbed.core.node import Transmit
from testbed.trace.schema import Event
from tests.copies import changed_after_the_send
from tests.families import STATIC
from tests.runs import plan, run
from tests.scene import Scene
from tests.schedules import from_choices, from_seed, play

ALL = STATIC


def transmissions(algorithm: Algorithm, n: int, seed: int) -> list[tuple[Scene, Transmit]]:
    """Every packet of a busy execution as its sender put it on its turn."""
    scene = Scene(algorithm, n)
    seen: list[tuple[Scene, Transmit]] = []
    for shell in scene.shells:
        encode = shell._encode

        def watch(effect: Transmit, encode=encode):
            seen.append((scene, effect))
            return encode(effect)

        shell._encode = watch
    play(scene, from_seed(seed), sends=40)
    return seen


@pytest.mark.parametrize("n", [2, 5, 70])
@pytest.mark.parametrize("name", ALL)
def test_a_packet_comes_back_from_the_wire_as_it_was_and_as_large(name: str, n: int) -> None:
    algorithm = ALL[name]
    for scene, effect in transmissions(algorithm, n, seed=3):
        for to in effect.dests:
            own = (effect.own or {}).get(to)
            arrival = scene.packets[effect.message.id, to]
            assert arrival.packet == effect.packet
            assert arrival.own == own
            assert arrival.message == effect.message
            assert algorithm.size(arrival.packet, arrival.own) == algorithm.size(effect.packet, own)


@pytest.mark.parametrize("name", ALL)
def test_sizes_of_a_send_are_the_sum_over_its_copies(name: str) -> None:
    rows = run(plan(name, n=6)).rows
    columns = ("control_ints", "control_bytes", "control_units", "control_entries", "control_empty")
    received: dict[tuple[int, int], list[int]] = {}
    copies: dict[tuple[int, int], int] = {}
    for row in rows.named(Event.RECEIVE):
        message = (row["origin"], row["number"])
        total = received.setdefault(message, [0] * len(columns))
        received[message] = [t + row[c] for t, c in zip(total, columns, strict=True)]
        copies[message] = copies.get(message, 0) + 1
    sends = rows.named(Event.SEND)
    assert len(sends) == 120
    for row in sends:
        message = (row["origin"], row["number"])
        assert [row[column] for column in columns] == received[message]
        assert row["copies"] == copies[message]


@pytest.mark.parametrize("name", ALL)
def test_control_bytes_do_not_depend_on_the_payload(name: str) -> None:
    light, heavy = (Scene(ALL[name], 3) for _ in range(2))
    for scene, payload in ((light, b""), (heavy, bytes(100))):
        scene.shells[0].submit(1, (1, 2), payload)
    (small,), (large,) = light.rows.named(Event.SEND), heavy.rows.named(Event.SEND)
    assert (small["payload_bytes"], large["payload_bytes"]) == (0, 100)
    assert small["control_bytes"] == large["control_bytes"]


@pytest.mark.parametrize("name", ALL)
@given(n=st.integers(2, 5), choices=st.lists(st.integers(0, 59), max_size=120))
def test_a_packet_never_changes_after_it_was_sent(name: str, n: int, choices: list[int]) -> None:
    assert changed_after_the_send(ALL[name], n, from_choices(choices), sends=10) == []


@pytest.mark.parametrize("name", ALL)
def test_held_and_state_are_counted_from_the_start_to_the_end(name: str) -> None:
    scene = Scene(ALL[name], 4)
    assert all(shell.held() == 0 for shell in scene.shells)
    play(scene, from_seed(2), sends=20)
    for shell in scene.shells:
        assert shell.held() == 0
        assert shell.node.state_ints() >= 0


def _modules() -> list[str]:
    found = pkgutil.walk_packages(testbed.algorithms.__path__, prefix="testbed.algorithms.")
    return [m.name for m in found if hasattr(importlib.import_module(m.name), "ALGORITHM")]


@pytest.mark.parametrize("module", _modules())
def test_the_file_of_an_algorithm_names_its_paper_its_assumptions_and_its_packet(
    module: str,
) -> None:
    text = inspect.getdoc(importlib.import_module(module))
    assert text is not None
    for heading in ("Idea: ", "Paper: ", "Assumptions", "carries"):
        assert heading in text, f"{module} says nothing of '{heading.strip()}'"


@pytest.mark.parametrize("name", ALL)
def test_an_algorithm_is_found_by_its_own_name(name: str) -> None:
    assert find(name) is ALL[name]
    assert ALL[name].name == name
    assert ALL[name].title
    assert ALL[name].paper


def test_an_algorithm_outside_the_repository_is_found_by_its_path() -> None:
    assert find("testbed.algorithms.static.rst:ALGORITHM") is find("rst")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tsr", "unknown algorithm 'tsr'; known are "),
        ("no.such.module:X", "'no.such.module:X' cannot be loaded"),
        ("testbed.core.model:Role", "it takes a testbed Algorithm record"),
        ("testbed.core.model:NOTHING", "cannot be loaded"),
        (":", "cannot be loaded"),
    ],
)
def test_a_name_that_is_no_algorithm_is_refused_in_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        find(name)
