"""A schedule: everything that decides a run, as plain data that can be saved and replayed.

A send says when, who, to whom, and how long each of its copies travels; nothing is left to draw.
This file knows no algorithm and no engine; it only offers itself as the wires of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import cycle
from pathlib import Path

import msgspec

from testbed.core.errors import BadInput, EngineError
from testbed.core.model import Nanos, NodeId, Submission
from testbed.core.network import Air, AirLink, Arrivals
from testbed.hunt.mortal import DeadlineSchedule
from testbed.hunt.roaming import MobileSchedule, Saved

NODES_MAX = 1_000
COPIES_PER_SEND_MAX = 100
"""An algorithm that puts more copies than this per send on one channel is not going to end."""


class Send(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One message, and the fate of each of its copies."""

    time: Nanos
    node: NodeId
    dests: tuple[NodeId, ...]
    delays: tuple[Nanos, ...]
    """How long the copy to each destination travels, in the order of `dests`."""


class Schedule(
    Saved,
    frozen=True,
    forbid_unknown_fields=True,
    tag_field="format",
    tag="causalbed-schedule-1",
):
    """One run of one algorithm: same schedule, same run."""

    algorithm: str
    n: int
    seed: int
    number: int
    """It is schedule `number` of `seed`, unless somebody edited it."""
    kind: str
    """How it was made up, in a few words; decides nothing."""
    fifo: bool
    """A copy never arrives before an earlier one of its channel, whatever its delay."""
    sends: tuple[Send, ...]
    spare: Nanos = 1_000_000
    """The delay of copies on a channel for which no send names one."""

    def submissions(self) -> Iterator[Submission]:
        """What the application does; payloads are empty."""
        return (Submission(send.time, send.node, send.dests, 0) for send in self.sends)

    def impossible(self) -> str | None:
        """What types cannot say: numbers in range, lists of equal length, time that runs on."""
        n, now = self.n, 0
        if not 2 <= n <= NODES_MAX:
            return f"n is {n}, it takes 2 to {NODES_MAX}"
        if self.spare < 0:
            return "`spare` is negative"
        for position, send in enumerate(self.sends):
            where = f"sends[{position}]"
            if send.time < now:
                return f"{where} is earlier than the send before it, or negative"
            now = send.time
            if not 0 <= send.node < n or not all(0 <= node < n for node in send.dests):
                return f"{where} names a node that is not in 0 to {n - 1}"
            if not send.dests or sorted(set(send.dests)) != list(send.dests):
                return f"{where} has destinations that are empty, double or not in ascending order"
            if len(send.delays) != len(send.dests) or min(send.delays) < 0:
                return f"{where} needs one delay that is not negative for each destination"
        return None

    @staticmethod
    def load(path: Path) -> AnySchedule:
        """The schedule in this file; raises BadInput with one sentence if there is none."""
        try:
            schedule: AnySchedule = msgspec.json.decode(path.read_bytes(), type=AnySchedule)
        except OSError as error:
            raise BadInput(f"schedule '{path}' cannot be read: {error.strerror}") from error
        except msgspec.DecodeError as error:
            raise BadInput(f"'{path}' is no schedule of `causalbed check`: {error}") from error
        except UnicodeDecodeError as error:
            raise BadInput(f"'{path}' is no schedule of `causalbed check`: not JSON") from error
        wrong = schedule.impossible()
        if wrong is not None:
            raise BadInput(f"'{path}' is no schedule that can be run: {wrong}")
        return schedule


AnySchedule = Schedule | MobileSchedule | DeadlineSchedule


class ScriptedLink:
    """One channel whose copies take the delays of the script, over again if there are more."""

    __slots__ = ("_copies_left", "_delays", "_fifo", "_last_arrival")

    def __init__(self, delays: Iterable[Nanos], *, fifo: bool, copies_max: int) -> None:
        self._delays = cycle(delays)
        self._fifo = fifo
        self._last_arrival: Nanos = 0
        self._copies_left = copies_max

    def send(self, now: Nanos, size: int) -> Arrivals:
        self._copies_left -= 1
        if self._copies_left < 0:
            raise EngineError("it sends without end")
        arrival = now + next(self._delays)
        if self._fifo:
            arrival = self._last_arrival = max(arrival, self._last_arrival)
        return (arrival,)

    def reset(self) -> None:
        """Nothing is on the channel any more."""
        self._last_arrival = 0


class ScriptedWires:
    """The network of a schedule: no draw is left."""

    def __init__(self, schedule: Schedule) -> None:
        self._fifo = schedule.fifo
        self._copies_max = COPIES_PER_SEND_MAX * len(schedule.sends)
        self._spare = [schedule.spare]
        self._delays: dict[tuple[NodeId, NodeId], list[Nanos]] = {}
        for send in schedule.sends:
            for to, delay in zip(send.dests, send.delays, strict=True):
                self._delays.setdefault((send.node, to), []).append(delay)

    def link(self, source: NodeId, target: NodeId) -> ScriptedLink:
        delays = self._delays.get((source, target), self._spare)
        return ScriptedLink(delays, fifo=self._fifo, copies_max=self._copies_max)


class MobileWires:
    """The wires and the air of a mobile schedule; the air is cut when a host leaves its cell."""

    def __init__(self, schedule: MobileSchedule, air: Air) -> None:
        self._schedule = schedule
        self._air = air
        self._copies_max = COPIES_PER_SEND_MAX * (len(schedule.sends) + schedule.moves)
        self._delays = {(wire.source, wire.target): wire.delays for wire in schedule.wires}
        self.lost = 0

    def link(self, source: NodeId, target: NodeId) -> ScriptedLink | CountedAir:
        schedule = self._schedule
        if not schedule.world.is_air(source, target):
            delays = self._delays.get((source, target), (schedule.spare,))
            return ScriptedLink(delays, fifo=False, copies_max=self._copies_max)
        host = source if source >= schedule.stations else target
        delays = schedule.air[host - schedule.stations]
        link = ScriptedLink(delays, fifo=True, copies_max=self._copies_max)
        return CountedAir(AirLink(self._air, link, source, target), self)


class CountedAir:
    """An air link whose lost frames are counted."""

    __slots__ = ("_link", "_wires")

    def __init__(self, link: AirLink, wires: MobileWires) -> None:
        self._link = link
        self._wires = wires

    def send(self, now: Nanos, size: int) -> Arrivals:
        arrivals = self._link.send(now, size)
        self._wires.lost += not arrivals
        return arrivals
