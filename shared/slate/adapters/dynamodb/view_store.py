"""Tasks in outline: a query that leaves all that is sealed where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from slate.adapters.dynamodb.keys import TASK, graph_pk, prefix
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.task_items import history_of, parents_of, shown_state
from slate.domain.critical_path import Outline
from slate.domain.timeline import spans_of

_READ: Final = ("sk", "state", "need", "role", "epoch", "history", "parents")


class DynamoViewStore:
    """Reads outlines from DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def outlines(
        self, tenant: str, graph_id: str, after: str | None = None, *, at_once: int | None = None
    ) -> Iterator[Outline]:
        """``at_once`` so many to a call; a megabyte to a call where it is not given."""
        low, high = prefix(TASK)
        start = low if after is None else TASK + after + " "  # sorts right after it, before any further id
        pk, calls = graph_pk(tenant, graph_id), self._storage.calls
        for item in calls.query(tenant, pk, between=(start, high), at_once=at_once, names=_READ):
            history = history_of(item)
            yield Outline(
                task_id=str(item["sk"]).removeprefix(TASK),
                role=item["role"],
                state=shown_state(item),
                parents=tuple(parent.task_id for parent in parents_of(item)),
                spans=spans_of(history),
                completed_at=next((entry.at for entry in reversed(history) if entry.event == "completed"), None),
            )
