"""Random executions of a scene: who sends to whom, and which copy arrives next, is drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.scene import Scene

Draw = Callable[[int], int]
"""A number below its argument: the one source of choice in a schedule."""


def from_seed(seed: int) -> Draw:
    return random.Random(seed).randrange


def from_choices(choices: Sequence[int]) -> Draw:
    """Choices drawn beforehand, which Hypothesis can shrink; zero once they are used up."""
    left = iter(choices)
    return lambda bound: next(left, 0) % bound


def play(
    scene: Scene,
    draw: Draw,
    *,
    sends: int,
    fifo: bool = False,
    itself: bool = False,
    after_send: Callable[[tuple[int, int]], None] | None = None,
    after_arrival: Callable[[int, list[tuple[int, int]]], None] | None = None,
) -> Scene:
    """Send and let arrive in drawn order, then let everything arrive, in drawn order too."""
    left = sends
    haste = 2 + draw(4)  # arrivals for each send, more or less: few leave many copies in the air
    slow = draw(scene.n), draw(scene.n)
    while left or scene.flying:
        if left and (not scene.flying or draw(haste) == 0):
            left -= 1
            message = scene.send(*_submission(scene, draw, itself=itself))
            if after_send is not None:
                after_send(message)
        else:
            position = _next_arrival(scene, draw, slow, fifo=fifo)
            to = scene.flying[position].to
            delivered = scene.arrive_flight(position)
            if after_arrival is not None:
                after_arrival(to, delivered)
    return scene


def _submission(scene: Scene, draw: Draw, *, itself: bool) -> list[int]:
    """A sender and its destinations: one, some or all."""
    sender = draw(scene.n)
    others = [node for node in range(scene.n) if node != sender]
    if scene.algorithm.broadcast_only:
        return [sender, *others, *([sender] if itself and draw(2) else [])]
    candidates = others + [sender] * itself
    count = 1 if draw(2) else 1 + draw(len(candidates))
    dests = [candidates.pop(draw(len(candidates))) for _ in range(count)]
    return [sender, *dests]


def _next_arrival(scene: Scene, draw: Draw, slow: tuple[int, int], *, fifo: bool) -> int:
    """Any copy; one channel is slow, so that chains over third nodes overtake it."""
    flying = scene.flying
    quick = [i for i, copy in enumerate(flying) if (copy.source, copy.to) != slow]
    chosen = quick[draw(len(quick))] if quick and draw(8) else draw(len(flying))
    if not fifo:
        return chosen
    channel = flying[chosen].source, flying[chosen].to
    return next(i for i, copy in enumerate(flying) if (copy.source, copy.to) == channel)
