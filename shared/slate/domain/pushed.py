"""Pushed events: the few entries of the change feed that wake somebody, as they stand on the bus and in a webhook.

Ids, states and epochs, never content: who is woken reads the rest with a key of its own. An event's id follows from
what it tells, so that the same entry published twice is the same event twice, and can be known again.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict

from slate.domain.events import EventType, FeedEntry
from slate.domain.instants import Instant

SOURCE: Final = "slate"
"""The source of Slate's events on a bus."""

PUSHED: Final = (
    EventType.TASK_READY,
    EventType.TASK_WAITING,
    EventType.TASK_COMPLETED,
    EventType.TASK_FAILED,
    EventType.GRAPH_COMPLETED,
)
"""The types that are pushed; the feed has them all."""

PushedType = Literal["task.ready", "task.waiting", "task.completed", "task.failed", "graph.completed"]


class PushedEvent(BaseModel):
    """One event; ``docs/schemas`` describes it by type and version."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[1] = 1
    event_id: str
    type: PushedType
    at: Instant
    tenant: str
    graph_id: str
    task_id: str | None
    state: str
    agent: str | None
    epoch: int | None
    role: str | None
    queue: str | None
    seq: int

    @classmethod
    def of(cls, tenant: str, entries: Iterable[FeedEntry]) -> list[Self]:
        """Those of a tenant's entries that are pushed."""
        return [
            cls.model_validate(
                {
                    **entry.model_dump(include=set(cls.model_fields)),
                    "event_id": _id_of(tenant, entry),
                    "tenant": tenant,
                }
            )
            for entry in entries
            if entry.type in PUSHED
        ]


def _id_of(tenant: str, entry: FeedEntry) -> str:
    # With its instant and type: the numbers of a graph begin anew when it is deleted and made again under its id.
    told = "\0".join((tenant, entry.graph_id, str(entry.seq), str(entry.at), entry.type))
    return f"e-{blake2b(told.encode(), digest_size=16).hexdigest()}"
