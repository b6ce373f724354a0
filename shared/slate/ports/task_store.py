"""Tasks under their protocol: each method is one step of the table in DESIGN section 4, judged by its condition.

Every write is conditional. When a condition fails, the item as it was then tells whether an earlier try of this very
call had succeeded (its token, its epoch, the state it wanted): then the method answers as if it just had. Otherwise
it raises what happened instead, with the winner's state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from slate.domain.leases import Lease
from slate.domain.tasks import EdgeKind, Task, TaskState
from slate.domain.values import Change
from slate.ports.graph_store import Page


class Candidate(NamedTuple):
    """A hint from the ready index: a task that was READY a moment ago."""

    graph_id: str
    task_id: str
    rank: int
    """Sorts: the instant it became READY, later by so much for each level of priority it lacks; lowest first."""
    priority: int
    lease_seconds: int
    subject_ref: str | None = None


class Beat(NamedTuple):
    """What a heartbeat answers."""

    lease_until: int | None
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker says it did."""

    action: str
    result: JsonValue = None
    artifacts: tuple[JsonValue, ...] = ()
    values: tuple[Change, ...] = ()
    """Changes of the graph's values, made with the completion or not at all."""


class Edge(NamedTuple):
    """What a finished parent must know of a child in order to free or cancel it without reading it."""

    child: str
    slot: int
    kind: EdgeKind
    queue: str
    role: str
    priority: int
    lease_seconds: int
    subject_ref: str | None
    likely_last: bool
    """A guess: this is the only slot the child waits for."""


class Parent(NamedTuple):
    """A finished task whose children are to be told."""

    graph_id: str
    task_id: str
    state: TaskState
    epoch: int


class Due(NamedTuple):
    """An entry of the timer index that has fallen due: a graph's head, one of its tasks, its feed or its values."""

    tenant: str
    graph_id: str
    task_id: str | None
    feed: bool = False
    values: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What telling one child did."""

    ready: bool = False
    """This call made it READY."""
    moved: bool = False
    """The parent is no longer as it was read: stop, somebody else tells its children now."""
    then: Parent | None = None
    """The child, where this call cancelled it and it has children of its own to tell."""


class TaskStore(Protocol):
    """Keeps tasks."""

    def candidates(self, tenant: str, queue: str, role: str, limit: int, subject: str | None) -> list[Candidate]:
        """Tasks that were READY a moment ago, most urgent first: hints, eventually consistent.

        With a subject, of that subject's tasks alone.

        Raises:
            Unavailable: too many tasks of others stand before the subject's.
        """
        ...

    def claim(
        self, tenant: str, candidate: Candidate, agent: str, nonce: str, lease_seconds: int, subject: str | None
    ) -> tuple[Task, Lease] | None:
        """READY becomes RUNNING under a new epoch; None where another was faster, or the subject is another's."""
        ...

    def heartbeat(self, tenant: str, lease: Lease, lease_seconds: int, progress: JsonValue) -> Beat:
        """The lease ends so much from now, never earlier than before; after a cancel it says so.

        Raises:
            LeaseLost: another holds the task, or it was given up.
        """
        ...

    def complete(self, tenant: str, lease: Lease, outcome: Outcome) -> tuple[Task, tuple[str, ...]]:
        """RUNNING, or READY after a lapse that nobody took over, becomes DONE; also the ids it freed earlier.

        Raises:
            LeaseLost: another holds the task, or it was given up.
            AlreadyTerminal: it was cancelled, or failed for good.
            VersionMismatch, Conflict, NotFound, TooLarge: a value cannot be changed so; nothing was, the task runs on.
        """
        ...

    def fail(self, tenant: str, lease: Lease, error: JsonValue, rest_ms: int | None) -> Task:
        """RUNNING becomes DELAYED for so long, or FAILED without a rest.

        Raises:
            LeaseLost: another holds the task, or it was given up.
            AlreadyTerminal: it ended.
        """
        ...

    def wait(self, tenant: str, lease: Lease, question: JsonValue) -> Task:
        """RUNNING becomes WAITING for an answer; the attempt does not count. Raises as ``fail``."""
        ...

    def release(self, tenant: str, lease: Lease) -> Task:
        """RUNNING becomes READY at once; the attempt does not count. Raises as ``fail``."""
        ...

    def get(self, tenant: str, graph_id: str, task_id: str) -> Task:
        """The task, with its content, strongly consistent.

        Raises:
            NotFound: there is no such task, or its graph is being deleted.
            SubjectErased: its content's key is gone.
        """
        ...

    def many(self, tenant: str, graph_id: str, task_ids: Sequence[str]) -> list[Task]:
        """Those of these tasks that exist, in the order asked for."""
        ...

    def page(
        self, tenant: str, graph_id: str, state: TaskState | None, role: str | None, position: str | None, limit: int
    ) -> Page[Task]:
        """Tasks of a graph by id; ``WAITING`` includes those that only lack their approval."""
        ...


class SteeringStore(Protocol):
    """What people do to a task that was just read; every step is pinned to what they saw."""

    def resume(self, tenant: str, task: Task, answer: JsonValue, agent: str) -> Task:
        """The question of this epoch is answered: READY; or the approval slot goes.

        Raises:
            Conflict: nothing is asked, or another question by now.
        """
        ...

    def cancel(self, tenant: str, task: Task, agent: str) -> Task:
        """An open task becomes CANCELLED, at the version read.

        Raises:
            AlreadyTerminal: it has ended.
            Conflict: the graph is still being created, or the task changed since it was read (retryable).
        """
        ...

    def retry(self, tenant: str, task: Task, agent: str) -> Task:
        """FAILED or CANCELLED, all children told, becomes READY or BLOCKED with attempts 0, at the epoch read.

        Raises:
            Conflict: it has not failed, the graph is not ACTIVE, or a parent stands in the way (``parents``).
            ParentMoved: a parent changed since it was read; repeat.
        """
        ...


class CascadeStore(Protocol):
    """Tells the children of a finished task, one by one; every call may be repeated and repeats change nothing."""

    def edges(self, tenant: str, parent: Parent) -> list[Edge]:
        """All edges from a task, strongly consistent."""
        ...

    def tell(self, tenant: str, parent: Parent, edge: Edge) -> Told:
        """Take the child's slot out where the edge is met, cancel the child where it is broken."""
        ...

    def all_told(self, tenant: str, parent: Parent, freed: Sequence[str]) -> None:
        """The parent is done with its children, and leaves the timer, if it is still in that state and epoch."""
        ...

    def go_on_soon(self, tenant: str, parent: Parent) -> None:
        """The parent's timer entry, which stood at the end of its lease, falls due now: the sweeper goes on."""
        ...


class TimerStore(Protocol):
    """Finds and does what has fallen due."""

    def due(self, shard: int, at_once: int) -> Iterator[Due]:
        """Entries of one of the 16 shards whose moment has come, the oldest first, read as they are taken: hints."""
        ...

    def tick_task(self, due: Due) -> Parent | None:
        """Do what is due on a task: reap a lapsed lease, end a delay, give up an unfinished add, move the entry.

        Answers the task where its children are to be told now.
        """
        ...

    def tick_graph(self, due: Due, deadline: int) -> None:
        """Do what is due on a graph: give up an unfinished create, finish one, a cancel or a delete."""
        ...

    def tick_values(self, due: Due, deadline: int) -> None:
        """Remove the values of a graph that ended long enough ago, or move the entry to when it may have."""
        ...

    def postpone(self, due: Due, ms: int) -> None:
        """Move an entry that could not be worked on, so that it does not stand at the head for ever."""
        ...
