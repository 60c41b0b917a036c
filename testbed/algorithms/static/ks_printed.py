"""KS as printed: RCV(4), first loop, with the index of the print.

Idea: the print marks o_{m,t} "if t < t' and l_{s,t'} not in LOG_j", which never holds, since
l_{s,t'} was just taken from LOG_j. Carried entries that the receiver knows to be settled come back
into its log. It still delivers in causal order, and carries redundant information: the tests show
the smallest run in which it does, and the size statistics show how much.
Paper: KS section 4.3, RCV(4) as printed.
Assumptions, packet and cost: as ks.
Departures: none from the print; `ks` follows the step's comment and its worked example in 4.4.
"""

from __future__ import annotations

import dataclasses

from testbed.algorithms.static import ks
from testbed.core.model import Role


class Process(ks.Process):
    def _merge_entries(self, mine: ks.Entries, theirs: ks.Entries) -> ks.Entries:
        """What I lack comes back, even if I know something newer; then times ascend again."""
        back = {time: left for time, left in theirs.items() if left and time not in mine}
        return dict(sorted((back | super()._merge_entries(mine, theirs)).items()))


ALGORITHM = dataclasses.replace(
    ks.ALGORITHM,
    name="ks-printed",
    title="Kshemkalyani-Singhal with RCV(4) as printed",
    paper="KS section 4.3, as printed",
    roles={Role.PROCESS: Process},
)
