"""RST without fixed stations: the matrix where host-prs has its barrier.

Idea: each host runs RST (rst.py) and multicasts by as many unicasts over the air, straight to the
other hosts (direct.py): the same frames as host-prs, which only differ in what they carry.
Paper: GK section 2.1 for the algorithm, PRS section 9.3 for the network.
Assumptions: as for host-prs.
A packet carries n_h*n_h integers.
Cost: n_h*n_h integers in the air per copy, and again with every repetition.
Departures: as in rst.py.
"""

from __future__ import annotations

from typing import ClassVar

from testbed.algorithms.mobile import direct
from testbed.algorithms.mobile.guest import Process
from testbed.algorithms.static import rst
from testbed.core.algorithm import Algorithm
from testbed.core.model import Role


class Host(direct.Host):
    """Orders what comes by the matrix."""

    process: ClassVar[Process] = rst.Process


ALGORITHM = Algorithm(
    name="host-rst-direct",
    title="Raynal-Schiper-Toueg on the hosts, without stations",
    paper="PRS section 9.3, GK section 2.1",
    roles={Role.HOST: Host},
    packets=(rst.Data,),
    size=rst.size,
    well_formed=rst.ALGORITHM.well_formed,
)
