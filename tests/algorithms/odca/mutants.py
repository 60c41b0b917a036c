"""Changes to the deadline algorithms, and what catches each of them.

What all of them share, and what odca is made of, are files of their own: a mutant of such a file is
loaded as a module, and its algorithm again with that module in its place.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from testbed.algorithms.deadline import gaps, kept, odca, pending
from testbed.core.algorithm import Algorithm
from tests.algorithms.odca.printed_schedules import FORCED_PAST, replay
from tests.deadline_schedules import FAIR, ROUGH, Weather, play, ratio
from tests.deadline_stage import MS, Stage
from tests.mutation import Mutant, mutate

LOSSY = Weather(loss=0.3, duplicate=0, lifetimes=(400,), skew_ms=0)
TIGHT = Weather(room=120)
LATE = Weather(late_timers=0.5, lifetimes=(5, 20, 200))
SCHEDULES = 60

_PARTS: tuple[ModuleType, ...] = (pending, kept, gaps)


def mutate_part(part: ModuleType, mutant: Mutant, whole: ModuleType = odca) -> Algorithm:
    """The algorithm of `whole`, made of this part with the mutant's change."""
    assert part in _PARTS
    assert part.__file__ is not None
    source = Path(part.__file__).read_text()
    found = source.count(mutant.old)
    assert found == 1, f"mutant '{mutant.name}': its text occurs {found} times in {part.__name__}"
    name = "_".join((part.__name__, "mutant", re.sub(r"\W", "_", mutant.name)))
    spec = spec_from_loader(name, loader=None)
    assert spec is not None
    changed = sys.modules[name] = module_from_spec(spec)
    exec(compile(source.replace(mutant.old, mutant.new), name, "exec"), changed.__dict__)
    line = f"from {part.__name__} import"
    return mutate(whole, Mutant(mutant.name, line, f"from {name} import", mutant.caught_by))


def _any(weather: Weather, shows: Callable[[Stage], bool], algorithm: Algorithm) -> bool:
    return any(
        shows(play(algorithm, seed, n=3 + seed % 3, weather=weather)) for seed in range(SCHEDULES)
    )


def _repaired(algorithm: Algorithm) -> float:
    """Delivered where only repair can deliver."""
    return sum(ratio(play(algorithm, seed, n=4, weather=LOSSY)) for seed in range(20))


def _delivered(algorithm: Algorithm) -> float:
    """Delivered in ordinary weather."""
    return sum(ratio(play(algorithm, seed, n=4)) for seed in range(60))


def is_caught(algorithm: Algorithm, caught_by: str) -> bool:
    """Whether this kind of fault shows in some schedule."""
    checks: dict[str, Callable[[], bool]] = {
        "inversion": lambda: _any(ROUGH, lambda s: "inversion" in s.kinds(), algorithm),
        "twice": lambda: _any(ROUGH, lambda s: "twice" in s.kinds(), algorithm),
        "late": lambda: _any(LATE, lambda s: "late" in s.kinds(), algorithm),
        "silence": lambda: _any(ROUGH, lambda s: s.unexplained() != [], algorithm),
        "never": lambda: _any(FAIR, _is_slow, algorithm),
        "forced past": lambda: "inversion" in replay(FORCED_PAST, algorithm).kinds(),
        "waste": lambda: _any(ROUGH, lambda s: s.wasted != [], algorithm),
        "room": lambda: _any(TIGHT, lambda s: s.peak_bytes > 120, algorithm),
        "leftovers": lambda: _any(ROUGH, _has_leftovers, algorithm),
        "repair": lambda: _repaired(algorithm) < _repaired(odca.ALGORITHM) - 0.02,
        "fewer": lambda: _delivered(algorithm) < 0.99 * _delivered(odca.ALGORITHM),
        "raises": lambda: _raises(algorithm),
        "flood": lambda: _solicitations(algorithm) > 1.1 * _solicitations(odca.ALGORITHM),
    }
    return checks[caught_by]()


def _raises(algorithm: Algorithm) -> bool:
    """It fails over its own state, or its timers never end."""
    try:
        _any(ROUGH, lambda stage: not stage.nodes, algorithm)
    except (LookupError, AssertionError):
        return True
    return False


def _is_slow(stage: Stage) -> bool:
    """Something that came in time was not delivered, or only at its deadline."""
    deliveries = [delivery for deliveries in stage.delivered for delivery in deliveries]
    return ratio(stage) < 1 or any(delivery.shown > 500_000 * MS for delivery in deliveries)


def _has_leftovers(stage: Stage) -> bool:
    """A node holds or keeps something when everything is over."""
    alive = [node for me, node in enumerate(stage.nodes) if me not in stage.crashed]
    return any(node.held() or node.buffered_bytes() for node in alive)


