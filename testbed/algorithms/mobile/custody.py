"""Who looks after a host: exactly one station at a time, however fast the host moves.

A station owns its hosts. At a registration, a station that does not own the host asks for it
(handoff_begin), at the station that the host names as its previous one, and awaits it. Stations
that have given a host away remember to whom and for which stay, and pass later requests on. The
number of the stay decides: a request for an older stay than the one that is known is overtaken and
forgotten. "The current hand-off is completed before a new one begins" (AV 4.2): whoever awaits a
host keeps a newer request until it has it.

This file knows neither what a station keeps for a host nor how packets travel.
"""

from __future__ import annotations

import enum
from typing import Generic, NamedTuple, TypeVar

from testbed.core.model import Message, NodeId

S = TypeVar("S")


class Claim(NamedTuple):
    """A station asks for a host: handoff_begin(h)."""

    host: NodeId
    stay: int
    received: int
    """What the host said at its registration: the last frame that has reached it."""
    station: NodeId
    lane: int = 0
    """Which part of that station shall look after the host (av3)."""


class Given(NamedTuple):
    """Where a host that was here went, and for which of its stays."""

    station: NodeId
    stay: int


class Awaited:
    """A host that has registered here and is still owned elsewhere."""

    __slots__ = ("claim", "frames", "is_disconnected", "received", "stay")

    def __init__(self, stay: int, received: int) -> None:
        self.stay = stay
        self.received = received
        self.frames: list[tuple[int, list[NodeId], Message]] = []
        """What the host has sent up meanwhile: number, destinations, message."""
        self.claim: Claim | None = None
        """The newest request that must wait until the host is here."""
        self.is_disconnected = False


class Answer(enum.Enum):
    """What a station does about a request."""

    GIVE = enum.auto()
    PASS_ON = enum.auto()
    WAIT = enum.auto()
    FORGET = enum.auto()


class Custody(Generic[S]):
    """The hosts of one station: those it owns, those it awaits, those it has given away."""

    def __init__(self, me: NodeId, owned: dict[NodeId, S]) -> None:
        self.me = me
        self.owned = owned
        self.stay = dict.fromkeys(owned, 0)
        self.awaited: dict[NodeId, Awaited] = {}
        self.given: dict[NodeId, Given] = {}

    def register(self, host: NodeId, stay: int, received: int) -> Claim | None:
        """A host is in the cell for a new stay: the request to make, unless it is owned."""
        self.stay[host] = stay
        if host in self.owned:
            return None
        before = self.awaited.get(host)
        waiting = self.awaited[host] = Awaited(stay, received)
        if before is not None and before.claim is not None and before.claim.stay > stay:
            waiting.claim = before.claim
        return Claim(host, stay, received, self.me)

    def ask_at(self, host: NodeId, previous: NodeId) -> NodeId:
        """Where to ask for a host: not here, if it was given away from here since."""
        given = self.given.get(host)
        return previous if previous != self.me or given is None else given.station

    def claimed(self, claim: Claim) -> Answer:
        """A request has come; WAIT is already remembered."""
        host, waiting = claim.host, self.awaited.get(claim.host)
        if claim.station == self.me:  # it came round: the host went from here since it was here
            return self._pass_on(claim) if waiting is not None else Answer.FORGET
        if claim.stay <= self.stay.get(host, -1):
            return Answer.FORGET
        if host in self.owned:
            return Answer.GIVE
        if waiting is not None:
            if waiting.claim is None or claim.stay > waiting.claim.stay:
                waiting.claim = claim
            if host not in self.given:
                return Answer.WAIT
        return self._pass_on(claim)

    def _pass_on(self, claim: Claim) -> Answer:
        given = self.given.get(claim.host)
        is_behind = given is not None and claim.stay > given.stay
        return Answer.PASS_ON if is_behind else Answer.FORGET

    def give(self, claim: Claim) -> S:
        """The host's state leaves this station for the one that asked."""
        self.given[claim.host] = Given(claim.station, claim.stay)
        return self.owned.pop(claim.host)

    def take(self, host: NodeId, state: S) -> Awaited | None:
        """The state has come; None if nobody here awaits it."""
        waiting = self.awaited.pop(host, None)
        if waiting is not None:
            self.owned[host] = state
        return waiting
