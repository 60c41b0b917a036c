"""Deadline algorithms with one fault each, for the hunter; named as `tests.hunt.hasty:NAME`."""

from __future__ import annotations

import dataclasses
from typing import Any

from testbed.algorithms import find
from testbed.algorithms.static import immediate
from testbed.core.algorithm import Guarantee
from testbed.core.model import MessageId, Role
from testbed.core.node import Arrival, Deliver, Turn, View
from testbed.hunt.generate import STEP

_Tdca: Any = find("tdca").roles[Role.PROCESS]


class SlowWatch(_Tdca):
    """Believes, when something arrives, that it is earlier than its clock says."""

    def on_received(self, arrival: Arrival[Any, None], turn: Turn) -> None:
        believed = Turn(max(0, turn.now - 8 * STEP))
        super().on_received(arrival, believed)
        turn.effects.extend(believed.effects)


class SaysItTwice(_Tdca):
    """Delivers its third message a second time."""

    delivered = 0

    def on_received(self, arrival: Arrival[Any, None], turn: Turn) -> None:
        super().on_received(arrival, turn)
        for effect in list(turn.effects):
            if isinstance(effect, Deliver):
                self.delivered += 1
                if self.delivered == 3:
                    turn.deliver(effect.message)


class WaitsForNothing(immediate.Process):
    """Looks at the deadline and for duplicates, but not at the past."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.seen: set[MessageId] = set()

    def on_received(self, arrival: Arrival[immediate.Data, None], turn: Turn) -> None:
        message = arrival.message
        assert message is not None
        if message.id in self.seen or (message.deadline or 0) < turn.now:
            return
        self.seen.add(message.id)
        super().on_received(arrival, turn)


def _faulty(name: str, maker: Any) -> Any:
    return dataclasses.replace(find("tdca"), name=name, roles={Role.PROCESS: maker})


SLOW_WATCH = _faulty("slow-watch", SlowWatch)
SAYS_IT_TWICE = _faulty("says-it-twice", SaysItTwice)
WAITS_FOR_NOTHING = dataclasses.replace(
    immediate.ALGORITHM,
    name="waits-for-nothing",
    roles={Role.PROCESS: WaitsForNothing},
    guarantee=Guarantee.DEADLINE,
    uses_deadlines=True,
    needs_reliable=False,
)
