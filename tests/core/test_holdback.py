"""The hold-back queue against the plain rule: scan everything that waits, in order of arrival."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from testbed.core.holdback import HoldBackQueue

needs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=4)


@given(st.lists(st.one_of(needs, st.integers(0, 3)), max_size=40))
def test_the_queue_releases_what_a_scan_would_release(steps: list[object]) -> None:
    counters = [0] * 4
    queue: HoldBackQueue[int] = HoldBackQueue(counters)
    waiting: dict[int, list[tuple[int, int]]] = {}
    for item, step in enumerate(steps):
        if isinstance(step, int):
            counters[step] += 1
            queue.advanced(step)
        else:
            waiting[item] = step
            queue.hold(item, step)
        expected = [i for i, unmet in waiting.items() if all(counters[k] >= x for k, x in unmet)]
        released = list(iter(queue.pop, None))
        assert released == expected
        waiting = {i: unmet for i, unmet in waiting.items() if i not in expected}
        assert len(queue) == len(waiting)


def test_items_that_become_ready_together_leave_in_order_of_arrival() -> None:
    counters = [0]
    queue: HoldBackQueue[str] = HoldBackQueue(counters)
    queue.hold("later need, first", [(0, 2)])
    queue.hold("earlier need, second", [(0, 1)])
    counters[0] = 2
    queue.advanced(0)
    assert list(iter(queue.pop, None)) == ["later need, first", "earlier need, second"]
