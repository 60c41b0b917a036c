"""Mutants of ks: one step left out or altered each, and the kinds of finding that catch it.

Order alone hardly sees a wrong `ks`: many of these deliver everything in causal order, and only a
count of what is missing or redundant tells them from the right one. The kinds are those that
`batch.py` names; the audit's are `order` and `liveness`, `size` is a wrong count of sizes.
"""

from __future__ import annotations

from typing import NamedTuple


class KsMutant(NamedTuple):
    name: str
    old: str
    """Text that occurs once in ks.py."""
    new: str
    kinds: frozenset[str]
    """All of these must be found; none of the audit's may be if none is named."""


def _mutant(name: str, old: str, new: str, kinds: str) -> KsMutant:
    return KsMutant(name, old, new, frozenset(kinds.split(", ")))


SND_MUTANTS = [
    _mutant(
        "SND(1) uses a time stamp twice",
        "self.clock += 1  # SND(1)",
        "self.clock += self.clock % 3 != 2 or message.number % 2",
        "order, missing, redundant, newest, lemma 4",
    ),
    _mutant(
        "SND(2) suppresses nothing in newest entries",
        "left = [set_to_wire(dests & ~sent_to) for dests in self.left]",
        "left = [set_to_wire(dests) for dests in self.left]",
        "redundant, lemma 1, size",
    ),
    _mutant(
        "SND(2) suppresses nothing in older entries",
        "older += (sender, time, set_to_wire(rest))",
        "older += (sender, time, set_to_wire(dests))",
        "redundant, lemma 1, size",
    ),
    _mutant(
        "SND(2) suppresses what a destination must know of itself",
        "return packet, {d: part for d, part in own.items() if part.newest or part.older}",
        "return packet, {}",
        "order, missing, size",
    ),
    _mutant(
        "SND(2) forgets entries that hold one destination alone",
        "own[d].older.extend((sender, time))",
        "own[d].older.extend((sender, time) if rest else ())",
        "order, liveness, missing, size",
    ),
    _mutant(
        "SND(2) does not restore a destination to a shared older entry",
        "own[d].older.extend((sender, time))",
        "own[d].older.extend(() if rest else (sender, time))",
        "order, liveness, missing, size",
    ),
    _mutant(
        "SND(2) does not restore a destination to a newest entry",
        "own[d].newest.append(sender)",
        "pass",
        "order, liveness, missing, size",
    ),
    _mutant(
        "SND(2) points at the first sender instead of the one to restore",
        "own[d].newest.append(sender)",
        "own[d].newest.append(0)",
        "order, liveness, missing, redundant, lemma 1, size",
    ),
    _mutant(
        "SND(2) carries older entries that are empty",
        "if rest := dests & ~sent_to:",
        "if (rest := dests & ~sent_to) or True:",
        "null, lemma 7, size",
    ),
    _mutant(
        "SND(2) hands out a vector that SND(4) changes",
        "self.newest[:], left, older)",
        "self.newest, left, older)",
        "order, liveness, missing, redundant, newest, size",
    ),
    _mutant(
        "SND(2) reads the log after SND(3) to SND(5)",
        "        packet, own = self._split_log(sent_to)\n",
        "        self._remember(sent_to)\n        packet, own = self._split_log(sent_to)\n",
        "liveness, missing, redundant, newest, size",
    ),
    _mutant(
        "SND(3) left out for newest entries",
        "self.left = [dests & ~sent_to for dests in self.left]",
        "pass",
        "redundant, lemma 1, size",
    ),
    _mutant(
        "SND(3) left out for older entries",
        "rests = {time: dests & ~sent_to for",
        "rests = {time: dests for",
        "redundant, lemma 1, size",
    ),
    _mutant(
        "SND(3) looks at one's own messages alone",
        "            if entries:\n",
        "            if entries and sender == self.me:\n",
        "redundant, size",
    ),
    _mutant(
        "SND(3) empties an entry that the message touches",
        "self.left = [dests & ~sent_to for dests in self.left]",
        "self.left = [0 if dests & sent_to else dests for dests in self.left]",
        "order, liveness, missing, size",
    ),
    _mutant(
        "SND(4) before SND(3), which then empties the new entry",
        "= self.clock, sent_to  # SND(4)",
        "= self.clock, 0",
        "order, liveness, missing, size",
    ),
    _mutant(
        "SND(4) left out",
        "        if self.left[me]:\n"
        "            self.older[me] = self.entries(me)\n"
        "        self.newest[me], self.left[me] = self.clock, sent_to  # SND(4)\n",
        "",
        "order, liveness, missing, redundant, newest, size",
    ),
    _mutant(
        "SND(4) forgets the entry that was the newest",
        "        if self.left[me]:\n",
        "        if False:\n",
        "order, liveness, missing, size",
    ),
    _mutant(
        "SND(5) left out for what was the newest",
        "        if self.left[me]:\n",
        "        if True:\n",
        "null, lemma 7",
    ),
    _mutant(
        "SND(5) left out for older entries",
        "for time, rest in rests.items() if rest}",
        "for time, rest in rests.items()}",
        "null, lemma 7",
    ),
]

