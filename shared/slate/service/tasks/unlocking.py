"""When a task has ended its children are told: inline as far as time allows, the rest by the sweeper."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from slate.ports.clock import Clock
from slate.ports.task_store import CascadeStore, Parent

INLINE_CHILDREN: Final = 100
INLINE_MS: Final = 5_000


class Unlocked(NamedTuple):
    """The children of the first task that became READY, and whether more are still to be told."""

    freed: tuple[str, ...]
    more: bool


class Unlocking:
    """Tells children, and theirs, breadth first; may stop anywhere: what is left stands in the timer."""

    def __init__(self, store: CascadeStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def inline(self, tenant: str, parent: Parent) -> Unlocked:
        """Within a request: up to 100 children or 5 s."""
        return self.run(tenant, parent, INLINE_CHILDREN, self._clock.now() + INLINE_MS)

    def run(self, tenant: str, first: Parent, most: int | None, deadline: int) -> Unlocked:
        """Tell up to so many children until a moment."""
        left = most
        freed: tuple[str, ...] = ()
        todo = deque([first])
        while todo:
            parent = todo.popleft()
            edges = self._store.edges(tenant, parent)
            ready: list[str] = []
            for edge in edges:
                if left == 0 or self._clock.now() > deadline:
                    self._store.go_on_soon(tenant, parent)
                    return Unlocked(freed or tuple(ready) if parent == first else freed, more=True)
                left = None if left is None else left - 1
                told = self._store.tell(tenant, parent, edge)
                if told.moved:
                    break
                if told.ready:
                    ready.append(edge.child)
                if told.then is not None:
                    todo.append(told.then)
            else:
                self._store.all_told(tenant, parent, ready)
            if parent == first:
                freed = tuple(ready)
        return Unlocked(freed, more=False)
