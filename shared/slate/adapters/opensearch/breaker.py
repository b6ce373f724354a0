"""A circuit breaker: what failed several times in a row is not asked for a while, so that nobody waits for it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final

FAILURES: Final = 3
OPEN_SECONDS: Final = 15.0


class Breaker:
    """Closed, it lets every call through; open, none; after a while it lets one through, to see."""

    def __init__(
        self, monotonic: Callable[[], float], *, failures: int = FAILURES, open_seconds: float = OPEN_SECONDS
    ) -> None:
        self._monotonic = monotonic
        self._failures = failures
        self._open_seconds = open_seconds
        self._failed = 0
        self._until = 0.0
        self._lock = Lock()

    def lets_through(self) -> bool:
        """Whether a call may be made now; of those that ask while it is open, one may once the time is over."""
        with self._lock:
            if self._failed < self._failures:
                return True
            if self._monotonic() < self._until:
                return False
            self._until = self._monotonic() + self._open_seconds
            return True

    def succeeded(self) -> None:
        """A call was answered."""
        with self._lock:
            self._failed = 0

    def failed(self) -> None:
        """A call was not."""
        with self._lock:
            self._failed += 1
            if self._failed >= self._failures:
                self._until = self._monotonic() + self._open_seconds
