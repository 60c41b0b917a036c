"""PRS on the hosts themselves, over stations: the barrier where host-rst has its matrix.

Idea: each host runs PRS (prs.py) and its barrier crosses the air with every message, up once and
down to each destination. Stations relay (relay.py) and know no order.
Paper: PRS section 9.3: the strategy "does not preclude ... solutions where MSSs do not act as
proxies"; there "the advantages of the proposed algorithm will be more pronounced".
Assumptions: as for host-rst.
A packet carries what prs.py says, among n_h hosts; up and over the wires the destinations too,
over the air a number.
Cost: as for host-rst, with the barrier in the place of the matrix.
Departures: none from 5.2; what is dropped for a disconnected host is the payload only.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from testbed.algorithms.mobile import air, relay
from testbed.algorithms.mobile.guest import Process
from testbed.algorithms.mobile.relay import Located
from testbed.algorithms.mobile.station import HandoffBegin
from testbed.algorithms.static import prs
from testbed.core.algorithm import Algorithm
from testbed.core.model import Message, Role


class Up(relay.Up, frozen=True, tag=1):
    """A message on its way from its host, with its barrier."""

    control: prs.Data


class Down(relay.Down, frozen=True, tag=3):
    """A message on its way to a host, with its barrier."""

    control: prs.Data


class Data(relay.Data, frozen=True, tag=11):
    """A message and its barrier, to the station of the hosts `dests`."""

    control: prs.Data


class HandoffOver(relay.HandoffOver, frozen=True, tag=12):
    """The frames of a host, and handoff_over(h)."""

    pend_ack: list[tuple[Message, Down]]


PACKETS = relay.Packets(Up, Down, Data, HandoffOver)


class SupportStation(relay.SupportStation):
    """Relays barriers; reads none."""

    packets = PACKETS


class Host(relay.Host):
    """Orders what comes down by causal barriers."""

    process: ClassVar[Process] = prs.Process
    packets = PACKETS


ALGORITHM = Algorithm(
    name="host-prs-relayed",
    title="Prakash-Raynal-Singhal on the hosts, relayed by stations",
    paper="PRS sections 5.2 and 9.3",
    roles={Role.STATION: SupportStation, Role.HOST: Host},
    packets=(
        air.Register, Up, air.UpAck, Down, air.DownAck, air.Disconnect,
        HandoffBegin, Data, HandoffOver, Located,
    ),
    bare=(*air.BARE, HandoffBegin, HandoffOver, Located),
    handoff=(HandoffBegin, HandoffOver),
    size=lambda packet, own: relay.size(prs.ALGORITHM, packet),
    is_possible=partial(relay.is_possible, prs.ALGORITHM),
    refuses_self=prs.ALGORITHM.refuses_self,
)  # fmt: skip
