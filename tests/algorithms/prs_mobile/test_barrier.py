"""The barrier kept for a host is the one that PRS 5.2 keeps for a process, row by row."""

from __future__ import annotations

from itertools import count

import pytest

from testbed.algorithms.mobile import barrier
from testbed.algorithms.mobile.barrier import Past, are_rows, from_wire, to_wire
from testbed.algorithms.static import prs
from tests.mutation import Mutant, mutated
from tests.scene import Scene
from tests.schedules import from_seed, play

N = 5


def first_difference(past_of: type[Past], seed: int) -> str | None:
    """Static PRS and these barriers side by side; at which event they first disagree."""
    scene = Scene(prs.ALGORITHM, N)
    pasts = [past_of(me) for me in range(N)]
    differences: list[str] = []
    events = count()

    def compare(me: int) -> None:
        node, past = scene.node(me), pasts[me]
        cb = {k: row for k, row in enumerate(node.cb) if row}
        delivered = {
            k: {j: x for j, x in enumerate(row) if x} for k, row in enumerate(node.delivered)
        }
        mine = {k: row for k, row in past.delivered.items() if row}
        theirs = {k: row for k, row in delivered.items() if row}
        event = next(events)
        if (past.cb, mine, past.sent) != (cb, theirs, node.sent):
            differences.append(f"event {event} at p{me}: {past.cb} against {cb}")
        if past.tuples != sum(map(len, cb.values())):
            differences.append(f"event {event} at p{me}: {past.tuples} tuples counted")
        if from_wire(to_wire(past.cb)) != past.cb:
            differences.append(f"event {event} at p{me}: another barrier behind the wire")

    def sent(message: tuple[int, int]) -> None:
        packet = scene.packet(message)
        number, rows = pasts[message[0]].send(list(scene.dests_of[message]))
        if (number, rows) != (packet.number, packet.rows):
            differences.append(f"{message} carries {rows}, not {packet.rows}")
        compare(message[0])

    def arrived(to: int, delivered: list[tuple[int, int]]) -> None:
        for message in delivered:
            packet = scene.packet(message)
            if not pasts[to].is_satisfied(packet.rows):
                differences.append(f"{message} would not be delivered at p{to}")
            dests = list(scene.dests_of[message])
            pasts[to].deliver(message[0], packet.number, dests, packet.rows)
        compare(to)
        for copy in scene.flying:
            if copy.to == to and not differences:
                packet = scene.packet(copy.message)
                expected = is_deliverable(scene, to, packet.rows)
                if pasts[to].is_satisfied(packet.rows) != expected:
                    differences.append(f"{copy.message} waits at one p{to} only")

    play(scene, from_seed(seed), sends=40, after_send=sent, after_arrival=arrived)
    return differences[0] if differences else None


def is_deliverable(scene: Scene, to: int, rows: list[list[int]]) -> bool:
    known = scene.node(to).delivered[to]
    needs = from_wire(rows).get(to, {})
    return all(known[j] >= x for j, x in needs.items())


@pytest.mark.parametrize("seed", range(20))
def test_the_sparse_barrier_is_that_of_the_static_algorithm(seed: int) -> None:
    assert first_difference(Past, seed) is None


MUTANTS = (
    ("the sender's number stands still", "        self.sent += 1", "        self.sent = 1"),
    ("the barrier after step 3 travels", "        return self.sent, rows",
     "        return self.sent, to_wire(self.cb)"),
    ("step 3 adds instead of replacing", "            self.cb[d] = {self.me: self.sent}",
     "            self.cb.setdefault(d, {})[self.me] = self.sent"),
    ("the first constraint decides", "return all(known", "return any(known"),
    ("somebody else's row decides", "if row[0] == self.me:", "if row[0] != self.me:"),
    ("step 3 of the receipt left out", "        self.drop(j, number)  # step 3\n", ""),
    ("step 4 left out", "            known[k] = max(known.get(k, 0), y)", "            pass"),
    ("step 5 does not add", "            row[j] = max(number, row.get(j, 0))\n", ""),
    ("step 5 does not replace", "            _subtract(row, barrier.get(k, {}))",
     "            pass"),
    ("step 6 left out", "                _unite(self.cb.setdefault(k, {}), needs)",
     "                pass"),
    ("step 8 left out", "        for k in list(self.cb):",
     "        for k in ():"),
    ("step 8 collects everything", "if known.get(j, 0) < x}", "if False}"),
    ("step 8 collects one too many", "if known.get(j, 0) < x}", "if known.get(j, 0) < x - 1}"),
    ("the tuples of the first row counted", "sum(map(len, self.cb.values()))",
     "sum(map(len, list(self.cb.values())[:1]))"),
    ("the oldest constraint of a sender kept", "        if row.get(j, 0) < x:",
     "        if j not in row or row[j] > x:"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new"), MUTANTS, ids=lambda text: text[:40])
def test_a_barrier_with_one_step_altered_differs(name: str, old: str, new: str) -> None:
    changed = mutated(barrier, Mutant(name, old, new, "difference"))
    assert any(first_difference(changed.Past, seed) for seed in range(20)), f"'{name}' survives"


def test_a_past_that_moves_in_is_the_one_that_moved_out() -> None:
    old = Past(4)
    old.send([5])
    old.deliver(6, 1, [4, 5], [[4, 0, 3], [6, 4, 1]])
    new = Past(4)
    wired = to_wire(old.cb), to_wire(old.delivered)
    new.move_in(old.sent, *map(from_wire, wired))
    assert (new.sent, new.cb, new.tuples) == (old.sent, old.cb, old.tuples)
    assert new.delivered == old.delivered == {4: {6: 1}, 6: {4: 1}}
    assert new.send([6]) == old.send([6])


def test_a_message_that_is_dropped_satisfies_what_waits_and_precedes_nothing() -> None:
    past = Past(4)
    assert not past.is_satisfied([[4, 6, 2]])
    past.drop(6, 2)
    assert past.is_satisfied([[4, 6, 2], [5, 6, 9]])
    assert past.send([5]) == (1, [])


@pytest.mark.parametrize(
    ("rows", "possible"),
    [
        ([], True), ([[3]], True), ([[3, 0, 9, 5, 1]], True),
        ([[]], False), ([[3, 0]], False), ([[2, 0, 9]], False), ([[6, 0, 9]], False),
        ([[3, 6, 9]], False),
    ],
)  # fmt: skip
def test_rows_belong_to_hosts_and_their_tuples_to_nodes(
    rows: list[list[int]], possible: bool
) -> None:
    assert are_rows(rows, n=6, stations=3) is possible
