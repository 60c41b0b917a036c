"""What the loop of an actor asks of a transport: carry batches, say when something came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class Carrier(Protocol):
    """One actor's connections to its peers. Order is not its business: due times decide."""

    def send(self, actor: int, envelopes: list[bytes]) -> None:
        """Hand these to the transport for that actor; never blocks."""

    def take(self) -> Iterator[bytes]:
        """The batches that have come in, without waiting."""

    def wait(self, seconds: float) -> None:
        """Return when something came in, or after so long, whichever is first."""

    def close(self) -> None:
        """Give the connections back; nothing is sent or taken after."""
