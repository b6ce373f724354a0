"""Waiting for something to be there, in real time: claims, a graph's feed and locks all wait here.

Who waits looks at once, then whenever it is told that there may be something, and now and then without being told:
after pauses that grow, with jitter, since a hint may be lost and another process tells nothing. So a waiting caller
costs a handful of looks however long it waits, and never holds more than one of a bounded number of places.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Final, TypeVar

from slate.domain.errors import Unavailable
from slate.ports.wakeups import Wakeups

T = TypeVar("T")

RETRY_AFTER_SECONDS: Final = 2
"""How long to rest where every place is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """The rests between looks that nobody asked for."""

    first_seconds: float
    longest_seconds: float
    growth: float = 1.6

    def jittered(self, rng: random.Random) -> Iterator[float]:
        """One rest after the other: each between half and all of its length, so that a crowd spreads."""
        pause = self.first_seconds
        while True:
            yield rng.uniform(pause / 2, pause)
            pause = min(pause * self.growth, self.longest_seconds)


POLLED: Final = Pauses(first_seconds=0.25, longest_seconds=2.5)
"""Where nobody tells: a look about every two seconds."""
TOLD: Final = Pauses(first_seconds=2.0, longest_seconds=10.0)
"""Where writes of this process tell: looks of one's own only make up for what nobody wrote."""


class Waiting:
    """Looks again until there is something, time is over, or the service ends."""

    def __init__(
        self,
        wakeups: Wakeups,
        rng: random.Random,
        *,
        pauses: Pauses,
        places: int,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wakeups = wakeups
        self._rng = rng
        self._pauses = pauses
        self._places = BoundedSemaphore(places)
        self._stopwatch = stopwatch

    def until(
        self,
        look: Callable[[], T | None],
        *,
        topics: Collection[str],
        seconds: float,
        within: Callable[[], float | None] | None = None,
    ) -> T | None:
        """What a look found, or None once so many seconds of real time have passed; with 0 seconds, one look.

        ``look`` answers None where there is nothing yet. ``within`` says after a look in how many seconds time alone
        may change that, as when a lock's lease will have lapsed: the next look is not later.

        Raises:
            Unavailable: nothing is there, and as many wait as may; ``retry_after`` says when to come again.
        """
        if seconds <= 0:
            return look()
        if not self._places.acquire(blocking=False):
            found = look()
            if found is None:
                raise Unavailable("too many callers wait already; come again", retry_after=RETRY_AFTER_SECONDS)
            return found
        try:
            return self._wait(look, topics, self._stopwatch() + seconds, within)
        finally:
            self._places.release()

    def _wait(
        self,
        look: Callable[[], T | None],
        topics: Collection[str],
        deadline: float,
        within: Callable[[], float | None] | None,
    ) -> T | None:
        # In line before the first look: what is written after that look is told.
        with self._wakeups.listen(topics) as listener:
            for pause in self._pauses.jittered(self._rng):
                listener.looking()
                found = look()
                if found is not None:
                    listener.served()
                    return found
                soon = within() if within is not None else None
                rest = min(pause, deadline - self._stopwatch(), pause if soon is None else max(soon, 0.01))
                if rest <= 0 or not listener.wait(rest):
                    break
        return None
