"""Graphs: creating whole or in parts, extending, listing, cancelling, deleting.

Every method is one or a few conditional writes and may be repeated: a repeat after a lost reply finds its own work
and answers as the first call would have. ``tenant`` comes from the credential.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from pydantic import JsonValue

from slate.domain.graphs import Counts, GraphHead
from slate.domain.tasks import Task, TaskSpec, TaskState

T = TypeVar("T")


class Page(NamedTuple, Generic[T]):
    """Some items, and where to go on; no position means that all were seen."""

    items: list[T]
    position: str | None


class GraphStore(Protocol):
    """Keeps graphs. All reads are strongly consistent."""

    def create(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec], content: JsonValue) -> bool:
        """Write a small graph whole, in one transaction, or nothing of it.

        ``content`` is all that was asked for: the same again answers False and changes nothing.

        Raises:
            Conflict: the id is taken by other content, or by a graph that is still being deleted.
        """
        ...

    def begin(self, tenant: str, head: GraphHead, content: JsonValue) -> GraphHead:
        """Open a graph that is created in parts: CREATING, kept alive for 24 h from now.

        Where it was begun before with the same content, answers it in the state it is in.

        Raises:
            Conflict: as in ``create``.
        """
        ...

    def put_part(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec], earlier: Collection[str]) -> None:
        """Write tasks of a graph in CREATING, in parallel; those already there with the same content are left.

        Roots get a hold, so that nothing starts; ``earlier`` are the parents that stand in earlier parts.

        Raises:
            Conflict: a task is there with other content; ``task_id`` names it.
        """
        ...

    def activate(self, tenant: str, head: GraphHead) -> tuple[GraphHead, bool]:
        """CREATING becomes ACTIVE; the head as it is then, and whether this very call changed it."""
        ...

    def release_holds(self, tenant: str, graph_id: str) -> None:
        """Let every root of a graph that has just become ACTIVE go, then take it out of the timer."""
        ...

    def existing(self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec]) -> set[str]:
        """Which of these tasks are there already, with the same content and nothing left to add.

        Raises:
            Conflict: a task is there with other content; ``task_id`` names it.
        """
        ...

    def states(self, tenant: str, graph_id: str, task_ids: Collection[str]) -> dict[str, tuple[TaskState, int]]:
        """State and epoch of those of these tasks that exist."""
        ...

    def add(
        self, tenant: str, head: GraphHead, specs: Sequence[TaskSpec], parents: dict[str, tuple[TaskState, int]]
    ) -> list[Task]:
        """Add tasks, parents before children, in one transaction; ``parents`` are those outside, as just read.

        Under a parent that has FAILED or was CANCELLED a task acts as its edge says, at once.

        Raises:
            Conflict: the graph is not ACTIVE.
            ParentMoved: a parent changed since it was read; read again and repeat.
        """
        ...

    def add_in_parts(self, tenant: str, head: GraphHead, spec: TaskSpec) -> Task:
        """Add one task with more parents than a transaction holds; it starts only when every edge is there.

        Raises:
            Conflict: the graph is not ACTIVE.
        """
        ...

    def head(self, tenant: str, graph_id: str) -> GraphHead:
        """The stored head.

        Raises:
            NotFound: there is none, or it is being deleted.
        """
        ...

    def counts(self, tenant: str, graph_id: str) -> Counts:
        """Exact counts up to 1,000 tasks; beyond, as of what the feed has seen."""
        ...

    def page(self, tenant: str, subject: str | None, position: str | None, limit: int) -> Page[GraphHead]:
        """Graphs, the newest first; of one subject where one is given."""
        ...

    def begin_cancel(self, tenant: str, graph_id: str, version: int | None) -> GraphHead:
        """The graph becomes CANCELLING, in the timer for its last sweep; one that ended so already stays.

        Raises:
            NotFound: as in ``head``.
            VersionMismatch: it is not at ``version``.
        """
        ...

    def sweep(self, tenant: str, graph_id: str, deadline: int) -> bool:
        """Cancel every open task of a CANCELLING graph; False where time ran out before all were seen."""
        ...

    def begin_delete(self, tenant: str, graph_id: str, version: int | None) -> None:
        """The graph becomes DELETING and leaves the list: from now on it reads as not found.

        Raises:
            NotFound: as in ``head``.
            VersionMismatch: it is not at ``version``.
        """
        ...

    def remove(self, tenant: str, graph_id: str, deadline: int) -> bool:
        """Remove every item but the head of a DELETING graph; False where time ran out before all were gone."""
        ...
