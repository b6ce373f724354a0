"""The route of a graph's change feed."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from slate.contract.feed import FeedPage
from slate.contract.tasks import MAX_WAIT_SECONDS
from slate.domain.access import Principal, Scope
from slate.service.feed.following import Following
from slate_functions.http.dependencies import PathId, Query
from slate_functions.http.routes import get
from slate_functions.tasks_api import events_examples as examples

MAX_ENTRIES: Final = 1_000
MAX_SEQ: Final = 999_999_999_999


class EventQuery(Query):
    """Where a follower stands."""

    after: Annotated[
        int, Field(ge=0, le=MAX_SEQ, description="the `seq` seen last, or `next_after`; 0: from the first")
    ] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_ENTRIES, description="entries of a page, at most")] = 100
    wait_seconds: Annotated[
        float,
        Field(
            ge=0,
            le=MAX_WAIT_SECONDS,
            allow_inf_nan=False,
            description="where there are none yet, wait so long for the next; real time",
        ),
    ] = 0


class EventRoutes:
    """The change feed: what happened to a graph, in one order for all who follow it."""

    def __init__(self, following: Following) -> None:
        self._following = following

    @get("/v1/graphs/{graph_id}/events", scope=Scope.TASKS_READ, waits=True, gives=examples.FEED_PAGE)
    def list_events(self, principal: Principal, graph_id: PathId, query: EventQuery) -> FeedPage:
        """Follow a graph: one entry for each change of a state, numbered from 1 without a gap.

        Ask for what comes after the last entry seen. Every follower sees the same entries under the same numbers; a
        task's entries stand in the order in which they happened. They come within a second or two of the change.
        """
        return self._following.read(principal, graph_id, query.after, query.limit, query.wait_seconds)
