"""Hand-offs of av1, message by message, as functions of an algorithm: mutants walk them, too.

Two stations 0 and 1 (sometimes a third), hosts after them. A walk asserts what happens after each
step; a mutant that fails one is caught by it.
"""

from __future__ import annotations

from collections.abc import Callable

from testbed.core.algorithm import Algorithm
from testbed.trace.schema import Event
from tests.mobile_scene import MobileScene


def _scene(algorithm: Algorithm, *cells: int, stations: int = 2, keeps: bool = True) -> MobileScene:
    return MobileScene(algorithm, stations=stations, cells=cells, keeps=keeps)


def a_message_goes_up_across_and_down(algorithm: Algorithm) -> None:
    """AV 4.1, with the frames over the air and their acknowledgements."""
    scene = _scene(algorithm, 0, 1)
    message = scene.send(2, 3)
    assert scene.in_flight() == ["Up 2->0 m2.1"]
    scene.arrive("Up", 2, 0)
    assert scene.in_flight() == ["UpAck 0->2", "Data 0->1 m2.1"]
    scene.arrive("UpAck", 0, 2)
    assert scene.node(2).unacknowledged == {}
    scene.arrive("Data", 0, 1)
    assert scene.in_flight() == ["Down 1->3 m2.1"]
    assert list(scene.node(1).custody.owned[3].pend_ack) == [1]
    assert scene.arrive("Down", 1, 3) == [message]
    assert scene.in_flight() == ["DownAck 3->1"]
    scene.arrive("DownAck", 3, 1)
    assert scene.node(1).custody.owned[3].pend_ack == {}


def what_the_air_lost_comes_again_from_the_new_station(algorithm: Algorithm) -> None:
    """PEND_ACK moves with the host, and is transmitted first (AV 4.2)."""
    scene = _scene(algorithm, 0, 0)
    message = scene.send(2, 3)
    scene.arrive("Up", 2, 0)
    scene.leave(3)
    assert [str(frame) for frame in scene.lost] == ["Down 0->3 m2.1"]
    scene.enter(3, 1)
    assert scene.in_flight() == ["UpAck 0->2", "Register 3->1"]
    scene.arrive("Register", 3, 1)
    assert scene.in_flight()[1:] == ["HandoffBegin 1->0"]
    scene.arrive("HandoffBegin", 1, 0)
    assert scene.in_flight()[1:] == ["HandoffOver 0->1"]
    assert 3 not in scene.node(0).custody.owned
    scene.arrive("HandoffOver", 0, 1)
    assert scene.in_flight()[1:] == ["UpAck 1->3", "Down 1->3 m2.1"]
    scene.arrive("UpAck", 1, 3)
    assert scene.arrive("Down", 1, 3) == [message]
    scene.settle()
    assert scene.faults() == []


def what_has_arrived_is_not_sent_again(algorithm: Algorithm) -> None:
    """The acknowledgement was lost with the cell; the registration says what the host has."""
    scene = _scene(algorithm, 0, 0)
    scene.send(2, 3)
    scene.arrive("Up", 2, 0)
    scene.arrive("Down", 0, 3)
    scene.leave(3)
    assert [str(frame) for frame in scene.lost] == ["DownAck 3->0"]
    scene.enter(3, 1)
    scene.settle()
    assert not any(frame.kind == "Down" for frame in scene.flying)
    assert scene.node(1).custody.owned[3].pend_ack == {}
    assert not scene.rows.named(Event.RETRANSMIT)
    assert scene.faults() == []


def what_was_accepted_is_not_accepted_again(algorithm: Algorithm) -> None:
    """UpAck was lost with the cell: the host sends again, and the new station knows the number."""
    scene = _scene(algorithm, 0, 0)
    message = scene.send(2, 3)
    scene.arrive("Up", 2, 0)
    scene.arrive("Down", 0, 3)
    scene.leave(2)
    scene.enter(2, 1)
    assert scene.in_flight()[-2:] == ["Register 2->1", "Up 2->1 m2.1"]
    scene.settle()
    assert scene.delivered_at(3) == [message]
    second = scene.send(2, 3)
    scene.settle()
    assert scene.delivered_at(3) == [message, second]
    assert scene.node(2).unacknowledged == {}
    assert scene.faults() == []


