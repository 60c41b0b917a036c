"""RST on the hosts themselves: what AV's first algorithm is there to avoid.

Idea: each host runs RST (rst.py) and its matrix crosses the air with every message, up once and
down to each destination. Stations relay (relay.py) and know no order.
Paper: AV section 1.1: "if mobile hosts are made to execute the traditional causal ordering
algorithms ... none of the above factors (F1 to F4) can be satisfied".
Assumptions: wires reliable, FIFO not needed; the air FIFO and reliable while the host is there.
A packet carries RST's n_h*n_h integers wherever it goes; up and over the wires the destinations
too, over the air a number.
Cost: n_h*n_h integers in the air per message sent and again per copy received (F2); the host's
own processor forms the maximum of two matrices per delivery (F1). A hand-off is two packets, with
a matrix for each frame that the host has not acknowledged.
Departures: as in rst.py. Where stations drop what comes for a disconnected host, they drop the
payload only: without the matrix everything after it would wait for ever (F4).
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from testbed.algorithms.mobile import air, relay
from testbed.algorithms.mobile.guest import Process
from testbed.algorithms.mobile.relay import Located
from testbed.algorithms.mobile.station import HandoffBegin
from testbed.algorithms.static import rst
from testbed.core.algorithm import Algorithm
from testbed.core.model import Message, Role


class Up(relay.Up, frozen=True, tag=1):
    """A message on its way from its host, with its matrix."""

    control: rst.Data


class Down(relay.Down, frozen=True, tag=3):
    """A message on its way to a host, with its matrix."""

    control: rst.Data


class Data(relay.Data, frozen=True, tag=11):
    """A message and its matrix, to the station of the hosts `dests`."""

    control: rst.Data


class HandoffOver(relay.HandoffOver, frozen=True, tag=12):
    """The frames of a host, and handoff_over(h)."""

    pend_ack: list[tuple[Message, Down]]


PACKETS = relay.Packets(Up, Down, Data, HandoffOver)


class SupportStation(relay.SupportStation):
    """Relays matrices; reads none."""

    packets = PACKETS


class Host(relay.Host):
    """Orders what comes down by RST."""

    process: ClassVar[Process] = rst.Process
    packets = PACKETS


ALGORITHM = Algorithm(
    name="host-rst",
    title="Raynal-Schiper-Toueg on the hosts, relayed by stations",
    paper="AV section 1.1",
    roles={Role.STATION: SupportStation, Role.HOST: Host},
    packets=(
        air.Register, Up, air.UpAck, Down, air.DownAck, air.Disconnect,
        HandoffBegin, Data, HandoffOver, Located,
    ),
    bare=(*air.BARE, HandoffBegin, HandoffOver, Located),
    handoff=(HandoffBegin, HandoffOver),
    size=lambda packet, own: relay.size(rst.ALGORITHM, packet),
    is_possible=partial(relay.is_possible, rst.ALGORITHM),
)  # fmt: skip
