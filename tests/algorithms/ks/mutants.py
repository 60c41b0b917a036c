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


def _mutant(name: str, old: str, new: str, *kinds: str) -> KsMutant:
    return KsMutant(name, old, new, frozenset(kinds))


SND_MUTANTS = [
    _mutant(
        "SND(1) uses a time stamp twice",
        "self.clock += 1  # SND(1)",
        "self.clock += self.clock % 3 != 2 or message.number % 2",
        "order",
        "liveness",
        "missing",
        "redundant",
        "newest",
    ),
    _mutant(
        "SND(2) suppresses nothing",
        "rest = left & ~sent_to",
        "rest = left",
        "order",
        "redundant",
        "lemma 1",
        "size",
    ),
    _mutant(
        "SND(2) suppresses nothing, and each destination still finds itself",
        "shared += (sender, time, set_to_wire(rest) if rest else 0)",
        "shared += (sender, time, set_to_wire(left))",
        "redundant",
        "lemma 1",
        "size",
    ),
    _mutant(
        "SND(2) suppresses what a destination must know of itself",
        "part = own.setdefault(d, Own([], []))",
        "part = Own([], [])",
        "order",
        "missing",
        "size",
    ),
    _mutant(
        "SND(2) forgets entries that hold one destination alone",
        "part.purged.extend((sender, time))",
        "pass",
        "order",
        "liveness",
        "missing",
        "size",
    ),
    _mutant(
        "SND(2) does not restore a destination to a shared entry",
        "part.restored.append(len(shared) // 3 - 1)",
        "pass",
        "order",
        "missing",
        "size",
    ),
    _mutant(
        "SND(2) points at the first entry instead of the one to restore",
        "part.restored.append(len(shared) // 3 - 1)",
        "part.restored.append(0)",
        "order",
        "liveness",
        "missing",
        "redundant",
    ),
    _mutant(
        "SND(2) carries older entries that are empty",
        "is_kept = rest != 0 or time == next(reversed(entries))",
        "is_kept = True",
        "null",
        "lemma 7",
        "size",
    ),
    _mutant(
        "SND(2) drops an empty newest entry if an older one travels",
        "is_kept = rest != 0 or time == next(reversed(entries))",
        "is_kept = rest or time == next(reversed(entries)) and not any("
        "x & ~sent_to for x in entries.values())",
        "newest",
        "redundant",
        "size",
    ),
    _mutant(
        "SND(2) reads the log after SND(3) to SND(5)",
        "        shared, own = self._split_log(sent_to)\n",
        "        self._remember(sent_to)\n        shared, own = self._split_log(sent_to)\n",
        "liveness",
        "redundant",
        "newest",
        "missing",
    ),
    _mutant(
        "SND(3) left out",
        "entries[time] = left & ~sent_to",
        "pass",
        "redundant",
        "lemma 1",
        "size",
    ),
    _mutant(
        "SND(3) looks at one's own messages alone",
        "for entries in self.log:  # SND(3)",
        "for entries in self.log[self.me : self.me + 1]:  # SND(3)",
        "redundant",
        "size",
    ),
    _mutant(
        "SND(3) empties an entry that the message touches",
        "entries[time] = left & ~sent_to",
        "entries[time] = 0",
        "order",
        "missing",
        "size",
    ),
    _mutant(
        "SND(4) before SND(3), which then empties the new entry",
        "self.log[self.me][self.clock] = sent_to  # SND(4)",
        "self.log[self.me][self.clock] = 0",
        "order",
        "missing",
        "size",
    ),
    _mutant(
        "SND(4) left out",
        "self.log[self.me][self.clock] = sent_to  # SND(4)",
        "pass",
        "order",
        "missing",
        "newest",
        "size",
    ),
    _mutant(
        "SND(5) left out",
        "for entries in self.log:  # SND(5)",
        "for entries in list[Entries]():  # SND(5)",
        "null",
        "lemma 7",
    ),
    _mutant(
        "SND(5) drops an empty newest entry if an older one stays",
        "if not left and t != newest]",
        "if not left and (t != newest or any(entries.values()))]",
        "newest",
        "lemma 2",
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
        "RCV(1) overlooks the restored entries",
        "needs = [(log[3 * at], log[3 * at + 1]) for at in own.restored]",
        "needs = []",
        "order",
    ),
    _mutant(
        "RCV(1) overlooks the purged entries",
        "needs += zip(own.purged[::2], own.purged[1::2], strict=True)",
        "pass",
        "order",
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
        "not_me = ~(1 << self.me)",
        "not_me = -1",
        "redundant",
        "size",
    ),
    _mutant(
        "RCV(3) takes the sender out instead of the receiver",
        "not_me = ~(1 << self.me)",
        "not_me = ~(1 << k)",
        "order",
        "redundant",
        "missing",
        "size",
    ),
    _mutant(
        "RCV(3) does not add the message itself",
        "carried.setdefault(k, {})[packet.clock] = set_from_wire(packet.dests) & not_me",
        "pass",
        "order",
        "missing",
        "redundant",
        "newest",
    ),
    _mutant(
        "RCV(3) adds the message itself as settled",
        "carried.setdefault(k, {})[packet.clock] = set_from_wire(packet.dests) & not_me",
        "carried.setdefault(k, {})[packet.clock] = 0",
        "order",
        "missing",
        "size",
    ),
    _mutant(
        "RCV(4) loop 1 deletes nothing from O_M (the print)",
        "log[sender] = self._merge_entries(log[sender], theirs)",
        "back = {t: left for t, left in theirs.items() if left and t not in log[sender]}\n"
        "                both = back | self._merge_entries(log[sender], theirs)\n"
        "                log[sender] = dict(sorted(both.items()))",
        "redundant",
        "lemma 1",
        "lemma 4",
        "size",
    ),
    _mutant(
        "RCV(4) loop 1 deletes nothing from the log",
        "log[sender] = self._merge_entries(log[sender], theirs)",
        "back = {t: left for t, left in log[sender].items() if left and t not in theirs}\n"
        "                both = back | self._merge_entries(log[sender], theirs)\n"
        "                log[sender] = dict(sorted(both.items()))",
        "redundant",
        "lemma 1",
        "size",
    ),
    _mutant(
        "RCV(4) loop 1 deletes nothing from the side that knows the newest",
        "elif time <= theirs_newest:",
        "elif time < 0:",
        "redundant",
        "lemma 4",
        "size",
    ),
    _mutant(
        "RCV(4) loop 1 deletes what is newer than all that the other knows",
        "elif time <= theirs_newest:",
        "elif time != mine_newest:",
        "order",
        "missing",
        "size",
    ),
    _mutant(
        "RCV(4) loop 2 takes the union",
        "left &= theirs[time]",
        "left |= theirs[time]",
        "redundant",
        "lemma 1",
        "lemma 4",
        "size",
    ),
    _mutant(
        "RCV(4) loop 2 keeps one side",
        "left &= theirs[time]",
        "pass",
        "redundant",
        "lemma 4",
        "size",
    ),
    _mutant(
        "RCV(4) skips O_M, the message itself apart",
        "for sender, theirs in self._carried(k, packet).items():",
        "for sender, theirs in [(k, {packet.clock: self._carried(k, packet)[k][packet.clock]})]:",
        "order",
        "missing",
        "redundant",
        "newest",
    ),
    _mutant(
        "RCV(5) left out",
        "if left or time == mine_newest:  # RCV(5)",
        "if True:  # RCV(5)",
        "null",
        "lemma 7",
    ),
    _mutant(
        "RCV(5) drops an empty newest entry if an older one stays",
        "if left or time == mine_newest:  # RCV(5)",
        "if left or not merged and time == mine_newest:  # RCV(5)",
        "newest",
        "redundant",
        "lemma 2",
        "size",
    ),
]

SIZE_MUTANTS = [
    _mutant("size counts restored entries as empty", "empty -= sum(", "empty -= 0 * sum(", "size"),
    _mutant("size forgets entries of the own part", "entries += alone", "pass", "size"),
    _mutant(
        "size forgets units of the own part", "units += alone + len(own.restored)", "pass", "size"
    ),
    _mutant("size forgets the header", "ints = 4 +", "ints = 3 +", "size"),
]

MUTANTS = SND_MUTANTS + RCV_MUTANTS + SIZE_MUTANTS