def what_is_sent_during_the_hand_off_waits_for_its_end(algorithm: Algorithm) -> None:
    """The new station has no matrix for the host yet."""
    scene = _scene(algorithm, 0, 0)
    scene.leave(2)
    scene.enter(2, 1)
    scene.arrive("Register", 2, 1)
    message = scene.send(2, 3)
    scene.arrive("Up", 2, 1)
    assert scene.in_flight() == ["HandoffBegin 1->0"]
    scene.arrive("HandoffBegin", 1, 0)
    scene.arrive("HandoffOver", 0, 1)
    assert scene.in_flight() == ["UpAck 1->2", "UpAck 1->2", "Data 1->0 m2.1"]
    assert scene.settle() == [message]


def what_is_in_transit_follows_the_host(algorithm: Algorithm) -> None:
    """It reaches the old station when the host is gone; its sender is told where to."""
    scene = _scene(algorithm, 1, 0)
    message = scene.send(2, 3)
    scene.settle(hold=("Data",))
    scene.move(3, 1)
    scene.settle(hold=("Data",))
    scene.arrive("Data", 1, 0)
    assert scene.in_flight() == ["Data 0->1 m2.1", "Located 0->1"]
    assert scene.settle() == [message]
    assert scene.node(1).location[3] == (1, 1)
    assert scene.faults() == []


def what_overtakes_the_hand_off_waits_for_it(algorithm: Algorithm) -> None:
    """Wires are not FIFO: a message passed on can arrive before the host's state."""
    scene = _scene(algorithm, 1, 0)
    message = scene.send(2, 3)
    scene.settle(hold=("Data",))
    scene.move(3, 1)
    scene.settle(hold=("Data", "HandoffOver"))
    scene.arrive("Data", 1, 0)
    scene.arrive("Data", 0, 1)
    assert scene.shells[1].held() == 1
    assert not any(frame.kind == "Down" for frame in scene.flying)
    assert scene.settle() == [message]
    assert scene.faults() == []


def what_waits_for_its_past_waits_at_the_new_station(algorithm: Algorithm) -> None:
    """MH_PENDING, MH_DELIV and MH_SENT move: order holds across the hand-off."""
    scene = _scene(algorithm, 0, 1, 0, stations=3)  # hosts 3 and 5 at 0, host 4 at 1
    late = scene.send(3, 4)
    scene.settle(hold=("Data",))
    early = scene.send(3, 5)
    scene.settle(hold=("Data",))
    after = scene.send(5, 4)
    scene.arrive("Up", 5, 0)
    scene.settle(hold=("Data",))
    scene.arrive_at(1)  # what host 5 sent overtakes what it depends on
    assert scene.shells[1].held() == 1
    scene.move(4, 2)
    scene.settle(hold=("Data",))
    assert (scene.shells[1].held(), scene.shells[2].held()) == (0, 1)
    assert scene.settle() == [late, after]
    assert scene.delivered_at(5) == [early]
    assert scene.faults() == []


def a_host_that_moves_on_is_handed_on_in_turn(algorithm: Algorithm) -> None:
    """The current hand-off is completed before a new one begins (AV 4.2)."""
    scene = _scene(algorithm, 0, 0, stations=3)
    scene.move(4, 1)
    scene.settle(hold=("HandoffOver",))
    assert scene.in_flight() == ["HandoffOver 0->1"]
    scene.move(4, 2)
    scene.arrive("Register", 4, 2)
    scene.arrive("HandoffBegin", 2, 0)  # 4 heard from nobody in 1, so it names 0
    assert scene.in_flight() == ["HandoffOver 0->1", "HandoffBegin 0->1"]
    scene.arrive("HandoffBegin", 0, 1)
    assert scene.in_flight() == ["HandoffOver 0->1"], "1 awaits the host itself"
    scene.arrive("HandoffOver", 0, 1)
    assert scene.in_flight() == ["HandoffOver 1->2"]
    message = scene.send(3, 4)
    assert scene.settle() == [message]
    assert scene.faults() == []


