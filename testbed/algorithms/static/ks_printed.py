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
from testbed.core.model import NodeId, Role


class Process(ks.Process):
    def _merge(self, k: NodeId, packet: ks.Data) -> None:
        """What I lack comes back, even if I know something newer; then times ascend again."""
        before = [self.entries(sender) for sender in range(self.n)]
        super()._merge(k, packet)
        carried = zip(*self._carried(k, packet), strict=True)
        for sender, (newest, dests, older) in enumerate(carried):
            theirs = older | {newest: dests}
            back = {t: left for t, left in theirs.items() if left and t not in before[sender]}
            self.replace_entries(sender, dict(sorted((back | self.entries(sender)).items())))


ALGORITHM = dataclasses.replace(
    ks.ALGORITHM,
    name="ks-printed",
    title="Kshemkalyani-Singhal with RCV(4) as printed",
    paper="KS section 4.3, as printed",
    roles={Role.PROCESS: Process},
)