RCV_MUTANTS = [
    _mutant(
        "RCV(1) left out",
        "if own is None:\n        return []",
        "if True:\n        return []",
        "order",
    ),
    _mutant(
        "RCV(1) overlooks the newest entries",
        "*((sender, newest[sender]) for sender in own.newest),",
        "",
        "order, liveness",
    ),
    _mutant(
        "RCV(1) overlooks the older entries",
        "*zip(own.older[::2], own.older[1::2], strict=True),",
        "",
        "order, liveness",
    ),
    _mutant(
        "RCV(1) looks again at nothing after a delivery",
        "self.queue.advanced(ready.source)",
        "pass",
        "liveness",
    ),
    _mutant(
        "RCV(2) does not store SR",
        "self.sr[ready.source] = ready.packet.clock",
        "pass",
        "liveness",
    ),
    _mutant(
        "RCV(2) counts in SR",
        "self.sr[ready.source] = ready.packet.clock",
        "self.sr[ready.source] += 1",
        "liveness",
    ),
    _mutant(
        "RCV(3) does not take the receiver out",
        "set_from_wire(packet.dests) & ~(1 << self.me)",
        "set_from_wire(packet.dests)",
        "redundant, size",
    ),
    _mutant(
        "RCV(3) takes the sender out instead of the receiver",
        "set_from_wire(packet.dests) & ~(1 << self.me)",
        "set_from_wire(packet.dests) & ~(1 << k)",
        "order, missing, redundant, size",
    ),
    _mutant(
        "RCV(3) does not add the message itself",
        "        if left[k]:\n"
        "            older[k] = older[k] | {newest[k]: left[k]}\n"
        "        newest[k] = packet.clock\n"
        "        left[k] = set_from_wire(packet.dests) & ~(1 << self.me)\n",
        "",
        "order, missing, redundant, newest, size",
    ),
    _mutant(
        "RCV(3) adds the message itself as settled",
        "left[k] = set_from_wire(packet.dests) & ~(1 << self.me)",
        "left[k] = 0",
        "order, missing, size",
    ),
    _mutant(
        "RCV(3) forgets what was the sender's newest entry",
        "        if left[k]:\n",
        "        if False:\n",
        "order, missing, size",
    ),
    _mutant(
        "RCV(4) loop 1 deletes nothing from O_M",
        "older[sender] = _unsettled(mine, time, dests, theirs)",
        "both = theirs | _unsettled(mine, time, dests, theirs)\n"
        "                older[sender] = dict(sorted(both.items()))",
        "redundant, lemma 1, lemma 4, size",
    ),
    _mutant(
        "RCV(4) loop 1 deletes nothing from the log",
        "older[sender] = _unsettled(theirs, my_time, my_dests, mine)",
        "both = mine | _unsettled(theirs, my_time, my_dests, mine)\n"
        "                    older[sender] = dict(sorted(both.items()))",
        "redundant, lemma 1, size",
    ),
    _mutant(
        "RCV(4) loop 1 deletes nothing from the side that knows the newest",
        "elif t < time:",
        "elif t < 0:",
        "redundant, lemma 4, size",
    ),
    _mutant(
        "RCV(4) loop 1 deletes what is newer than all that the other knows",
        "elif t < time:",
        "else:",
        "order, missing, size",
    ),
    _mutant(
        "RCV(4) loop 1 deletes what the other side has as its newest",
        "        elif t == time:\n            mine &= dests\n        elif t < time:",
        "        elif t <= time:",
        "order, missing, size",
    ),
    _mutant(
        "RCV(4) loop 1 leaves a newest entry that is not the newest any more",
        "newest[sender], left[sender] = time, dests",
        "newest[sender], left[sender] = time, dests | my_dests",
        "liveness, redundant, lemma 1, size",
    ),
    _mutant(
        "RCV(4) loop 2 takes the union of older entries",
        "mine &= older[t]",
        "mine |= older[t]",
        "redundant, lemma 1, lemma 4",
    ),
    _mutant(
        "RCV(4) loop 2 keeps one side of older entries",
        "mine &= older[t]",
        "pass",
        "redundant",
    ),
    _mutant(
        "RCV(4) loop 2 takes the union of newest entries",
        "left[sender] = my_dests & dests",
        "left[sender] = my_dests | dests",
        "redundant, lemma 4, size",
    ),
    _mutant(
        "RCV(4) loop 2 keeps one side of newest entries",
        "left[sender] = my_dests & dests",
        "pass",
        "redundant, size",
    ),
    _mutant(
        "RCV(4) skips O_M, the message itself apart",
        "for sender, (time, dests, theirs) in enumerate(carried):",
        "for sender, (time, dests, theirs) in [(k, list(carried)[k])]:",
        "missing, redundant, newest, size",
    ),
    _mutant(
        "RCV(5) left out",
        "if mine:  # RCV(5)",
        "if True:  # RCV(5)",
        "null, lemma 7",
    ),
]

SIZE_MUTANTS = [
    _mutant(
        "size counts restored entries as empty",
        "empty -= sum(",
        "empty -= 0 * sum(",
        "size",
    ),
    _mutant(
        "size forgets entries of the own part",
        "entries += len(mine) - len(stamps.intersection(mine))",
        "entries += 0",
        "size",
    ),
    _mutant(
        "size counts entries twice that are shared and own",
        "len(mine) - len(stamps.intersection(mine))",
        "len(mine)",
        "size",
    ),
    _mutant(
        "size forgets units of the own part",
        "units += len(own.newest) + len(mine)",
        "pass",
        "size",
    ),
    _mutant(
        "size forgets the header",
        "ints = 4 +",
        "ints = 3 +",
        "size",
    ),
]

MUTANTS = SND_MUTANTS + RCV_MUTANTS + SIZE_MUTANTS
