"""What is remembered for a while: bounded in number and in time, and safe to share between threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Lapsing(Generic[K, V]):
    """At most so many things, each until an instant, after which nobody is given it.

    They stand in the order in which they were kept last, and the first goes where there are too many. Where all are
    kept for equally long that is the order in which they lapse: then each call lets go of every one that is over, so
    that none lies about in memory.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._things: OrderedDict[K, tuple[int, V]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K, now: int) -> V | None:
        """What is kept under a key and is not over yet."""
        with self._lock:
            self._lapse(now)
            until, thing = self._things.get(key, (now, None))
            return thing if now < until else None

    def keep(self, key: K, thing: V, until: int, now: int) -> V:
        """Keep a thing, instead of another one under its key; answers the thing."""
        with self._lock:
            self._things[key] = until, thing
            self._things.move_to_end(key)
            self._lapse(now)
            while len(self._things) > self._most:
                self._things.popitem(last=False)
        return thing

    def drop(self, goes: Callable[[K], bool]) -> None:
        """Let go of what stands under such keys."""
        with self._lock:
            for key in [each for each in self._things if goes(each)]:
                del self._things[key]

    def _lapse(self, now: int) -> None:
        while self._things and next(iter(self._things.values()))[0] <= now:
            self._things.popitem(last=False)
