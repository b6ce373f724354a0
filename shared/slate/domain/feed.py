"""The numbering of a graph's changes: each step once, a task's steps in the order of their versions.

A step is numbered when all earlier versions of the same task are; until then it is parked. So the numbers do not
depend on the order in which steps come, nor on how often: what comes again is known by its version. A version that
does not come at all is given up in the end, and a ``gap`` stands in its place.

Nothing here reads or writes: a feed is read, steps are taken, and what came of it is written in one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from slate.domain.events import EventType, FeedEntry, Step
from slate.domain.graphs import Counts, GraphState, derived_state

WAIT_MS: Final = 5 * 60_000
"""A missing version is waited for so long. The stream keeps a task's order, so that it comes before what follows it,
or was given up."""
PARKED_MOST: Final = 100
"""Steps of one task that wait; one more, and what they wait for is given up."""
SKEW_MS: Final = 30_000
"""A graph's id is free 90 s after its deletion: what is older than a graph by more than this belongs to its
predecessor, whichever clocks the two were stamped by."""
CHECKED_EVERY: Final = 5_000
"""After so many entries the feed is compared with the table."""
_ENDED: Final = (GraphState.DONE, GraphState.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far a task, or the graph's head, has been numbered."""

    version: int = 0
    state: str | None = None
    """The last state that is known: the one it is counted under."""
    sure: bool = True
    """Not after a gap: the state is that of an earlier version."""
    parked: tuple[Step, ...] = ()
    """What waits for an earlier version, in order."""
    since: int | None = None
    """When the waiting began."""

    def with_parked(self, step: Step, now: int) -> Mark:
        """The same mark with one more step waiting."""
        parked = tuple(sorted((*self.parked, step), key=lambda s: s.version))
        return replace(self, parked=parked, since=self.since or now)

    def without_first(self, **changes: object) -> Mark:
        """The same mark after its first waiting step was numbered: what follows waits for another version."""
        rest = self.parked[1:]
        return replace(self, parked=rest, since=self.since if rest else None, **changes)  # type: ignore[arg-type]  # the fields of a mark

    def knows(self, version: int) -> bool:
        """Whether a version was numbered, or waits."""
        return version <= self.version or any(step.version == version for step in self.parked)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedHead:
    """What is stored of a feed beside its entries and marks."""

    seq: int = 0
    """The last number given."""
    turn: int = 0
    """Grows with each transaction: it is committed IF nobody else's came between."""
    published: int = 0
    """The last number that the bus has taken."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Tasks by state, as of the last number."""
    shown: str | None = None
    """The graph's state, as the feed has told it."""
    due: int | None = None
    """When the feed is to be compared with the table, if anything waits."""

    @property
    def tasks(self) -> Counts:
        """The counts as callers see them."""
        return _shown(self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedView:
    """A feed as it was read, with the marks of those tasks that were asked for; None is the graph's own."""

    graph_id: str
    born: int
    """When the graph was created."""
    subject_ref: str | None
    head: FeedHead
    marks: Mapping[str | None, Mark]


class Numbering:
    """Takes steps into a feed as it was read; what is new then stands in ``entries``, ``head`` and ``changed``."""

    def __init__(self, view: FeedView, now: int, *, room: int, completing: bool = True) -> None:
        self.entries: list[FeedEntry] = []
        self.full = False
        """There was no room for all: commit, read again, and take the same steps again."""
        self._view = view
        self._now = now
        self._room = room
        self._completing = completing
        self._marks = dict(view.marks)
        self._counts = Counter(view.head.counts)
        self._shown = view.head.shown
        for task_id in view.marks:
            self._settle(task_id)

    @property
    def changed(self) -> dict[str | None, Mark]:
        """The marks that are no longer as they were read."""
        before = self._view.marks
        return {task_id: mark for task_id, mark in self._marks.items() if mark != before.get(task_id, Mark())}

    @property
    def completes(self) -> bool:
        """Whether these entries say that every task has ended."""
        return any(entry.type is EventType.GRAPH_COMPLETED for entry in self.entries)

    @property
    def waits(self) -> bool:
        """Whether a step was parked."""
        return any(mark.parked for mark in self.changed.values())

    @property
    def head(self) -> FeedHead:
        """The head after these entries; due to be compared where something waits, is not sure, or much has happened."""
        before = self._view.head
        seq, due = before.seq + len(self.entries), before.due
        if any(not mark.sure for mark in self.changed.values()) or seq // CHECKED_EVERY > before.seq // CHECKED_EVERY:
            due = self._now
        elif self.waits:
            due = min(before.due or self._now + WAIT_MS, self._now + WAIT_MS)
        counts = {state: n for state, n in self._counts.items() if n}
        return replace(before, seq=seq, turn=before.turn + 1, counts=counts, shown=self._shown, due=due)

    def take(self, steps: Iterable[Step]) -> None:
        """Number each step whose turn it is, and park the others; what is known already changes nothing."""
        for step in steps:
            if step.born < self._view.born - SKEW_MS:
                continue
            mark = self._mark(step.task_id)
            if not mark.sure and step.version == mark.version and step.state is not None:
                self._learn(step, mark)
            elif not mark.knows(step.version):
                self._marks[step.task_id] = mark.with_parked(step, self._now)
                self._settle(step.task_id)
                if len(self._mark(step.task_id).parked) > PARKED_MOST:
                    self.give_up(step.task_id)

    def give_up_overdue(self, task_ids: Iterable[str | None]) -> None:
        """Give up what these have waited for too long, where they still do."""
        for task_id in task_ids:
            since = self._mark(task_id).since
            if since is not None and since + WAIT_MS <= self._now:
                self.give_up(task_id)

    def give_up(self, task_id: str | None) -> None:
        """What a task's steps wait for will not come: a gap stands in the place of each missing version."""
        mark = self._mark(task_id)
        if not mark.parked:
            return
        first = mark.parked[0]
        while not self.full and self._mark(task_id).version < first.version - 1:
            version = self._mark(task_id).version + 1
            gap = replace(first, version=version, state=None, at=self._now, agent=None, epoch=None)
            current = self._mark(task_id)
            self._marks[task_id] = replace(current, parked=(gap, *current.parked))
            self._settle(task_id)

    def _settle(self, task_id: str | None) -> None:
        """Number what waits at a task as long as it is the next version's turn, and there is room."""
        while (mark := self._mark(task_id)).parked and mark.parked[0].version == mark.version + 1:
            if len(self.entries) + 2 > self._room:  # a graph's own entry may go with a task's
                self.full = True
                return
            self._number(mark.parked[0], mark)

    def _number(self, step: Step, mark: Mark) -> None:
        if step.state is None:
            self._enter(step)
            self._marks[step.task_id] = mark.without_first(version=step.version, sure=False)
            return
        if step.state != mark.state or not mark.sure:
            self._enter(step)
        self._count(step, mark)
        self._marks[step.task_id] = mark.without_first(version=step.version, state=step.state, sure=True)
        if step.task_id is None:
            self._shown = step.state
        self._derive(step.at)

    def _learn(self, step: Step, mark: Mark) -> None:
        """After a gap: what the table says of this very version. The gap stays; the counts are right again."""
        self._count(step, mark)
        self._marks[step.task_id] = replace(mark, state=step.state, sure=True)
        if step.task_id is None:
            self._shown = step.state
        if len(self.entries) < self._room:
            self._derive(step.at)
        else:
            self.full = True

    def _count(self, step: Step, mark: Mark) -> None:
        if step.task_id is not None:
            if mark.state is not None:
                self._counts[mark.state] -= 1
            self._counts[str(step.state)] += 1

    def _derive(self, at: int) -> None:
        """A graph's end, and its end's end, follow from its tasks."""
        graph = self._mark(None)
        if graph.state != GraphState.ACTIVE or not graph.sure:
            return
        state = derived_state(GraphState.ACTIVE, _shown(self._counts))
        if state == self._shown or (state in _ENDED and not self._completing):
            return
        type_ = EventType.GRAPH_COMPLETED if state in _ENDED else EventType.GRAPH_REOPENED
        self._shown = state
        self.entries.append(
            FeedEntry(
                seq=self._next_seq(),
                at=at,
                type=type_,
                graph_id=self._view.graph_id,
                state=state,
                version=graph.version,
            )
        )

    def _enter(self, step: Step) -> None:
        self.entries.append(step.entry(self._view.graph_id, self._next_seq()))

    def _next_seq(self) -> int:
        return self._view.head.seq + len(self.entries) + 1

    def _mark(self, task_id: str | None) -> Mark:
        return self._marks.get(task_id) or Mark()


def _shown(counts: Mapping[str, int]) -> Counts:
    return Counts(**{state.lower(): n for state, n in counts.items()})
