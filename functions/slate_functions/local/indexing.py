"""The index of a local Slate: its stream, read through the very function that AWS would run."""

from __future__ import annotations

from slate.adapters.dynamodb.table import INDEX_FILTER
from slate.wiring import LocalSlate
from slate_functions.indexer.consume import IndexConsumer
from slate_functions.local.stream import StreamPump


def index_consumer(local: LocalSlate) -> StreamPump:
    """What keeps the index up."""
    slate = local.slate
    return StreamPump(
        local.dynamodb,
        local.streams,
        slate.settings.table,
        IndexConsumer(slate.memory.retrieval.indexing),
        pattern=INDEX_FILTER,
        given_up=slate.feed_failures.send,
        trimmed=lambda: None,
    )
