"""The reliable link: exactly once through loss and duplication, at a cost of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.core.errors import EngineError, MalformedFrame
from testbed.core.network import BurstLoss, Loss
from testbed.engine.reliable import BACKOFF_MAX, HEADER_BYTES, TRIES_MAX, ReliableLink
from testbed.trace.oracle import Fault, Verdict
from testbed.trace.schema import REASONS, Event
from tests.runs import MS, Outcome, plan, run

HARSH = {"loss": Loss(0.3), "duplicate": 0.2, "retry_after": 200 * MS}


def harsh(name: str) -> Outcome:
    return run(plan(name, n=5, messages=100, **HARSH))


@pytest.mark.parametrize("name", ["ks", "prs", "rst", "bss", "fifo"])
def test_everything_is_delivered_exactly_once(name: str) -> None:
    outcome = harsh(name)
    audit = outcome.audit
    assert (audit.undelivered, audit.duplicates, audit.strangers) == (0, 0, 0)
    assert name == "fifo" or audit.verdict is Verdict.VALID
    assert all(shell.unacknowledged() == 0 for shell in outcome.engine.shells.values())


def test_everything_is_delivered_through_bursts() -> None:
    burst = BurstLoss(0.2, 0.3)
    audit = run(plan("ks", n=4, messages=60, loss=burst, retry_after=200 * MS)).audit
    assert audit.verdict is Verdict.VALID


def test_without_the_link_loss_leaves_messages_behind_and_the_audit_says_so() -> None:
    audit = run(plan("ks", n=5, loss=Loss(0.05))).audit
    assert audit.verdict is Verdict.INVALID
    assert audit.undelivered > 0
    assert {finding.fault for finding in audit.findings} == {Fault.LIVENESS}


def test_without_the_link_duplicates_reach_the_application() -> None:
    audit = run(plan("immediate", n=4, duplicate=0.2)).audit
    assert audit.duplicates > 0


def test_a_lost_copy_and_a_doubled_one_are_traced_by_their_sender() -> None:
    rows = run(plan("immediate", n=4, loss=Loss(0.1), duplicate=0.1)).rows
    drops, doubles = rows.named(Event.DROP), rows.named(Event.DUPLICATE)
    copies = sum(row["copies"] for row in rows.named(Event.SEND))
    assert drops
    assert doubles
    assert len(rows.named(Event.RECEIVE)) == copies - len(drops) + len(doubles)
    assert {REASONS[row["reason"]] for row in drops} == {"loss"}
    assert all(row["node"] == row["origin"] for row in drops + doubles)


@pytest.mark.parametrize("name", ["ks", "prs", "rst"])
def test_its_cost_is_in_rows_of_its_own_and_not_in_the_algorithms(name: str) -> None:
    rows = harsh(name).rows
    received: dict[tuple[int, int], int] = {}
    for row in rows.named(Event.RECEIVE):
        message = (row["origin"], row["number"])
        received[message] = received.get(message, 0) + row["control_bytes"]
    for row in rows.named(Event.SEND):
        assert row["control_bytes"] == received[row["origin"], row["number"]]
    again, acknowledged = rows.named(Event.RETRANSMIT), rows.named(Event.ACKNOWLEDGE)
    assert len(again) > 30
    assert all(row["control_bytes"] > HEADER_BYTES for row in again)
    assert all(row["control_ints"] == -1 and row["origin"] == -1 for row in again + acknowledged)
    assert len(acknowledged) >= len(rows.named(Event.RECEIVE))
    assert {row["control_bytes"] for row in acknowledged} == {2 * HEADER_BYTES}


def test_a_link_without_loss_sends_nothing_again() -> None:
    rows = run(plan("rst", n=4, retry_after=10_000 * MS)).rows
    assert rows.named(Event.RETRANSMIT) == []
    assert len(rows.named(Event.ACKNOWLEDGE)) == len(rows.named(Event.RECEIVE))


# --- malformed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [b"", b"\x00" * (HEADER_BYTES - 1), b"\x07" + b"\x00" * 20])
def test_bytes_that_are_no_link_frame_are_refused(frame: bytes) -> None:
    with pytest.raises(MalformedFrame):
        ReliableLink(0, 10).unwrap(frame)


@pytest.mark.parametrize(
    "frame",
    [b"", b"junk", b"\x07" * 30, ReliableLink(3, 10).wrap(1, b"no packet")[0], b"\x01" * 9,
     b"\x00" + b"\xff" * 20, ReliableLink(0, 10).wrap(1, b"the first of a true peer")[0]],
)  # fmt: skip
def test_a_shell_over_a_link_lives_through_malformed_frames(frame: bytes) -> None:
    from testbed.engine.virtual import VirtualEngine
    from tests.scene import Rows

    rows = Rows()
    engine = VirtualEngine(plan("rst", n=3, messages=40, **HARSH), rows)
    engine.shells[1].arrive(0, frame)
    is_acknowledgement = frame[:1] == b"\x01"
    assert engine.shells[1].malformed == (0 if is_acknowledgement else 1)
    assert len(rows.named(Event.MALFORMED)) == engine.shells[1].malformed
    engine.run()
    assert rows.audit().undelivered == 0


# --- the link alone -------------------------------------------------------------------------------


def test_a_frame_comes_through_and_its_acknowledgement_settles_it() -> None:
    sender, receiver = ReliableLink(4, 10), ReliableLink(5, 10)
    wrapped, timer = sender.wrap(5, b"hello")
    assert len(wrapped) == HEADER_BYTES + 5
    peer, frame, acknowledgement, _ = receiver.unwrap(wrapped)
    assert (peer, frame) == (4, b"hello")
    assert acknowledgement is not None
    assert sender.unacknowledged == 1
    peer, frame, answer, settled = sender.unwrap(acknowledgement)
    assert (peer, frame, answer, settled) == (5, None, None, timer)
    assert sender.unacknowledged == 0
    assert sender.retry(timer) is None


@given(st.lists(st.integers(0, 7), max_size=60))
def test_each_frame_is_handed_on_once_in_whatever_order_copies_come(order: list[int]) -> None:
    sender, receiver = ReliableLink(0, 10), ReliableLink(1, 10)
    wrapped = [sender.wrap(1, bytes([i]))[0] for i in range(8)]
    handed = [receiver.unwrap(wrapped[i]) for i in order]
    assert [frame[0] for _, frame, _, _ in handed if frame] == list(dict.fromkeys(order))
    assert all(acknowledgement is not None for _, _, acknowledgement, _ in handed)


def test_numbers_are_counted_per_destination() -> None:
    sender = ReliableLink(0, 10)
    assert [sender.wrap(to, b"")[1] for to in (1, 2, 1)] == ["link:1:0", "link:2:0", "link:1:1"]


def test_the_wait_doubles_up_to_a_bound() -> None:
    link = ReliableLink(0, 10)
    wrapped, timer = link.wrap(1, b"x")
    waits = []
    for _ in range(BACKOFF_MAX + 3):
        retry = link.retry(timer)
        assert retry is not None
        assert retry[:2] == (1, wrapped)
        waits.append(retry[2])
    assert link.wait() == 10
    assert waits == [10 << min(tries, BACKOFF_MAX) for tries in range(1, BACKOFF_MAX + 4)]


def test_a_link_through_which_nothing_gets_gives_up_with_a_reason() -> None:
    with pytest.raises(EngineError, match=f"gave up after {TRIES_MAX} tries"):
        run(plan("rst", n=2, messages=1, loss=Loss(1.0), retry_after=MS))
