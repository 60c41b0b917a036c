"""Alagar, Venkatesan, algorithm 1 as its hand-off is printed: av1 without what the print lacks.

Idea: av1, but 4.2 taken by its word. It transfers MH_DELIV, MH_SENT, MH_PENDING and PEND_ACK, and
nothing else; so what is still on a wire to the old station when the host has gone is lost there,
and the new station cannot know which of the messages that the host retransmits were accepted.
Paper: AV section 4.2.
Assumptions: as av1; it keeps its guarantees only while nobody moves with messages under way.
A packet carries what those of av1 carry; the numbers of frames up are not looked at.
Departures: that the receive step counts no message for the pair of sender and receiver is a
misprint, and is not repeated here. A station whose message was lost is still told where the host
is now, since the print does not say how it is found; frames down keep their numbers ("any of the
protocols that ensure reliable delivery can be used", 4.1).
"""

from __future__ import annotations

import dataclasses

from testbed.algorithms.mobile import air, av1
from testbed.algorithms.mobile.custody import Given
from testbed.core.algorithm import Guarantee
from testbed.core.model import Message, NodeId, Role
from testbed.core.node import Turn


class PrintedStation(av1.SupportStation):
    """It forwards whatever a host sends, and follows nobody."""

    def _on_up(
        self, host: NodeId, number: int, dests: list[NodeId], message: Message, turn: Turn
    ) -> None:
        charge = self.custody.owned.get(host)
        if charge is not None:
            charge.up = number - 1  # as if it were the next one: nobody remembers
        super()._on_up(host, number, dests, message, turn)

    def _follow(self, host: NodeId, given: Given, waiting: av1.Waiting, turn: Turn) -> None:
        """The print transfers MH_PENDING; this message came too late for it."""


ALGORITHM = dataclasses.replace(
    av1.ALGORITHM,
    name="av1-printed",
    title="Alagar-Venkatesan algorithm 1 with its hand-off as printed",
    paper="AV section 4.2",
    roles={Role.STATION: PrintedStation, Role.HOST: air.Host},
    guarantee=Guarantee.NONE,
)
