"""Mobile schedules of the hunter, run with everything looked at: rows, packets, frames."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec

from testbed.core.model import NodeId
from testbed.core.node import Transmit
from testbed.core.wire import Codec
from testbed.engine.virtual import VirtualEngine
from testbed.hunt.generate import Shape
from testbed.hunt.play import stage
from testbed.hunt.roaming import MobileSchedule
from testbed.hunt.wander import make_mobile_schedule
from tests.families import MOBILE
from tests.scene import Rows

SEED = 7


class Sent(NamedTuple):
    """One packet as its sender put it on its turn, and its bytes at that time."""

    node: NodeId
    effect: Transmit
    frames: list[bytes]


class Roamed(NamedTuple):
    """One schedule that was run."""

    schedule: MobileSchedule
    rows: Rows
    engine: VirtualEngine
    codec: Codec
    sent: list[Sent]

    def frames(self) -> list[tuple[NodeId, bytes]]:
        """Every frame, with the node that it went to."""
        return [
            (to, frame)
            for _, effect, frames in self.sent
            for to, frame in zip(effect.dests, frames, strict=True)
        ]


def schedule_of(name: str, number: int, shape: Shape | None = None) -> MobileSchedule:
    return make_mobile_schedule(name, MOBILE[name], SEED, number, shape or Shape())


def roam(schedule: MobileSchedule) -> Roamed:
    """Run it to its end, and keep all that happened."""
    plan, wires = stage(schedule)
    rows = Rows()
    engine = VirtualEngine(plan, rows, wires=wires)
    algorithm = MOBILE[schedule.algorithm]
    codec = Codec(algorithm, schedule.n, stations=schedule.stations)
    sent: list[Sent] = []
    for me, shell in engine.shells.items():
        _watch(me, shell, sent)
    engine.run()
    return Roamed(schedule, rows, engine, codec, sent)


def _watch(me: NodeId, shell: Any, sent: list[Sent]) -> None:
    encode = shell._encode

    def watched(effect: Transmit) -> Any:
        batch = encode(effect)
        sent.append(Sent(me, effect, list(batch.frames)))
        return batch

    shell._encode = watched


def encoded(codec: Codec, sent: Sent) -> list[bytes]:
    """The packet's bytes now."""
    own = sent.effect.own or {}
    shared = codec.shared_part(sent.node, sent.effect.message, sent.effect.packet)
    return [shared + codec.own_part(own.get(to)) for to in sent.effect.dests]


@cache
def busy_run(name: str) -> Roamed:
    """The schedule among the first few that sends the most kinds of packets."""
    runs = [roam(schedule_of(name, number, Shape(stations=3, hosts=4))) for number in range(12)]
    return max(runs, key=lambda run: (_kinds(run), -len(run.sent)))


def _kinds(run: Roamed) -> int:
    return len({type(sent.effect.packet) for sent in run.sent})


def at_its_start(schedule: MobileSchedule) -> VirtualEngine:
    """The nodes of this schedule before anything happens, for attacks; frames come bare."""
    plan, wires = stage(schedule)
    plan = msgspec.structs.replace(plan, retry_after=None)
    engine = VirtualEngine(plan, Rows(), wires=wires)
    for shell in engine.shells.values():
        shell.start(0)
    return engine
