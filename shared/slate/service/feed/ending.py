"""Asks for what follows a graph's end, with whatever else its feed tells the bus: at least once, and by ids alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from slate.domain.events import EventType, FeedEntry
from slate.ports.event_bus import EventBus
from slate.ports.queue import Queue

ENDED: Final = "graph-ended"
"""The kind of message that names a graph whose tasks have all ended."""


class Ends:
    """A bus before the bus: what either does not take makes the feed tell both again."""

    def __init__(self, bus: EventBus, queue: Queue) -> None:
        self._bus = bus
        self._queue = queue

    def publish(self, tenant: str, events: Sequence[FeedEntry]) -> None:
        """A message for each end, then the entries themselves."""
        for entry in events:
            if entry.type is EventType.GRAPH_COMPLETED:
                self._queue.send(
                    {
                        "kind": ENDED,
                        "tenant": tenant,
                        "graph_id": entry.graph_id,
                        "seq": entry.seq,
                        "state": entry.state,
                        "at": entry.at,
                    }
                )
        self._bus.publish(tenant, events)
