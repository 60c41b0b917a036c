"""All copies of one packet as bytes: what they share is encoded once, then each copy's own part."""

from __future__ import annotations

from typing import Any, NamedTuple

from testbed.core.errors import ContractViolation
from testbed.core.model import NodeId
from testbed.core.node import Transmit
from testbed.core.wire import Codec


class Batch(NamedTuple):
    """All copies of one packet, encoded, on their way out."""

    effect: Transmit
    frames: list[bytes]
    parts: list[Any] | None
    """Each copy's own part; None where all copies are equal."""


def encode(me: NodeId, effect: Transmit, codec: Codec, algorithm: str) -> Batch:
    """Frames for all destinations; a packet that is too large is the algorithm's fault."""
    own = effect.own
    shared = codec.shared_part(me, effect.message, effect.packet)
    whole = shared + codec.own_part(None)
    if own:
        parts = [own.get(to) for to in effect.dests]
        batch = Batch(effect, [shared + codec.own_part(part) for part in parts], parts)
        largest = max(map(len, batch.frames))
    else:
        batch = Batch(effect, [whole] * len(effect.dests), None)
        largest = len(whole)
    if largest > codec.bytes_max:
        rule = f"packet of {largest} bytes, at most {codec.bytes_max} allowed"
        raise ContractViolation(algorithm, me, rule)
    return batch
