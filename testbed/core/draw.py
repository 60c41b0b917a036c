"""Randomness keyed by identity: a draw is a pure function of what it is for.

`uniforms(seed, purpose, a, b, block)` gives the sixteen numbers of one block; who draws first, or
in which process, changes nothing. SHAKE-128 makes a whole block in one call, which costs a tenth
of a microsecond per number; seeding a generator for each costs nine.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

BLOCK = 16
"""Numbers per block; number i of a stream is number i % BLOCK of block i // BLOCK."""

_KEY = struct.Struct("<q16sqqq")
_WORDS = struct.Struct(f"<{BLOCK}Q")
_TO_UNIT = 2.0**-53


def uniforms(seed: int, purpose: bytes, a: int, b: int, block: int) -> list[float]:
    """Sixteen numbers in [0, 1), always the same for the same arguments."""
    key = _KEY.pack(seed, purpose, a, b, block)
    words = _WORDS.unpack(hashlib.shake_128(key).digest(_WORDS.size))
    return [(word >> 11) * _TO_UNIT for word in words]


def stream(seed: int, purpose: bytes, a: int, b: int = 0) -> Iterator[float]:
    """The numbers of all blocks in turn, without end."""
    block = 0
    while True:
        yield from uniforms(seed, purpose, a, b, block)
        block += 1
