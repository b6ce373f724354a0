"""Who waits is told when it is worth looking again: a hint that saves looks, never a decision.

A topic names what is waited for. Whoever waits stands in its topics' lines, in the order of arrival; whoever writes
tells a topic, and as many wake as there is new work. What is told to nobody is forgotten: who comes later looks first.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Final, Protocol

EVERYBODY: Final = 1_000_000_000
"""Tell this many where all who wait want to know, as the followers of a feed do."""


def ready_topic(tenant: str, queue: str, role: str, ref: str | None = None) -> str:
    """Tasks of a role became READY; with a ref, tasks about that subject."""
    return f"ready#{tenant}#{queue}#{role}" + ("" if ref is None else f"#{ref}")


def feed_topic(tenant: str, graph_id: str) -> str:
    """A graph's feed grew."""
    return f"feed#{tenant}#{graph_id}"


def lock_topic(tenant: str, name: str) -> str:
    """A lock was released."""
    return f"lock#{tenant}#{name}"


class Listener(Protocol):
    """A place in the lines of some topics."""

    def looking(self) -> None:
        """A look begins: it will see whatever was told so far."""
        ...

    def served(self) -> None:
        """The look found something: what was told is used up by it."""
        ...

    def wait(self, seconds: float) -> bool:
        """Rest until told, or so many seconds; False where the service ends and nobody shall wait any more."""
        ...


class Wakeups(Protocol):
    """The lines of all topics."""

    def listen(self, topics: Collection[str]) -> AbstractContextManager[Listener]:
        """Stand in line for as long as the ``with`` lasts; what was told and not used goes to the next in line."""
        ...

    def tell(self, topic: str, count: int = 1) -> None:
        """Wake the first so many in a topic's line that rest."""
        ...