def a_host_that_comes_back_at_once_is_still_here(algorithm: Algorithm) -> None:
    """Nobody asked for it meanwhile: it registers, and what the air lost comes again."""
    scene = _scene(algorithm, 0, 0)
    message = scene.send(2, 3)
    scene.arrive("Up", 2, 0)
    scene.move(3, 0)
    scene.arrive("Register", 3, 0)
    assert "HandoffBegin 0->0" not in scene.in_flight()
    assert scene.settle() == [message]
    assert scene.faults() == []


def what_has_arrived_is_not_sent_again_in_the_same_cell(algorithm: Algorithm) -> None:
    """No hand-off, but the registration says what the host has."""
    scene = _scene(algorithm, 0, 0)
    scene.send(2, 3)
    scene.arrive("Up", 2, 0)
    scene.arrive("Down", 0, 3)
    scene.move(3, 0)
    assert [str(frame) for frame in scene.lost] == ["DownAck 3->0"]
    scene.settle()
    assert scene.node(0).custody.owned[3].pend_ack == {}
    assert not scene.rows.named(Event.RETRANSMIT)


def a_request_that_was_overtaken_is_forgotten(algorithm: Algorithm) -> None:
    """Away and back while handoff_begin is on its way: nobody may take the host any more."""
    scene = _scene(algorithm, 0, 0)
    scene.move(3, 1)
    scene.arrive("Register", 3, 1)
    scene.move(3, 0)
    scene.arrive("Register", 3, 0)
    scene.arrive("HandoffBegin", 1, 0)
    assert 3 in scene.node(0).custody.owned
    message = scene.send(2, 3)
    assert scene.settle() == [message]
    assert scene.faults() == []


def messages_are_kept_for_a_disconnected_host(algorithm: Algorithm) -> None:
    """Policy keep: nothing is transmitted meanwhile, everything when it is back, anywhere."""
    scene = _scene(algorithm, 0, 0)
    scene.disconnect(3)
    message = scene.send(2, 3)
    scene.settle()
    assert [frame.kind for frame in scene.lost] == []
    scene.enter(3, 1)
    assert scene.settle() == [message]
    after = scene.send(2, 3)
    assert scene.settle() == [after]
    assert scene.faults() == []


def messages_are_dropped_for_a_disconnected_host(algorithm: Algorithm) -> None:
    """Policy drop: the message is waived, and later ones do not wait for it."""
    scene = _scene(algorithm, 0, 0, keeps=False)
    scene.disconnect(3)
    scene.send(2, 3)
    scene.settle()
    scene.enter(3, 1)
    assert scene.settle() == []
    after = scene.send(2, 3)
    assert scene.settle() == [after]
    audit = scene.audit()
    assert (audit.waived, audit.undelivered, audit.findings) == (1, 0, [])


WALKS: tuple[Callable[[Algorithm], None], ...] = (
    a_message_goes_up_across_and_down,
    what_the_air_lost_comes_again_from_the_new_station,
    what_has_arrived_is_not_sent_again,
    what_was_accepted_is_not_accepted_again,
    what_is_sent_during_the_hand_off_waits_for_its_end,
    what_is_in_transit_follows_the_host,
    what_overtakes_the_hand_off_waits_for_it,
    what_waits_for_its_past_waits_at_the_new_station,
    a_host_that_moves_on_is_handed_on_in_turn,
    a_host_that_comes_back_at_once_is_still_here,
    what_has_arrived_is_not_sent_again_in_the_same_cell,
    a_request_that_was_overtaken_is_forgotten,
    messages_are_kept_for_a_disconnected_host,
    messages_are_dropped_for_a_disconnected_host,
)
