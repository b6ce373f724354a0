"""A graph's feed as it is kept: its entries by number, how far each task is numbered, and the head that orders both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from slate.domain.events import FeedEntry, Step
from slate.domain.feed import FeedHead, FeedView, Mark


class FeedMoved(Exception):  # not an error: the expected answer to a lost race
    """Another consumer has committed since the feed was read: read it again."""


class GraphGone(Exception):  # as above
    """The graph is deleted, or being deleted: nothing more is written to it."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What a comparison of a feed with its graph shows."""

    parks: int
    """Grows with each commit that parked a step that was parked: tells whether one was since."""
    behind: Sequence[Step] = ()
    """The steps that the graph's items stand at, where the feed is not as far."""
    waiting: Mapping[str | None, int] = field(default_factory=dict)
    """Tasks with parked steps, and since when."""


class FeedStore(Protocol):
    """Keeps feeds."""

    def read(self, tenant: str, graph_id: str, task_ids: Collection[str]) -> FeedView | None:
        """The feed with the marks of these tasks and the graph's own; None where the graph is gone. One call."""
        ...

    def commit(
        self,
        tenant: str,
        view: FeedView,
        head: FeedHead,
        marks: Mapping[str | None, Mark],
        entries: Sequence[FeedEntry],
    ) -> None:
        """Write all of it in one transaction, IF the feed is as it was read and the graph is there.

        Raises:
            FeedMoved: it is not; that may be this very call's doing, whose answer was lost.
            GraphGone: the graph is not.
        """
        ...

    def published(self, tenant: str, graph_id: str, seq: int) -> None:
        """The bus has taken all entries up to this number."""
        ...

    def entries(self, tenant: str, graph_id: str, after: int, limit: int) -> list[FeedEntry]:
        """The entries that follow a number, strongly consistent."""
        ...

    def all_ended(self, tenant: str, graph_id: str) -> bool:
        """Whether no task of the graph is open, strongly consistent; reads no further than the first open one."""
        ...

    def overview(self, tenant: str, graph_id: str) -> Overview | None:
        """Compare a graph's feed with its items; None where the graph is gone. A page for each MB of tasks."""
        ...

    def looked(self, tenant: str, graph_id: str, seen: Overview, due: int | None) -> None:
        """The comparison is over, and the next is due then, or never; unless something was parked since."""
        ...


class Feeding(Protocol):
    """Numbers changes: what the stream's consumer and the sweeper call."""

    def number(self, tenant: str, graph_id: str, steps: Iterable[Step]) -> int:
        """Number steps of one graph; answer how many entries that made."""
        ...

    def check(self, tenant: str, graph_id: str) -> int:
        """Compare the feed with its graph, and give up what has been missing too long; answer the entries made."""
        ...
