"""Time, injected: the service stamps every instant, and a worker's own clock changes nothing."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Tells the instant."""

    def now(self) -> int:
        """Milliseconds since 1970 UTC; never goes back."""
        ...
