"""Follows a graph's feed: what happened after a number, at once or as soon as something does."""

from __future__ import annotations

from slate.contract.feed import FeedPage
from slate.domain.access import Principal
from slate.domain.errors import NotFound
from slate.domain.events import FeedEntry
from slate.domain.fences import Intent
from slate.ports.feed_store import FeedStore
from slate.ports.graph_store import GraphStore
from slate.ports.keyring import Operate
from slate.ports.wakeups import feed_topic
from slate.service.waiting import Waiting


class Following:
    """The followers' use case."""

    def __init__(self, graphs: GraphStore, store: FeedStore, waiting: Waiting, operate: Operate) -> None:
        self._graphs = graphs
        self._store = store
        self._waiting = waiting
        self._operate = operate

    def read(self, principal: Principal, graph_id: str, after: int, limit: int, wait_seconds: float) -> FeedPage:
        """The entries after a number; where there are none yet, wait so many seconds for the next.

        Raises:
            NotFound: there is no such graph, it is being deleted, or is about another subject; or was, in the meantime.
            SubjectErased, SubjectHeld: the person whom it is about is being erased, or held, now or since it waited.
            Unavailable: there are none, and as many callers wait as may.
        """
        tenant, looks = principal.tenant, 0
        if not principal.may_reach(self._graphs.head(tenant, graph_id).subject):
            raise NotFound(f"there is no graph {graph_id!r}")

        def look() -> list[FeedEntry] | None:
            nonlocal looks
            looks += 1
            return self._store.entries(tenant, graph_id, after, limit) or None

        topics = (feed_topic(tenant, graph_id),)
        found = self._waiting.until(look, topics=topics, seconds=wait_seconds) or []
        if looks > 1:
            # What was seen of the graph, and of its person's fence, when the waiting began says nothing now.
            with self._operate(Intent.READ, tenant):
                self._graphs.head(tenant, graph_id)
        return FeedPage(items=tuple(found), next_after=found[-1].seq if found else after)
