"""Work for later: a message is delivered at least once, and holds ids, refs, states and epochs, never content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from pydantic import JsonValue

Message = Mapping[str, JsonValue]

MAX_DELAY_SECONDS: Final = 900
"""A queue holds a message back no longer; what is due later is sent on once more when it comes."""


class Queue(Protocol):
    """Takes messages; its consumer gets each at least once, in no order."""

    def send(self, message: Message, *, delay_seconds: int = 0) -> None:
        """Deliver a message, not before the delay is over.

        Raises:
            ValueError: the delay is below zero or above ``MAX_DELAY_SECONDS``.
            Unavailable: it was perhaps not taken; send it again.
        """
        ...


Queues = Callable[[str], Queue]
"""The queue by this name."""
