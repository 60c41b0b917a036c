"""Where schedules come from: seeds, and Hypothesis.

Sizes from 2 to 12, unicasts to broadcasts, messages to oneself; what arrives next is any copy in
flight, or with FIFO the oldest of any channel. This file knows no algorithm.
"""

from __future__ import annotations

import random

from hypothesis import strategies as st

from tests.algorithms.ks.world import Arrive, Schedule, Send


def random_schedule(
    seed: int, *, fifo: bool = False, n: int | None = None, messages: int | None = None
) -> Schedule:
    """Each seed has its own size, pace, fan-out and share of messages to oneself."""
    rng = random.Random(seed)
    n = n or rng.randint(2, 12)
    messages = messages or rng.randint(10, 40)
    pace = rng.choice((0.2, 0.4, 0.6))
    fan_out = rng.choice((1, 2, n // 2 + 1, n))
    to_self = rng.choice((0.0, 0.2))
    haste = rng.choice((0.0, 0.5, 0.8))  # how often the youngest copies arrive first
    steps: list[Send | Arrive] = []
    while messages:
        if rng.random() < pace:
            node = rng.randrange(n)
            others = [d for d in range(n) if d != node]
            dests = set(rng.sample(others, min(len(others), rng.randint(1, fan_out))))
            if rng.random() < to_self:
                dests = dests | {node} if rng.random() < 0.5 else {node}
            steps.append(Send(node, tuple(sorted(dests))))
            messages -= 1
        else:
            youngest = rng.random() < haste
            steps.append(Arrive(-1 - rng.randrange(2) if youngest else rng.getrandbits(16)))
    return Schedule(n, fifo, tuple(steps), rng.getrandbits(16))


@st.composite
def schedules(draw: st.DrawFn, n_max: int = 12, steps_max: int = 80) -> Schedule:
    """Shrinks to few nodes, few steps, small sets, and arrivals in order."""
    n = draw(st.integers(2, n_max))
    node = st.integers(0, n - 1)
    dests = st.sets(node, min_size=1, max_size=n).map(lambda chosen: tuple(sorted(chosen)))
    send = st.builds(Send, node, dests)
    arrive = st.builds(Arrive, st.integers(0, 100))
    steps = draw(st.lists(st.one_of(send, arrive), min_size=10, max_size=steps_max))
    return Schedule(n, draw(st.booleans()), tuple(steps), draw(st.integers(0, 100)))
