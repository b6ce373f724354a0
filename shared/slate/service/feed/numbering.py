"""Numbers a graph's changes: any number of consumers may, and every follower sees the same feed.

A batch is one transaction IF the feed is as it was read, so that two consumers never give one number twice, and one
that dies leaves nothing half done. Only then is the bus told, and only then does the feed remember that it was: a
crash between tells it again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Final

from slate.domain.errors import Unavailable
from slate.domain.events import Step
from slate.domain.feed import WAIT_MS, FeedView, Numbering
from slate.ports.clock import Clock
from slate.ports.event_bus import EventBus
from slate.ports.feed_store import FeedMoved, FeedStore, GraphGone
from slate.ports.wakeups import EVERYBODY, Wakeups, feed_topic

STEPS_AT_ONCE: Final = 90
"""A transaction holds 100 writes: both heads, the graph's mark, a mark for each of these, and a page of entries."""
ENTRIES_AT_ONCE: Final = 200
"""A page of them stays below 64 KB."""
_TRIES: Final = 20
_TOLD_AT_ONCE: Final = 100

Act = Callable[[Numbering], None]


class Feeds:
    """Keeps feeds up with their graphs."""

    def __init__(self, store: FeedStore, wakeups: Wakeups, clock: Clock, bus: EventBus | None = None) -> None:
        self._store = store
        self._wakeups = wakeups
        self._clock = clock
        self._bus = bus

    def number(self, tenant: str, graph_id: str, steps: Iterable[Step]) -> int:
        """Number steps of one graph; answer how many entries that made. What was numbered before changes nothing.

        Raises:
            Unavailable: other consumers keep changing the feed; a repeat does what is left.
        """
        left, made = list(steps), 0
        while left:
            now, left = left[:STEPS_AT_ONCE], left[STEPS_AT_ONCE:]
            ids = {step.task_id for step in now if step.task_id is not None}
            made += self._do(tenant, graph_id, ids, lambda feed, now=now: feed.take(now))  # type: ignore[misc]
        return made

    def check(self, tenant: str, graph_id: str) -> int:
        """Compare a feed with its graph: number what the stream did not bring, give up what was missing too long.

        What the graph's items stand at is taken like any step, so that it waits its turn: a step that is still under
        way comes before it, one that was lost becomes a gap. So the counts come right again, whatever was lost.
        """
        seen = self._store.overview(tenant, graph_id)
        if seen is None:
            return 0
        made = self.number(tenant, graph_id, seen.behind)
        now = self._clock.now()
        overdue = [task_id for task_id, since in seen.waiting.items() if since + WAIT_MS <= now]
        for start in range(0, len(overdue), STEPS_AT_ONCE):
            some = overdue[start : start + STEPS_AT_ONCE]
            ids = {task_id for task_id in some if task_id is not None}
            made += self._do(tenant, graph_id, ids, lambda feed, some=some: feed.give_up_overdue(some))  # type: ignore[misc]
        due = min((since + WAIT_MS for since in seen.waiting.values() if since + WAIT_MS > now), default=None)
        self._store.looked(tenant, graph_id, seen, due)
        return made

    def _do(self, tenant: str, graph_id: str, ids: Collection[str], act: Act) -> int:
        """Read the feed, act on it, commit; again where another was faster, or where there was no room for all."""
        made = moved = 0
        while moved < _TRIES:
            view = self._store.read(tenant, graph_id, ids)
            if view is None:
                return made
            self._tell_rest(tenant, view)
            feed = self._acted(tenant, view, act)
            if not feed.changed:
                return made
            try:
                self._commit(tenant, view, feed)
            except FeedMoved:
                moved += 1
                continue
            except GraphGone:
                return made
            made += len(feed.entries)
            if not feed.full:
                return made
        raise Unavailable("other consumers keep changing the feed; repeat the call")

    def _acted(self, tenant: str, view: FeedView, act: Act) -> Numbering:
        feed = Numbering(view, self._clock.now(), room=ENTRIES_AT_ONCE)
        act(feed)
        if feed.completes and not self._store.all_ended(tenant, view.graph_id):
            # A task that the feed has not seen yet is open: it will be seen, and the end is looked for again.
            feed = Numbering(view, self._clock.now(), room=ENTRIES_AT_ONCE, completing=False)
            act(feed)
        return feed

    def _commit(self, tenant: str, view: FeedView, feed: Numbering) -> None:
        head = feed.head
        if self._bus is None:
            head = replace(head, published=head.seq)
        self._store.commit(tenant, view, head, feed.changed, feed.entries)
        if not feed.entries:
            return
        self._wakeups.tell(feed_topic(tenant, view.graph_id), EVERYBODY)
        if self._bus is not None:
            self._bus.publish(tenant, feed.entries)
            self._store.published(tenant, view.graph_id, head.seq)

    def _tell_rest(self, tenant: str, view: FeedView) -> None:
        """What was committed, and perhaps not told: its consumer died, or the bus refused."""
        told = view.head.published
        while self._bus is not None and told < view.head.seq:
            entries = self._store.entries(tenant, view.graph_id, told, _TOLD_AT_ONCE)
            if not entries:
                return  # the graph is being deleted
            self._bus.publish(tenant, entries)
            told = entries[-1].seq
            self._store.published(tenant, view.graph_id, told)
