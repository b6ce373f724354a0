"""Counts of this process, as Prometheus reads them."""

from __future__ import annotations

from collections import Counter
from threading import Lock

from slate.ports.counts import Count


class ProcessCounts:
    """Counts in memory."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[Count, str]] = Counter()
        self._lock = Lock()

    def add(self, count: Count, value: float = 1, *, by: str = "") -> None:
        """Add to a count."""
        with self._lock:
            self._counts[count, by] += value  # type: ignore[assignment]  # a sum of seconds is no whole number

    def value(self, count: Count, *, by: str | None = None) -> float:
        """What was counted so far; of all parts where none is named."""
        with self._lock:
            return sum(value for (name, part), value in self._counts.items() if name is count and by in (None, part))

    def prometheus(self) -> str:
        """The text format, version 0.0.4: every count, also those of nothing yet."""
        with self._lock:
            counted = dict(self._counts)
        lines: list[str] = []
        for count in Count:
            name = f"slate_{count.value}_total"
            lines.append(f"# TYPE {name} counter")
            parts = sorted((by, value) for (each, by), value in counted.items() if each is count) or [("", 0)]
            lines += [f'{name}{{by="{by}"}} {value:g}' if by else f"{name} {value:g}" for by, value in parts]
        return "\n".join([*lines, ""])
