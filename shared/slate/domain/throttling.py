"""A token bucket: so many calls a second go on for ever, and so many at once after a rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Bucket(NamedTuple):
    """What a caller has left."""

    tokens: float
    at: int
    """The instant of which that is true, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Over any time of ``t`` seconds at most ``burst + rate * t`` calls pass."""

    rate: int
    """Calls a second."""
    burst: int
    """Calls at once, when none was made for ``burst / rate`` seconds."""

    def taken(self, bucket: Bucket | None, now: int) -> tuple[Bucket, float]:
        """The bucket after one more call, and the seconds until it may be made: none, if it is made now.

        A call that may not be made yet takes nothing. Who has no bucket has a full one.
        """
        tokens = float(self.burst) if bucket is None else self._filled(bucket, now)
        if tokens >= 1:
            return Bucket(tokens - 1, now), 0.0
        return Bucket(tokens, now), (1 - tokens) / self.rate

    def _filled(self, bucket: Bucket, now: int) -> float:
        return min(self.burst, bucket.tokens + self.rate * max(now - bucket.at, 0) / 1000)
