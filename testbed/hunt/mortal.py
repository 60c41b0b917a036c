"""A schedule under deadlines: lifetimes, clocks, crashes, and copies that get lost or doubled.

Each copy has its fate written down: when it arrives, twice, or never. What an algorithm sends
beyond its messages (solicitations, replies, heartbeats) meets the fates of its channel over again.
This file knows no algorithm and no engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import msgspec

from testbed.core.clocks import BILLION, Clock
from testbed.core.errors import EngineError
from testbed.core.fault import Crash
from testbed.core.model import Nanos, NodeId, Submission
from testbed.core.network import Arrivals
from testbed.hunt.roaming import Saved

Fate = tuple[Nanos, ...]
"""How long each copy of a copy travels: () is lost, two are a duplicate."""

GROUP_MAX = 1_000
COPIES_MAX = 20_000
"""An algorithm that puts more copies than this on one channel is not going to end."""


class MortalSend(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One message, how long it is of use, and the fate of each of its copies."""

    time: Nanos
    node: NodeId
    dests: tuple[NodeId, ...]
    lifetime: Nanos
    fates: tuple[Fate, ...]


class DeadlineSchedule(
    Saved,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="format",
    tag="causalbed-deadline-schedule-1",
):
    """One run of one deadline algorithm: same schedule, same run."""

    algorithm: str
    n: int
    seed: int
    number: int
    kind: str
    """How it was made up, in a few words; decides nothing."""
    sends: tuple[MortalSend, ...]
    clocks: tuple[Clock, ...]
    """Of each node."""
    crashes: tuple[Crash, ...] = ()
    beat: Nanos | None = None
    """Interval of the heartbeats; none: nobody is ever suspected."""
    timeout: Nanos = 0
    spare: Fate = (1_000_000,)
    """Of copies on a channel for which no send names one."""

    def submissions(self) -> Iterator[Submission]:
        """What the application does; payloads are empty."""
        return (
            Submission(send.time, send.node, send.dests, 0, send.lifetime) for send in self.sends
        )

    def impossible(self) -> str | None:
        """What types cannot say: numbers in range, lists of equal length, time that runs on."""
        n, now = self.n, 0
        if not 2 <= n <= GROUP_MAX:
            return f"n is {n}, it takes 2 to {GROUP_MAX}"
        stands = any(clock.ahead < 0 or clock.drift_ppb <= -BILLION for clock in self.clocks)
        if len(self.clocks) != n or stands:
            return f"`clocks` takes {n} clocks that run and are not behind"
        if self.beat is not None and (self.beat <= 0 or self.timeout <= self.beat):
            return "`beat` takes an interval above 0 and below `timeout`"
        for position, send in enumerate(self.sends):
            where = f"sends[{position}]"
            if send.time < now:
                return f"{where} is earlier than the send before it, or negative"
            now = send.time
            if not all(0 <= node < n for node in (send.node, *send.dests)) or not send.dests:
                return f"{where} names no destination, or a node that is not in 0 to {n - 1}"
            if sorted(set(send.dests)) != list(send.dests):
                return f"{where} has destinations that are double or not in ascending order"
            if len(send.fates) != len(send.dests) or send.lifetime <= 0:
                return f"{where} needs a lifetime above 0 and one fate for each destination"
            if any(delay < 0 for fate in send.fates for delay in fate):
                return f"{where} has a delay that is negative"
        if any(not 0 <= node < n or c.time < 0 for c in self.crashes for node in c.nodes):
            return f"`crashes` names a node that is not in 0 to {n - 1}, or a time before the start"
        return None


class MortalLink:
    """One channel whose copies meet the fates of the script, over again if there are more."""

    __slots__ = ("_copies_left", "_fates")

    def __init__(self, fates: list[Fate]) -> None:
        self._fates = cycle(fates)
        self._copies_left = COPIES_MAX

    def send(self, now: Nanos, size: int) -> Arrivals:
        self._copies_left -= 1
        if self._copies_left < 0:
            raise EngineError("it sends without end")
        return tuple(now + delay for delay in next(self._fates))


class MortalWires:
    """The network of a schedule: no draw is left."""

    def __init__(self, schedule: DeadlineSchedule) -> None:
        self._spare = [schedule.spare]
        self._fates: dict[tuple[NodeId, NodeId], list[Fate]] = {}
        for send in schedule.sends:
            for to, fate in zip(send.dests, send.fates, strict=True):
                self._fates.setdefault((send.node, to), []).append(fate)

    def link(self, source: NodeId, target: NodeId) -> MortalLink:
        return MortalLink(self._fates.get((source, target), self._spare))
