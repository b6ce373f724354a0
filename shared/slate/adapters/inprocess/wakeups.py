"""Wakeups: lines of threads in one process, and none at all where every request may be another process."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from threading import Condition, Lock

from slate.ports.wakeups import EVERYBODY


class ThreadWakeups:
    """Wakes the threads of this process, the one that has waited longest first.

    Who was told and has not looked since is passed over: the next one in line is told, so that two new tasks wake two.
    What was told to one who then did not use it, because it failed or left, goes to the next in line. One who stands
    in several lines cannot say which of them its find came from, so it passes on all that it was told.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        # Python's dicts keep the order in which listeners came.
        self._lines: defaultdict[str, dict[_ThreadListener, None]] = defaultdict(dict)
        self._closed = False

    @contextmanager
    def listen(self, topics: Collection[str]) -> Iterator[_ThreadListener]:
        """Stand in each topic's line; what is left over is told to the next one at the end."""
        with self._lock:
            listener = _ThreadListener(self._lock, topics, closed=self._closed)
            for topic in topics:
                self._lines[topic][listener] = None
        try:
            yield listener
        finally:
            with self._lock:
                for topic in topics:
                    self._lines[topic].pop(listener, None)
                    if not self._lines[topic]:
                        del self._lines[topic]
                for topic, count in listener.left_over().items():
                    self._tell(topic, count)

    def tell(self, topic: str, count: int = 1) -> None:
        """Wake the first so many in line that were not told since their last look; those who were will see it."""
        with self._lock:
            self._tell(topic, count)

    def tell_all(self) -> None:
        """Wake everybody: time was moved by hand, and anything may be due."""
        with self._lock:
            for topic in list(self._lines):
                self._tell(topic, EVERYBODY)

    def close(self) -> None:
        """Nobody waits any more."""
        with self._lock:
            self._closed = True
            for line in self._lines.values():
                for listener in line:
                    listener.end()

    def _tell(self, topic: str, count: int) -> None:
        for listener in self._lines.get(topic, ()):
            if count <= 0:
                return
            if not listener.told:
                listener.tell(topic)
                count -= 1


class _ThreadListener:
    """One thread's place; all of its state is under its wakeups' lock."""

    def __init__(self, lock: Lock, topics: Collection[str], *, closed: bool) -> None:
        self.told: Counter[str] = Counter()
        self._taken: Counter[str] = Counter()
        self._single = len(topics) == 1
        self._closed = closed
        self._lock = lock
        self._changed = Condition(lock)

    def looking(self) -> None:
        """What was told so far is seen by this look."""
        with self._lock:
            self._taken, self.told = self.told, Counter()

    def served(self) -> None:
        """The find used up what was told for it, where that is certain."""
        with self._lock:
            if self._single:
                self._taken.clear()

    def wait(self, seconds: float) -> bool:
        """Rest until told, closed, or the time has passed."""
        with self._lock:
            self._taken.clear()  # the look found nothing: there was nothing, or others were faster
            self._changed.wait_for(lambda: self.told or self._closed, seconds)
            return not self._closed

    def tell(self, topic: str) -> None:
        self.told[topic] += 1
        self._changed.notify()

    def end(self) -> None:
        self._closed = True
        self._changed.notify()

    def left_over(self) -> Counter[str]:
        return self.told + self._taken


class NoWakeups:
    """Nobody tells: who waits looks again after each rest. For Lambda, where a write is another process's."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep = sleep

    @contextmanager
    def listen(self, topics: Collection[str]) -> Iterator[NoWakeups]:
        """There are no lines to stand in."""
        del topics
        yield self

    def looking(self) -> None:
        """Nothing was told."""

    def served(self) -> None:
        """Nothing was told."""

    def wait(self, seconds: float) -> bool:
        """Sleep."""
        self._sleep(seconds)
        return True

    def tell(self, topic: str, count: int = 1) -> None:
        """Nobody in this process waits for what it writes."""
