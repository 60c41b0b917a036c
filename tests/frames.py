"""Frames to attack decoders with: real ones, and real ones bent in their structure."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st

from tests.families import STATIC
from tests.hunted import busy_run
from tests.scene import Flight, Scene
from tests.schedules import from_seed, play

NODES = 4
NAMES = tuple(STATIC)


@cache
def real_copies(name: str) -> tuple[Flight, ...]:
    """Every copy of one busy execution, with the bytes it really had."""
    scene = Scene(STATIC[name], NODES)
    copies: list[Flight] = []
    play(scene, from_seed(5), sends=25, after_send=lambda m: copies.extend(
        copy for copy in scene.flying if copy.message == m
    ))  # fmt: skip
    return tuple(copies)


@cache
def real_frames(name: str) -> tuple[bytes, ...]:
    """Their bytes; of a mobile algorithm one frame of each kind and receiver."""
    if name in STATIC:
        return tuple(copy.frame for copy in real_copies(name))
    kinds = {}
    for _, effect, frames in busy_run(name).sent:
        for to, frame in zip(effect.dests, frames, strict=True):
            kinds[type(effect.packet), to] = frame
    return tuple(kinds.values())


leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 63), (1 << 64) - 1),
    st.integers(-2, NODES + 1),
    st.binary(max_size=12),
    st.text(max_size=3),
    st.floats(),
    st.lists(st.integers(0, NODES), max_size=5),
)


@st.composite
def bent(draw: st.DrawFn, name: str) -> bytes:
    """A real frame in which one place of its structure was replaced, dropped or doubled."""
    tree = msgspec.msgpack.decode(draw(st.sampled_from(real_frames(name))))
    for _ in range(draw(st.integers(1, 3))):
        parent = _descend(draw, tree)
        at = draw(st.integers(0, len(parent) - 1))
        match draw(st.sampled_from(("replace", "drop", "double"))):
            case "replace":
                parent[at] = draw(leaves)
            case "drop" if len(parent) > 1:
                del parent[at]
            case _:
                parent.insert(at, parent[at])
    return msgspec.msgpack.encode(tree)


def _descend(draw: st.DrawFn, tree: list[Any]) -> list[Any]:
    """A list somewhere in the tree, never an empty one."""
    while True:
        deeper = [child for child in tree if isinstance(child, list) and child]
        if not deeper or draw(st.integers(0, 3)) == 0:
            return tree
        tree = draw(st.sampled_from(deeper))


@st.composite
def damaged(draw: st.DrawFn, name: str) -> bytes:
    """A real frame cut short, lengthened, or with bits flipped."""
    frame = bytearray(draw(st.sampled_from(real_frames(name))))
    match draw(st.sampled_from(("cut", "flip", "append"))):
        case "cut":
            return bytes(frame[: draw(st.integers(0, len(frame) - 1))])
        case "append":
            return bytes(frame) + draw(st.binary(min_size=1, max_size=8))
        case _:
            for bit in draw(st.lists(st.integers(0, 8 * len(frame) - 1), min_size=1, max_size=4)):
                frame[bit // 8] ^= 1 << bit % 8
            return bytes(frame)
