"""Clocks: the machine's, and one that stands still until it is moved."""

from __future__ import annotations

import time
from threading import Lock


class SystemClock:
    """The machine's clock, which never goes back within a process."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = Lock()

    def now(self) -> int:
        """Milliseconds since 1970 UTC."""
        with self._lock:
            self._last = max(self._last, time.time_ns() // 1_000_000)
            return self._last


class ManualClock:
    """Stands still: leases, delays and deadlines are tested by moving it."""

    def __init__(self, start: int) -> None:
        self._now = start
        self._lock = Lock()

    def now(self) -> int:
        """Milliseconds since 1970 UTC."""
        with self._lock:
            return self._now

    def advance(self, seconds: float) -> int:
        """Move it forward; answer the new instant.

        Raises:
            ValueError: ``seconds`` is below zero.
        """
        if seconds < 0:
            raise ValueError("time does not go back: advance by zero or more seconds")
        with self._lock:
            self._now += round(seconds * 1000)
            return self._now
