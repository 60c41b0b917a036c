"""Whole live runs: what arrives, in which order, and what the report says."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from statistics import fmean

import pytest

from actors import engine
from actors.drive import Drive
from testbed.core.distribution import Exponential
from testbed.core.errors import BadInput
from testbed.core.network import Fifo, Loss
from testbed.trace.audit import audit_run
from testbed.trace.oracle import Verdict
from tests.live.conftest import MS, deliveries, plan_of, sockets_of

pytestmark = pytest.mark.ray


@pytest.mark.parametrize("algorithm", ["bss", "ks", "rst"])
def test_live_delivers_what_virtual_time_delivers(live, sim, algorithm):
    plan = plan_of(algorithm)

    report, run = live(plan)

    assert audit_run(run).verdict is Verdict.VALID
    assert deliveries(run) == deliveries(sim(plan))
    assert report.totals.delivered == len(deliveries(run))
    assert report.totals.held == 0


def test_transport_ray_delivers_what_virtual_time_delivers(live, sim):
    plan = plan_of("ks")

    _, run = live(plan, transport="ray")

    assert audit_run(run).verdict is Verdict.VALID
    assert deliveries(run) == deliveries(sim(plan))


@pytest.mark.parametrize("algorithm", ["ks", "prs"])
def test_mean_control_integers_live_are_within_five_per_cent_of_virtual_time(live, sim, algorithm):
    """What a message carries depends on who knew what when it was sent.

    Live, events come some milliseconds late. With latencies of 300 ms and a send every 12 ms
    somewhere, few pairs of events are so close that this changes their order.
    """
    plan = plan_of(
        algorithm, n=6, messages=700, interval=75 * MS, latency=Exponential(300 * MS), multicast=0.2
    )

    _, run = live(plan)

    assert mean_control_ints(run) == pytest.approx(mean_control_ints(sim(plan)), rel=0.05)


def test_a_hundred_nodes_packed_into_four_actors_are_valid(live, sim):
    plan = plan_of("ks", n=100, messages=400, interval=1000 * MS, multicast=0.1)

    report, run = live(plan, nodes_per_actor=25)

    assert report.actors == 4
    assert audit_run(run).verdict is Verdict.VALID
    assert deliveries(run) == deliveries(sim(plan))


def test_nodes_packed_automatically_are_valid(live):
    report, run = live(plan_of("prs", n=6), nodes_per_actor=0)

    assert 1 <= report.actors <= 6
    assert audit_run(run).verdict is Verdict.VALID


def test_one_actor_per_node_means_one_process_per_node_and_sockets_between_them(live):
    plan = plan_of("fifo", n=4, messages=100)
    idle, _ = live(plan)
    before = {process: len(sockets_of(process)) for process in idle.processes}
    during: list[dict[int, int]] = []

    def look(done: int, total: int) -> None:
        during.append({process: len(sockets_of(process)) for process in idle.processes})

    busy, _ = live(plan, progress=look)

    assert len(set(busy.processes)) == 4
    assert busy.processes == idle.processes
    # Each listens once, connects to three peers, and three peers connect to it.
    assert all(during[0][process] >= before[process] + 7 for process in idle.processes)


def test_immediate_is_caught_live(live):
    _, run = live(plan_of("immediate"))

    assert audit_run(run).verdict is Verdict.INVALID


def test_without_fifo_copies_overtake_each_other_on_a_link_and_with_fifo_they_do_not(live):
    _, off = live(plan_of("immediate", fifo=Fifo.OFF))
    _, on = live(plan_of("immediate", fifo=Fifo.ON))

    assert overtakings(off) > 0
    assert overtakings(on) == 0


def test_a_reliable_link_delivers_everything_over_a_network_that_loses_and_duplicates(live, sim):
    plan = plan_of(
        "ks", messages=120, loss=Loss(0.2), duplicate=0.1, retry_after=250 * MS, interval=60 * MS
    )

    _, run = live(plan)

    events = run.table(("event",)).column("event").to_pylist()
    assert events.count("drop") > 0
    assert events.count("retransmit") > 0
    assert audit_run(run).verdict is Verdict.VALID
    assert deliveries(run) == deliveries(sim(plan))


def test_time_never_goes_backwards_and_no_copy_arrives_before_it_was_sent(live):
    _, run = live(plan_of("rst", latency=Exponential(2 * MS)))

    rows = rows_of(run, "node", "seq", "event", "origin", "number", "time")
    sent = {(o, k): time for _, _, event, o, k, time in rows if event == "send"}
    last: dict[int, int] = defaultdict(int)
    for node, _, event, origin, number, time in sorted(rows, key=lambda row: row[:2]):
        assert time >= last[node]
        last[node] = time
        if event == "receive":
            assert time >= sent[origin, number]


def test_lateness_is_reported_and_every_event_that_had_a_due_time_counts(live):
    plan = plan_of("fifo", messages=50)

    report, _ = live(plan)

    late = report.lateness_ns
    assert late["count"] == report.totals.messages + report.totals.copies
    assert 0 <= late["p50"] <= late["p99"] <= late["max"]
    assert late["budget"] == engine.LATENESS_BUDGET
    assert bool(report.warnings) == (late["p99"] > late["budget"])


def test_a_run_that_cannot_keep_its_due_times_says_so(live, monkeypatch):
    monkeypatch.setattr(engine, "LATENESS_BUDGET", 0)

    report, _ = live(plan_of("fifo", messages=20))

    assert "not to be trusted" in report.warnings[0]


def test_automatic_speed_halves_until_lateness_holds_and_keeps_one_trace(live, monkeypatch):
    monkeypatch.setattr(engine, "LATENESS_BUDGET", 0)
    monkeypatch.setattr(engine, "SLOWDOWNS_MAX", 2)
    plan = plan_of("fifo", messages=20, interval=10 * MS)

    report, run = live(plan, speed=None)

    assert report.speed == 0.25
    assert audit_run(run).messages == 20


def test_speed_makes_emulated_time_pass_faster(live):
    plan = plan_of("fifo", messages=100, interval=400 * MS, latency=Exponential(500 * MS))

    report, run = live(plan, speed=10.0)

    assert report.totals.end > 5_000 * MS
    assert report.wall_seconds < report.totals.end / 1e9
    assert audit_run(run).undelivered == 0


def test_an_actor_that_does_not_share_the_folder_sends_its_trace_through_ray(
    live, sim, monkeypatch
):
    whole = Drive._task

    def elsewhere(*arguments):
        task = whole(*arguments)
        return type(task)(**{**as_arguments(task), "mark": "no such file"})

    monkeypatch.setattr(Drive, "_task", elsewhere)
    plan = plan_of("ks", messages=60)

    _, run = live(plan)

    assert [file.name for file in sorted(run.events.iterdir())] == [
        f"actor-{actor:04d}.parquet" for actor in range(4)
    ]
    assert deliveries(run) == deliveries(sim(plan))


def test_what_an_algorithm_refuses_is_the_users_fault(live):
    plan = plan_of("bss", messages=10)
    unfit = type(plan)(**{**as_arguments(plan), "traffic": plan_of("ks").traffic})

    with pytest.raises(BadInput, match="bss only broadcasts"):
        live(unfit)


def test_an_unknown_transport_is_refused_with_the_known_ones(live):
    with pytest.raises(BadInput, match="'pigeon'; it takes direct or ray"):
        live(plan_of("ks"), transport="pigeon")


def as_arguments(struct) -> dict:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


def rows_of(run, *columns):
    table = run.table(columns)
    return list(zip(*(table.column(name).to_pylist() for name in columns), strict=True))


def mean_control_ints(run) -> float:
    rows = rows_of(run, "event", "control_ints")
    return fmean(ints for event, ints in rows if event == "receive")


def overtakings(run) -> int:
    """Copies that arrived on their link after a copy that was sent later."""
    arrived: dict[tuple[int, int], list[int]] = defaultdict(list)
    rows = rows_of(run, "node", "seq", "event", "origin", "number")
    for node, _, event, origin, number in sorted(rows, key=lambda row: row[:2]):
        if event == "receive":
            arrived[origin, node].append(number)
    return sum(
        later < earlier for numbers in arrived.values() for earlier, later in pairwise(numbers)
    )
