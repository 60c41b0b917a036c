"""Virtual time: ties are broken in the open, and the run ends when nothing is left to happen."""

from __future__ import annotations

import msgspec

from testbed.core.distribution import Constant
from testbed.core.model import Submission
from testbed.core.network import Fifo
from testbed.engine.virtual import VirtualEngine
from testbed.trace.schema import Event
from tests.runs import MS, network, plan, run
from tests.scene import Rows


class Script:
    """Links whose copies take what the test says, one after the other."""

    def __init__(self, **latencies: list[int]) -> None:
        self._latencies = latencies

    def link(self, source: int, target: int) -> Script.Wire:
        return Script.Wire(self._latencies[f"l{source}{target}"])

    class Wire:
        def __init__(self, latencies: list[int]) -> None:
            self._latencies = iter(latencies)

        def send(self, now: int, size: int) -> tuple[int, ...]:
            return (now + next(self._latencies),)


def told(rows: Rows) -> list[tuple[int, int, str, int, int]]:
    return [
        (r["time"], r["node"], Event(r["event"]).text, r["origin"], r["number"])
        for r in rows.named()
    ]


def test_a_send_comes_before_an_arrival_of_the_same_time() -> None:
    rows = Rows()
    made = msgspec.structs.replace(plan("immediate", n=2), network=network(Constant(10)))
    VirtualEngine(made, rows).play(
        iter([Submission(0, 0, (1,), 0), Submission(10, 1, (0,), 0)])
    )  # fmt: skip
    assert told(rows)[:3] == [
        (0, 0, "send", 0, 1), (10, 1, "send", 1, 1), (10, 1, "receive", 0, 1),
    ]  # fmt: skip


def test_arrivals_of_the_same_time_come_in_the_order_of_their_sending() -> None:
    rows = Rows()
    wires = Script(l01=[30, 20, 10], l21=[25])
    VirtualEngine(plan("immediate", n=3), rows, wires=wires).play(
        iter([
            Submission(0, 0, (1,), 0), Submission(5, 2, (1,), 0),
            Submission(10, 0, (1,), 0), Submission(20, 0, (1,), 0),
        ])
    )  # fmt: skip
    delivered = [(r["origin"], r["number"]) for r in rows.named(Event.DELIVER)]
    assert delivered == [(0, 1), (2, 1), (0, 2), (0, 3)]


def test_time_never_runs_backwards() -> None:
    rows = run(plan("ks", n=6, messages=200, multicast=0.7)).rows
    times = [row["time"] for row in rows.named()]
    assert times == sorted(times)


def test_totals_count_what_happened() -> None:
    outcome = run(plan("rst", n=4, messages=50))
    sends = outcome.rows.named(Event.SEND)
    assert outcome.totals.messages == len(sends) == 50
    assert outcome.totals.copies == sum(row["copies"] for row in sends)
    assert outcome.totals.delivered == len(outcome.rows.named(Event.DELIVER))
    assert outcome.totals.end == max(row["time"] for row in outcome.rows.named())
    assert (outcome.totals.held, outcome.totals.malformed) == (0, 0)


def test_an_outline_knows_the_size_of_a_run_before_it_is_run() -> None:
    made = msgspec.structs.replace(plan("rst", n=4, messages=50), warmup=10)
    outline = made.outline()
    sends = run(made).rows.named(Event.SEND)
    assert outline.messages == 50
    assert outline.copies == sum(row["copies"] for row in sends)
    assert outline.messages_of == tuple(
        sum(row["node"] == node for row in sends) for node in range(4)
    )
    assert made.warmup_until() == sends[9]["time"]
    assert outline.last_send == sends[-1]["time"]


def test_progress_hears_of_each_hundredth_send() -> None:
    heard: list[int] = []
    VirtualEngine(plan("immediate", messages=250), None).run(heard.append)
    assert heard == [100, 200]


def test_a_run_without_a_sink_delivers_the_same() -> None:
    made = plan("ks", n=5)
    assert VirtualEngine(made, None).run() == run(made).totals


def test_a_witness_sees_what_the_rows_say() -> None:
    from testbed.trace.oracle import Oracle

    made = plan("fifo", n=5)
    oracle = Oracle(range(5))
    VirtualEngine(made, oracle).run()
    witnessed, audited = oracle.verdict(), run(made).audit
    witnessed.findings.sort(key=lambda finding: finding.prose)
    audited.findings.sort(key=lambda finding: finding.prose)
    witnessed.why = audited.why = ""
    assert witnessed == audited


def test_arrivals_are_late_by_exactly_what_the_link_said() -> None:
    made = msgspec.structs.replace(plan("immediate", n=3), network=network(Constant(7 * MS)))
    rows = run(made).rows
    sent = {(r["origin"], r["number"]): r["time"] for r in rows.named(Event.SEND)}
    assert {
        row["time"] - sent[row["origin"], row["number"]] for row in rows.named(Event.RECEIVE)
    } == {7 * MS}


def test_a_fifo_link_delivers_in_order_even_to_an_algorithm_that_does_not_sort() -> None:
    for fifo in (Fifo.ON, Fifo.GK):
        rows = run(plan("immediate", n=3, fifo=fifo)).rows
        newest: dict[tuple[int, int], int] = {}
        for row in rows.named(Event.RECEIVE):
            channel = (row["peer"], row["node"])
            assert row["number"] > newest.get(channel, 0)
            newest[channel] = row["number"]
