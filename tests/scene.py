"""A tiny stage: shells of one algorithm, and a test that says which copy arrives next.

No clock and no network: what was sent hangs in the air until the test lets it arrive. Bytes are
real, so every packet that a scene looks at went through the codec.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from testbed.core.algorithm import Algorithm, Guarantee
from testbed.core.model import MessageId, Nanos, NodeId, Role
from testbed.core.network import Arrivals
from testbed.core.node import Arrival, Node, Timer, View
from testbed.core.wire import Codec
from testbed.engine.shell import Shell
from testbed.trace.events import ABSENCES, TraceEvent, audit_events
from testbed.trace.oracle import Audit
from testbed.trace.schema import ABSENT, PACKED, REASONS, Event

FIELDS = tuple(column.name for column in PACKED)
AUDITED = (
    Event.SEND, Event.RECEIVE, Event.DELIVER, Event.FORWARD, Event.DISCARD, Event.DROP,
)  # fmt: skip
_REASON, _CLOCK, _DEADLINE = (FIELDS.index(name) for name in ("reason", "clock", "deadline"))


class Rows:
    """A sink in memory: each row as its packed fields, destinations beside it."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.dests: dict[int, tuple[NodeId, ...]] = {}

    def row(self, *fields: int) -> None:
        self.rows.append(fields)

    def destinations(self, dests: tuple[NodeId, ...]) -> None:
        self.dests[len(self.rows)] = dests

    def named(self, event: Event | None = None) -> list[dict[str, int]]:
        """Rows as dictionaries, of one event or of all."""
        rows = [dict(zip(FIELDS, row, strict=True)) for row in self.rows]
        return [row for row in rows if event is None or row["event"] == event]

    def events_of(self) -> dict[NodeId, list[TraceEvent]]:
        """What the audit reads, by node, in each node's own order."""
        events: dict[NodeId, list[TraceEvent]] = {}
        for at, row in enumerate(self.rows):
            node, _, _, time, event, origin, number, peer = row[:8]
            reason = None if row[_REASON] == ABSENT else REASONS[row[_REASON]]
            if event in (Event.CRASH, *ABSENCES) or (event in AUDITED and origin != ABSENT):
                dests = self.dests.get(at, ())
                to = ABSENT if reason in ("no_room", "crashed") else peer
                deadline = None if row[_DEADLINE] == ABSENT else row[_DEADLINE]
                events.setdefault(node, []).append(
                    TraceEvent(
                        Event(event), (origin, number), dests, time, to, reason, row[_CLOCK],
                        deadline,
                    )
                )  # fmt: skip
        return events

    def audit(self, *, complete: bool = True, guarantee: Guarantee = Guarantee.CAUSAL) -> Audit:
        return audit_events(self.events_of(), complete=complete, guarantee=guarantee)


class Flight(NamedTuple):
    """One copy in the air."""

    message: MessageId
    source: NodeId
    to: NodeId
    frame: bytes


class Scene:
    """All nodes of one system; it is the port of their shells."""

    def __init__(self, algorithm: Algorithm, n: int) -> None:
        self.algorithm = algorithm
        self.n = n
        self.codec = Codec(algorithm, n)
        self.rows = Rows()
        self.now: Nanos = 0
        self.flying: list[Flight] = []
        self.dests_of: dict[MessageId, tuple[NodeId, ...]] = {}
        self.packets: dict[tuple[MessageId, NodeId], Arrival[Any, Any]] = {}
        self._out: list[tuple[NodeId, NodeId, bytes]] = []
        processes = tuple(range(n))
        self.shells = [
            Shell(
                me,
                Role.PROCESS,
                algorithm.roles[Role.PROCESS](View(me, processes)),
                algorithm=algorithm,
                n=n,
                codec=self.codec,
                port=self,
                sink=self.rows,
            )
            for me in processes
        ]

    # --- what a test does ---------------------------------------------------------------------

    def send(self, node: NodeId, *dests: NodeId) -> MessageId:
        """The application at `node` sends; its copies hang in the air."""
        self.now += 1
        message = self.shells[node].submit(self.now, tuple(sorted(dests)), b"").id
        self.dests_of[message] = tuple(sorted(dests))
        for source, to, frame in self._out:
            self.flying.append(Flight(message, source, to, frame))
            self.packets[message, to] = self.codec.decode(frame)
        self._out.clear()
        return message

    def arrive(self, message: MessageId, at: NodeId) -> list[MessageId]:
        """Let one copy arrive; the messages that its arrival delivered, in order."""
        position = next(
            i for i, copy in enumerate(self.flying) if (copy.message, copy.to) == (message, at)
        )
        return self.arrive_flight(position)

    def arrive_flight(self, position: int) -> list[MessageId]:
        copy = self.flying.pop(position)
        return self.inject(copy.to, copy.frame)

    def inject(self, at: NodeId, frame: bytes) -> list[MessageId]:
        """Let any bytes arrive at a node."""
        self.now += 1
        before = len(self.rows.rows)
        self.shells[at].arrive(self.now, frame)
        return [
            (row[5], row[6]) for row in self.rows.rows[before:] if row[4] == Event.DELIVER
        ]  # fmt: skip

    def arrive_everywhere(self, message: MessageId) -> None:
        for to in self.dests_of[message]:
            self.arrive(message, to)

    # --- what a test looks at -----------------------------------------------------------------

    def node(self, me: NodeId) -> Any:
        node: Node[Any, Any] = self.shells[me].node
        return node

    def packet(self, message: MessageId) -> Any:
        """What all copies of a message carry, as decoded from one of them."""
        return next(a.packet for (m, _), a in self.packets.items() if m == message)

    def delivered_at(self, node: NodeId) -> list[MessageId]:
        return [
            (row[5], row[6]) for row in self.rows.rows if row[0] == node and row[4] == Event.DELIVER
        ]

    def audit(self) -> Audit:
        return self.rows.audit()

    # --- port ---------------------------------------------------------------------------------

    def transmit(self, source: NodeId, to: NodeId, frame: bytes, now: Nanos) -> Arrivals:
        self._out.append((source, to, frame))
        return (now + 1,)

    def arm(self, node: NodeId, timer: Timer, at: Nanos) -> None:
        raise AssertionError("no static algorithm sets a timer")

    def disarm(self, node: NodeId, timer: Timer) -> None:
        raise AssertionError("no static algorithm cancels a timer")

    def cpu_ns(self) -> int:
        return 0
