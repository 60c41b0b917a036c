"""Inhibition: how long a message was held although its delivery would not have broken causal order.

AV call it the price of cheaper stamps: an algorithm that orders messages among stations holds some
that it need not. It is measured where messages are held, at the stations:

* a station *releases* a message when it first sends it down to the host (or gives it up for it);
  how long the air takes, what it loses and what is acknowledged does not count;
* a station *accepts* a message from a host when it has it and looks after the host;
* so the order that no station can better: what was released to a host before one of its messages
  was accepted precedes that message. It is what a matrix per host (av1) tells exactly;
* a message is *deliverable* at a host from when the station that looks after the host has it, and
  everything for that host that precedes it has been released (a trace does not say which hosts a
  copy between stations is for: the last copy counts, so that what is found errs on the low side);
* the time from there to its release is inhibition, less the time in which the host was away, had
  said that it goes, or was being handed over.

An order that hosts tell themselves (prs-mobile) may be finer; a message released before it was
deliverable in the sense above counts as not inhibited. This file knows no algorithm; it reads the
names of two packets that all stations share, `register` and `disconnect`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from testbed.core.model import MessageId, Nanos, NodeId
from testbed.trace.schema import Event


class Step(NamedTuple):
    """What is read of one row; rows come by time, those of one node in its own order."""

    event: Event
    node: NodeId
    time: Nanos
    message: MessageId | None = None
    dests: tuple[NodeId, ...] = ()
    peer: NodeId = -1
    packet: str | None = None
    reason: str | None = None


class Hold(NamedTuple):
    """One message at one host's stations; a row of a table."""

    origin: NodeId
    number: int
    host: NodeId
    station: NodeId
    """Where it was released."""
    arrived: Nanos
    deliverable: Nanos
    released: Nanos
    inhibited: Nanos


class _Host:
    """What the trace says of one host so far."""

    def __init__(self, n: int) -> None:
        self.owner: NodeId | None = None  # None as soon as another station asks for the host
        self.last_owner: NodeId | None = None
        self.asking: NodeId | None = None
        self.cell: NodeId | None = None
        self.said_goodbye = False
        self.away_since: Nanos | None = None
        self.absences: list[tuple[Nanos, Nanos]] = []
        self.known = [0] * n  # of each node how many sends precede the host's next message
        self.releases: list[tuple[MessageId, Nanos]] = []
        self.pending: dict[MessageId, Nanos | None] = {}  # when its station had the message

    def go(self, time: Nanos) -> None:
        if self.away_since is None:
            self.away_since = time

    def settle(self, time: Nanos) -> None:
        """It is here: whatever waits now waits for something else."""
        if self.away_since is not None and not self.said_goodbye:
            self.absences.append((self.away_since, time))
            self.away_since = None

    def away_between(self, start: Nanos, end: Nanos) -> Nanos:
        spans = [*self.absences]
        if self.away_since is not None:
            spans.append((self.away_since, end))
        return sum(max(0, min(end, last) - max(start, first)) for first, last in spans)


def holds(steps: Iterable[Step], stations: int, n: int) -> list[Hold]:
    """Every release of a message to a host; nodes from `stations` on are hosts."""
    steps = list(steps)
    reader = _Reader(stations, n)
    reader.place(steps)
    for step in steps:
        reader.read(step)
    return reader.holds


