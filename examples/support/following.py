"""Follows the change feeds of graphs until all of them have ended: what the demo knows of its progress, it knows so."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Final, Self

from slate.client import SlateClient
from slate.domain.events import EventType, FeedEntry

AT_ONCE: Final = 16
"""Feeds that are waited on side by side; the others are read when it is their turn, from their first entry on."""
_WAIT_SECONDS: Final = 1.0
"""A long poll's, which is how soon a follower that is not needed any more ends."""
_ENDS: Final = (EventType.GRAPH_COMPLETED, EventType.GRAPH_CANCELLED)


class Followers:
    """Hands on what happens to graphs, in the order of each graph's feed."""

    def __init__(self, client: SlateClient, graph_ids: Sequence[str]) -> None:
        self._client = client
        self._entries: queue.SimpleQueue[FeedEntry] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="follower")
        self._feeds: list[Future[None]] = [self._pool.submit(self._follow, graph_id) for graph_id in graph_ids]

    def __enter__(self) -> Self:
        """They follow already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop following."""
        self._stopping.set()
        self._pool.shutdown(cancel_futures=True)

    @property
    def ended(self) -> bool:
        """Whether every graph has ended, and all of it was handed on.

        Raises:
            SlateError: a feed cannot be read.
        """
        done, pending = wait(self._feeds, timeout=0)
        for feed in done:
            feed.result()
        return not pending and self._entries.empty()

    def heard(self, seconds: float) -> Iterator[FeedEntry]:
        """What has happened; waits so long for the first of it."""
        try:
            yield self._entries.get(timeout=seconds)
            while True:
                yield self._entries.get_nowait()
        except queue.Empty:
            return

    def _follow(self, graph_id: str) -> None:
        after = 0
        while not self._stopping.is_set():
            page = self._client.events(graph_id, after=after, wait_seconds=_WAIT_SECONDS)
            for entry in page.items:
                self._entries.put(entry)
            if any(entry.type in _ENDS for entry in page.items):
                return
            after = page.next_after
