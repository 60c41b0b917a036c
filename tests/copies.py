"""Whether a packet that was handed out still says the same once its sender has moved on."""

from __future__ import annotations

from typing import Any

from testbed.core.algorithm import Algorithm
from testbed.core.node import Transmit
from tests.scene import Scene
from tests.schedules import Draw, play


def changed_after_the_send(algorithm: Algorithm, n: int, draw: Draw, *, sends: int) -> list[str]:
    """Packets whose bytes differ between their send and the end of the execution."""
    scene = Scene(algorithm, n)
    handed_out: list[tuple[Transmit, list[bytes]]] = []

    def encoded(effect: Transmit) -> list[bytes]:
        own = effect.own or {}
        codec = scene.codec
        shared = codec.shared_part(0, effect.message, effect.packet)
        return [shared, *(codec.own_part(own.get(d)) for d in effect.dests)]

    for shell in scene.shells:
        _watch(shell.node, lambda effect: handed_out.append((effect, encoded(effect))))
    play(scene, draw, sends=sends)
    return [str(effect.message) for effect, before in handed_out if encoded(effect) != before]


def _watch(node: Any, see: Any) -> None:
    submitted = node.on_submitted

    def on_submitted(message: Any, dests: Any, turn: Any) -> None:
        submitted(message, dests, turn)
        for effect in turn.effects:
            if isinstance(effect, Transmit):
                see(effect)

    node.on_submitted = on_submitted
