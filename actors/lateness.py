"""How late things happened: a histogram of constant size, cheap enough for every event.

Buckets are spaced by an eighth of a power of two, so a quantile is right within 12.5 per cent and
never too small. The maximum is exact.
"""

from __future__ import annotations

from testbed.core.model import Nanos

_BITS = 3
_SUBS = 1 << _BITS
_BUCKETS = 64 * _SUBS


class Lateness:
    """Counts of how much later than intended things were handled, in emulated nanoseconds."""

    __slots__ = ("counts", "max")

    def __init__(self) -> None:
        self.counts = [0] * _BUCKETS
        self.max: Nanos = 0

    def add(self, late: Nanos) -> None:
        bits = late.bit_length()
        if bits <= _BITS:
            self.counts[late] += 1
        else:
            shift = bits - _BITS - 1
            self.counts[((shift + 1) << _BITS) + (late >> shift) - _SUBS] += 1
        if late > self.max:
            self.max = late

    def merge(self, counts: list[int], largest: Nanos) -> None:
        self.counts = [mine + other for mine, other in zip(self.counts, counts, strict=True)]
        self.max = max(self.max, largest)

    @property
    def count(self) -> int:
        return sum(self.counts)

    def quantile(self, share: float) -> Nanos:
        """No smaller than the true quantile, at most an eighth larger."""
        rank = share * self.count
        seen = 0
        for bucket, count in enumerate(self.counts):
            seen += count
            if count and seen >= rank:
                return min(_upper_edge(bucket), self.max)
        return 0

    def summary(self, budget: Nanos) -> dict[str, int]:
        return {
            "p50": self.quantile(0.5),
            "p99": self.quantile(0.99),
            "max": self.max,
            "count": self.count,
            "budget": budget,
        }


def _upper_edge(bucket: int) -> Nanos:
    """The largest value that falls into this bucket."""
    octave, sub = bucket >> _BITS, bucket & (_SUBS - 1)
    if octave == 0:
        return sub
    return ((_SUBS + sub + 1) << (octave - 1)) - 1