class _Reader:
    def __init__(self, stations: int, n: int) -> None:
        self._stations = stations
        self._hosts = {host: _Host(n) for host in range(stations, n)}
        self._sent_by_station = [[0] * n for _ in range(stations)]
        self._dests: dict[MessageId, tuple[NodeId, ...]] = {}
        self._stamp: dict[MessageId, list[int]] = {}
        self._at: list[set[MessageId]] = [set() for _ in range(stations)]
        self._heard: list[set[MessageId]] = [set() for _ in range(stations)]
        self.holds: list[Hold] = []

    def place(self, steps: list[Step]) -> None:
        """Where hosts are at the start: the first cell they leave, or whoever first sends them."""
        for step in steps:
            if step.event in (Event.LEAVE, Event.DISCONNECT):
                self._begin(step.node, step.peer)
            elif step.node < self._stations <= step.peer and step.event is not Event.HANDOFF_BEGIN:
                self._begin(step.peer, step.node)

    def _begin(self, host: NodeId, station: NodeId) -> None:
        if self._hosts[host].owner is None:
            self._hosts[host].owner = self._hosts[host].cell = station
            self._hosts[host].last_owner = station

    def read(self, step: Step) -> None:
        match step.event:
            case Event.SEND:
                assert step.message is not None
                self._dests[step.message] = step.dests
                for d in step.dests:
                    self._hosts[d].pending[step.message] = None
                if step.node < self._stations:
                    known = self._sent_by_station[step.node]
                    self._accept(step.node, step.message, known, step.time)
            case Event.RECEIVE if step.node < self._stations:
                self._receive(step)
            case Event.FORWARD | Event.RETRANSMIT if step.node < self._stations:
                if step.message in self._heard[step.node]:  # the row of the take-over comes last
                    origin = self._hosts[step.message[0]]
                    self._accept(step.node, step.message, origin.known, step.time)
                if step.peer >= self._stations:
                    self._release(step)
            case Event.DISCARD if step.reason == "disconnected" and step.peer >= self._stations:
                self._release(step)
            case Event.LEAVE | Event.DISCONNECT:
                self._hosts[step.node].cell = None
                self._hosts[step.node].go(step.time)
            case Event.ENTER | Event.CONNECT:
                self._hosts[step.node].cell = step.peer
            case Event.HANDOFF_BEGIN:
                self._hosts[step.peer].go(step.time)
                self._hosts[step.peer].owner = None
                self._hosts[step.peer].asking = step.node
                self._forget(step.node, step.peer)
            case Event.HANDOFF_END:
                self._take_over(step)

    def _receive(self, step: Step) -> None:
        if step.peer < self._stations:
            if step.message is not None:
                self._catch_up(step.node, step.message, step.time)
                self._arrive(step.node, step.message, step.time)
            return
        if step.message is not None:
            self._hear(step.node, step.message, step.time)
        host = self._hosts[step.peer]
        if step.packet == "disconnect":
            host.said_goodbye = True
            host.go(step.time)
        elif step.packet == "register":
            host.said_goodbye = False
            host.asking = None
            if host.last_owner == step.node:
                host.owner = step.node
                host.settle(step.time)

    def _hear(self, station: NodeId, message: MessageId, time: Nanos) -> None:
        """A frame up: accepted at once by whoever looks after the host, else when it does."""
        origin = self._hosts[message[0]]
        if origin.owner == station:
            self._accept(station, message, origin.known, time)
        else:
            self._heard[station].add(message)

    def _accept(self, station: NodeId, message: MessageId, known: list[int], time: Nanos) -> None:
        if message not in self._stamp:
            known[message[0]] = max(known[message[0]], message[1])
            self._stamp[message] = known.copy()
            self._arrive(station, message, time)

    def _catch_up(self, station: NodeId, message: MessageId, time: Nanos) -> None:
        """Somebody has accepted it without a row that says so: not later than now."""
        if message not in self._stamp and message in self._dests:
            origin = self._hosts.get(message[0])
            known = self._sent_by_station[station] if origin is None else origin.known
            self._accept(station, message, known, time)

    def _arrive(self, station: NodeId, message: MessageId, time: Nanos) -> None:
        self._at[station].add(message)
        for d in self._dests.get(message, ()):
            host = self._hosts[d]
            if host.last_owner == station and message in host.pending:
                host.pending[message] = time

    def _forget(self, station: NodeId, host: NodeId) -> None:
        """The host registers anew, and will send again what nobody accepted."""
        self._heard[station] = {m for m in self._heard[station] if m[0] != host}

    def _take_over(self, step: Step) -> None:
        """The station has the host, and with it all that has been waiting here for that."""
        host = self._hosts[step.peer]
        host.last_owner = step.node
        if host.asking not in (None, step.node):
            return  # and it goes on at once to whoever has asked since
        host.owner, host.asking = step.node, None
        if host.cell == step.node:
            host.settle(step.time)
        here = self._at[step.node]
        for message, arrived in host.pending.items():
            if arrived is None and message in here:
                host.pending[message] = step.time
        for message in sorted(m for m in self._heard[step.node] if m[0] == step.peer):
            self._accept(step.node, message, host.known, step.time)
        self._forget(step.node, step.peer)

    def _release(self, step: Step) -> None:
        message, host = step.message, self._hosts[step.peer]
        if message is None or message not in host.pending:
            return  # again
        self._catch_up(step.node, message, step.time)
        arrived = host.pending.pop(message)
        if arrived is None:
            arrived = step.time
        stamp = self._stamp.get(message, [])
        past = (
            time for (o, k), time in reversed(host.releases) if o < len(stamp) and k <= stamp[o]
        )
        start = max(arrived, next(past, 0))
        waited = max(0, step.time - start)
        inhibited = max(0, waited - host.away_between(start, step.time))
        host.releases.append((message, step.time))
        host.known = list(map(max, host.known, stamp)) if stamp else host.known
        self.holds.append(
            Hold(*message, step.peer, step.node, arrived, start, step.time, inhibited)
        )
