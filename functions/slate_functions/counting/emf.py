"""Counts for CloudWatch, in the embedded format: summed over an invocation, and written as a line each at its end.

Written without a library: the functions that decay and extract load none of the APIs'.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, TextIO, TypeVar

from slate.ports.counts import Count

NAMESPACE: Final = "Slate"
SERVICE: Final = "memory"
"""One name for all functions, so that a count is one metric whoever counted."""
T = TypeVar("T")


class EmfCounts:
    """Sums counts, and writes them out."""

    def __init__(self, out: TextIO | None = None, clock: Callable[[], float] = time.time) -> None:
        self._out = out
        self._clock = clock
        self._sums: defaultdict[str, defaultdict[Count, float]] = defaultdict(lambda: defaultdict(float))
        self._lock = Lock()

    def add(self, count: Count, value: float = 1, *, by: str = "") -> None:
        """Add to a count."""
        if value:
            with self._lock:
                self._sums[by][count] += value

    def flush(self) -> None:
        """A line for each part that was counted; then nothing is counted yet."""
        with self._lock:
            sums, self._sums = self._sums, defaultdict(lambda: defaultdict(float))
        for by, counts in sums.items():
            (self._out or sys.stdout).write(f"{json.dumps(self._line(by, counts))}\n")

    def _line(self, by: str, counts: dict[Count, float]) -> dict[str, Any]:
        names = {count.value: value for count, value in counts.items()}
        told = {
            "Namespace": NAMESPACE,
            # Its parts, and all of them together.
            "Dimensions": [["service"], ["service", "by"]] if by else [["service"]],
            "Metrics": [{"Name": name, "Unit": "Seconds" if name.endswith("_seconds") else "Count"} for name in names],
        }
        head = {"_aws": {"Timestamp": round(self._clock() * 1000), "CloudWatchMetrics": [told]}, "service": SERVICE}
        return {**head, **({"by": by} if by else {}), **names}


def counting(counts: EmfCounts, handler: Callable[[Any, Any], T]) -> Callable[[Any, Any], T]:
    """The handler, which writes out what was counted at its end, however it ends."""

    def counted(event: Any, context: Any) -> T:
        try:
            return handler(event, context)
        finally:
            counts.flush()

    return counted
