"""The deed under way: what a request or a job does with memory, as its entries will tell it.

It is found by context, as the operation that it is part of: the storage tells it of every change, so that no store,
route or job can leave one out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Final

from slate.domain.audit.entries import NAMED


class Deed:
    """One deed, in however many threads."""

    def __init__(self, begin: Callable[[str | None], None]) -> None:
        """``begin`` appends the entry that it has begun, about somebody; what follows waits for it."""
        self._begin = begin
        self._lock = Lock()
        self.begun = False
        self.changes: list[Any] = []
        """What the storage changed, in its own terms."""
        self.more = 0
        """Changes beyond those."""
        self.answer: Any = None
        """What is answered, if anything is."""
        self.about: str | None = None
        """The ref of whom it is about, where neither its items nor the fences that were read tell."""

    def changing(self, ref: str | None) -> None:
        """Something is about to change: not before it is written down who does it.

        Raises:
            Unavailable: it could not be; nothing is to change.
        """
        with self._lock:
            if not self.begun:
                self._begin(ref)
                self.begun = True

    def changed(self, change: Any) -> None:
        """Something has changed."""
        with self._lock:
            if len(self.changes) < NAMED:
                self.changes.append(change)
            else:
                self.more += 1


_UNDER_WAY: Final[ContextVar[Deed | None]] = ContextVar("slate_deed", default=None)


def deed_under_way() -> Deed | None:
    """The deed that this thread works on."""
    return _UNDER_WAY.get()


@contextmanager
def doing(deed: Deed) -> Iterator[Deed]:
    """Make it the one under way."""
    token = _UNDER_WAY.set(deed)
    try:
        yield deed
    finally:
        _UNDER_WAY.reset(token)


def told_about(ref: str) -> None:
    """The deed under way, if there is one, is about this person, also where none of their data is reached."""
    deed = _UNDER_WAY.get()
    if deed is not None:
        deed.about = ref
