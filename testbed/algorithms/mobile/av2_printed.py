"""Algorithm 2 with notify as printed: it goes out at the registration.

Idea: 5.2 prints "s_j sends handoff_begin(h_k), and then broadcasts notify(h_k, s_i, s_j)", before
s_i has answered. So the notify of a host's next move may be taken before that of this one, which
then overwrites it: messages go to a station that the host has left, and are never delivered. With
requests that are overtaken (a host that moves on before it is registered), a station that never
gets the host is announced, too. With a host that stays until its hand-off is over it works.
Paper: AV section 5.2 as printed, except that handoff_begin goes to s_i.
Assumptions and cost: as av2. A packet carries what it carries there.
Departures: the others of av2. What is not marked old is queued also before enable has come.
"""

from __future__ import annotations

import dataclasses

from testbed.algorithms.mobile import air, av2
from testbed.algorithms.mobile.air import Register
from testbed.algorithms.mobile.custody import Claim
from testbed.core.model import Message, NodeId, Role
from testbed.core.node import Turn, View


class SupportStation(av2.SupportStation):
    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.early: dict[NodeId, list[Message]] = {}  # for hosts that are awaited here

    def _on_register(self, host: NodeId, packet: Register, turn: Turn) -> None:
        before = self.custody.awaited.get(host)
        super()._on_register(host, packet, turn)
        if self.custody.awaited.get(host) is not before:
            self._notify(self.mss[0], host, packet.previous, turn)

    def _route(self, mss: av2.Mss, hosts: list[NodeId], message: Message, turn: Turn) -> None:
        for host in hosts:
            if host in self.custody.awaited and host not in mss.gone:
                self.early.setdefault(host, []).append(message)
        super()._route(mss, hosts, message, turn)

    def _give(self, claim: Claim, charge: av2.Resident, turn: Turn) -> None:
        super()._give(claim, charge, turn)
        self._end(self.mss[charge.lane], claim.host, turn)  # all the last may have come before

    def _taken(self, host: NodeId, charge: av2.Resident, turn: Turn) -> None:
        charge.queued += self.early.pop(host, [])


ALGORITHM = dataclasses.replace(
    av2.ALGORITHM,
    name="av2-printed",
    title="Alagar-Venkatesan algorithm 2 with notify at the registration, as printed",
    paper="AV section 5.2, as printed",
    roles={Role.STATION: SupportStation, Role.HOST: air.Host},
)
