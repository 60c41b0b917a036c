"""Mutants of ks: one step left out or altered each, and exactly the kinds of finding it causes.

Order alone hardly sees a wrong `ks`: most of these deliver everything in causal order, and only a
count of what is missing or redundant tells them from the right one.
"""

from __future__ import annotations

from typing import NamedTuple


class KsMutant(NamedTuple):
    name: str
    old: str
    """Text that occurs once in ks.py."""
    new: str
    kinds: str
    """What the batch finds, comma separated, as `batch.py` names it."""


MUTANTS = [
    KsMutant(
        "SND(1) does not advance the clock for a message to one destination",
        "self.clock += 1  # SND(1)",
        "self.clock += 1 if len(dests) > 1 or not self.clock else 0",
        "",
    ),
    KsMutant(
        "SND(2) suppresses nothing",
        "shared += (sender, time, set_to_wire(left & ~sent_to))",
        "shared += (sender, time, set_to_wire(left))",
        "",
    ),
    KsMutant(
        "SND(2) suppresses the destination's own information, too",
        "concerned = left & sent_to",
        "concerned = 0",
        "",
    ),
    KsMutant(
        "SND(2) tells a destination of itself only where others stand beside it",
        "part.purged.extend((sender, time))",
        "pass",
        "",
    ),
    KsMutant(
        "SND(2) does not restore a destination where others stand beside it",
        "part.restored.append(len(shared) // 3 - 1)",
        "pass",
        "",
    ),
    KsMutant(
        "SND(2) points at the entry after the one that it restores",
        "part.restored.append(len(shared) // 3 - 1)",
        "part.restored.append(min(len(shared) // 3, self.n - 1))",
        "",
    ),
    KsMutant(
        "SND(2) carries empty entries",
        "if kept := left & ~sent_to or time == newest:",
        "if kept := True:",
        "",
    ),
    KsMutant(
        "SND(2) reads the log after SND(3) and SND(4)",
        "        shared, own = self._split_log(sent_to)\n",
        "        self._remember(sent_to)\n        shared, own = self._split_log(sent_to)\n",
        "",
    ),
    KsMutant(
        "SND(3) left out",
        "entries[time] = left & ~sent_to",
        "pass",
        "",
    ),
    KsMutant(
        "SND(3) only for one's own messages",
        "        for entries in self.log:  # SND(3)",
        "        for entries in self.log[self.me : self.me + 1]:  # SND(3)",
        "",
    ),
    KsMutant(
        "SND(3) deletes what SND(2) suppressed for all but one destination",
        "entries[time] = left & ~sent_to",
        "entries[time] = left & ~(sent_to & (sent_to - 1) or sent_to)",
        "",
    ),
    KsMutant(
        "SND(3) empties the whole entry",
        "entries[time] = left & ~sent_to",
        "entries[time] = 0",
        "",
    ),
    KsMutant(
        "SND(4) before SND(3)",
        "        for entries in self.log:  # SND(3)",
        "        self.log[self.me][self.clock] = sent_to\n        for entries in self.log:  # SND(3)",
        "",
    ),
    KsMutant(
        "SND(4) left out",
        "self.log[self.me][self.clock] = sent_to  # SND(4)",
        "pass",
        "",
    ),
]
