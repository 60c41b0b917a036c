"""PRS without fixed stations: causal barriers on the wireless links.

Idea: each host runs PRS (prs.py) and multicasts by as many unicasts over the air, straight to the
other hosts (direct.py). The smaller what a message carries, the better for the air.
Paper: PRS section 9.3, "mobile computing systems with no fixed MSSs"; the algorithm is 5.2.
Assumptions: two hosts reach each other while both are in some cell, wherever the other is; a
reliable link below sends again what was lost because one of them was away; FIFO is not needed.
A packet carries what prs.py says, among n_h hosts.
Cost: as in prs.py, and one frame in the air per destination, acknowledgement and repetition.
Departures: none from 5.2. 9.3 leaves open what becomes of frames to a host that is away: the
sender keeps them, so a host that has left for long costs its partners memory and repetitions.
"""

from __future__ import annotations

from typing import ClassVar

from testbed.algorithms.mobile import direct
from testbed.algorithms.mobile.guest import Process
from testbed.algorithms.static import prs
from testbed.core.algorithm import Algorithm
from testbed.core.model import Role


class Host(direct.Host):
    """Orders what comes by causal barriers."""

    process: ClassVar[Process] = prs.Process


ALGORITHM = Algorithm(
    name="host-prs",
    title="Prakash-Raynal-Singhal on the hosts, without stations",
    paper="PRS section 9.3",
    roles={Role.HOST: Host},
    packets=(prs.Data,),
    size=prs.size,
    well_formed=prs.well_formed,
    refuses_self=prs.ALGORITHM.refuses_self,
)
