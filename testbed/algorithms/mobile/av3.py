"""Alagar, Venkatesan, algorithm 3: k logical stations in every station.

Idea: algorithm 2 holds a message back for whatever else is on its way to the same station. Here
each station is k logical ones, each with arrays of its own and a share of the hosts, so that
hosts of different logical stations do not wait for each other's messages. k=1 is algorithm 2.
Paper: AV section 6.
Assumptions: as av2.
A packet carries between stations the matrix of (k*n_s)*(k*n_s) integers, and from and to which
logical station it goes, which algorithm 2 sees from the wire; the rest as av2.
Cost: (k*n_s)^2 integers per packet on the wires; a hand-off is 2*k*(n_s - 1) + 3 packets: all
logical stations get notify and answer last, but what stays within a station crosses no wire.
Departures: as av2. A host that enters goes to the logical station with the fewest hosts, those
that are awaited included, the first of equals; at the start the hosts of a cell are dealt out in
turn. A host that comes back before anybody asked for it stays where it was. handoff_begin goes
between the first logical stations of both, since s_j cannot know which one of s_i has the host.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Annotated

import msgspec

from testbed.algorithms.mobile import air, av2
from testbed.core.model import NodeId, Role
from testbed.core.node import Packet, Turn, View


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """av3[k=...]"""

    k: Annotated[int, msgspec.Meta(ge=1)] = 2
    """Logical stations per station."""


class SupportStation(av2.SupportStation):
    def __init__(self, view: View) -> None:
        self.k = view.params.k
        self.allotted: dict[NodeId, int] = {}  # hosts that are awaited here
        super().__init__(view)

    def _first_locations(self, view: View) -> dict[NodeId, int]:
        dealt: Counter[NodeId] = Counter()
        locations = {}
        for host, station in view.cells.items():
            locations[host] = station * self.k + dealt[station] % self.k
            dealt[station] += 1
        return locations

    def _allot(self, host: NodeId) -> int:
        if host not in self.allotted:
            load = Counter(resident.lane for resident in self.custody.owned.values())
            load.update(self.allotted.values())
            self.allotted[host] = min(range(self.k), key=load.__getitem__)
        return self.allotted[host]

    def _taken(self, host: NodeId, charge: av2.Resident, turn: Turn) -> None:
        self.allotted.pop(host, None)
        super()._taken(host, charge, turn)


def possible_with(params: Params) -> Callable[[Packet, int, int], bool]:
    return partial(av2.is_possible_with, params.k)


ALGORITHM = dataclasses.replace(
    av2.ALGORITHM,
    name="av3",
    title="Alagar-Venkatesan algorithm 3: a matrix of k logical stations in each",
    paper="AV section 6",
    params=Params,
    roles={Role.STATION: SupportStation, Role.HOST: air.Host},
    is_possible=possible_with(Params()),
    possible_with=possible_with,
)