def _solicitations(algorithm: Algorithm) -> int:
    """How many gaps were asked for."""
    stages = [play(algorithm, seed, n=4, weather=LOSSY) for seed in range(20)]
    return sum(len(p.gaps) for stage in stages for _, _, p in stage.packets_of("Solicit"))


PENDING = (
    Mutant("times not above the past", "max(now // MICROSECOND, self._latest + 1)",
           "max(now // MICROSECOND, self.past[self.me] + 1)", "inversion"),
    Mutant("times not increasing", "max(now // MICROSECOND, self._latest + 1)",
           "now // MICROSECOND", "raises"),
    Mutant("the sender's own gap ignored", "        if entry.previous > passed[j]:\n",
           "        if False:\n", "never"),
    Mutant("the past ignored", "for k in ahead if k != j]", "for k in ahead if k < 0]",
           "inversion"),
    Mutant("duplicates let in", " or key in self._delivered or key in self.waiting:", ":",
           "raises"),
    Mutant("late arrivals let in", "elif entry.deadline <= turn.now:\n            turn.discard"
           '(entry.message, "expired")\n            if', "elif False:\n            turn.discard"
           '(entry.message, "expired")\n            if', "late"),
    Mutant("the overtaken let in", "        elif entry.time <= self.passed[entry.sender]:\n"
           '            turn.discard(entry.message, "overtaken")\n        elif not',
           "        elif not", "raises"),
    Mutant("what waits is looked at once", "while (entry := self._queue.pop()) is not None:",
           "if (entry := self._queue.pop()) is not None:", "never"),
    Mutant("waiting is endless", "while (due := self.next_due()) is not None and due <= turn.now:",
           "while False:", "raises"),
    Mutant("deadlines act afterwards", "(entry.deadline - MARGIN, j, entry.time)",
           "(entry.deadline + MARGIN, j, entry.time)", "fewer"),
    Mutant("queue not checked for its deadline", "entry.is_expired or entry.deadline <= turn.now:",
           "entry.is_expired:", "late"),
    Mutant("companions in the wrong order", "key=lambda e: (e.time, e.sender)",
           "key=lambda e: (-e.time, e.sender)", "inversion"),
    Mutant("companions left behind", "if times and times[0] <= entry.vector[k]",
           "if times and k == entry.sender", "waste"),
    Mutant("what is missing not overtaken", "            if self.passed[k] < x:\n"
           "                self.passed[k] = x\n                self._queue.advanced(k)\n", "",
           "inversion"),
    Mutant("a forced past not passed on", "            self.past[k] = max(self.past[k], x)\n"
           "            if self.passed", "            if self.passed", "forced past"),
    Mutant("room not looked at", "return self.room is None or self.bytes +",
           "return True or self.bytes +", "room"),
)  # fmt: skip

PARTS = (
    (kept, Mutant("nothing collected", "while self._deadlines and self._deadlines[0][0] <= now:",
                  "while False:", "raises")),
    (kept, Mutant("bytes not given back", "self.bytes -= len(self._entries.pop((k, time))"
                  ".message.payload)", "self._entries.pop((k, time))", "leftovers")),
    (gaps, Mutant("asked again at every chance", "gap for gap in gaps if gap.after < time <= "
                  "gap.upto", "gap for gap in gaps if False", "flood")),
    (gaps, Mutant("never asked twice", "self._wait(gap, now + min(1 << gap.tries, GROWTH_MAX)"
                  " * self._retry)", "pass", "repair")),
    (gaps, Mutant("asks for the last alone", "after < time <= upto for k", "time == upto for k",
                  "repair")),
)  # fmt: skip

WHOLE = (
    Mutant("B-SEND keeps nothing", "        self._keep(Entry(message, vector, previous))\n", "",
           "repair"),
    Mutant("SOLICIT-RECV as printed", "found += self.kept.between(k, after, upto)",
           "found += self.kept.between(k, after, upto - 1)", "repair"),
    Mutant("RPY-RECV forgets the queue", "            self._receive(Entry(message, reply.vector, "
           "reply.previous), turn)", "            pass", "repair"),
    Mutant("nobody asked", "for solicited in self.gaps.solicit(turn.now, self._is_missed):",
           "for solicited in ():", "raises"),
    Mutant("never collected", "            self.kept.collect(turn.now)\n        self._settle(turn)",
           "            pass\n        self._settle(turn)", "raises"),
    Mutant("kept without looking for room", "if self.room is None or self.buffered_bytes() + len("
           "entry.message.payload) <= self.room:", "if True:", "room"),
    Mutant("deadlines without a timer", 'rearm("deadline", armed["deadline"], '
           'self.pending.next_due(), turn)', "None", "silence"),
)  # fmt: skip
