"""The index of a local Slate: its stream, read through the very function that AWS would run."""

from __future__ import annotations

from slate.adapters.dynamodb.index_walk import walk
from slate.adapters.dynamodb.table import INDEX_FILTER
from slate.service.search.reindexing import Memory, Reindexing
from slate.wiring.local import LocalSlate
from slate_functions.indexer.consume import IndexConsumer
from slate_functions.local.stream import StreamPump


def index_consumer(local: LocalSlate) -> StreamPump:
    """What keeps the index up; where the stream no longer keeps what was not read yet, the table itself tells."""
    slate = local.slate
    indexing = slate.memory.retrieval.indexing

    def trimmed() -> None:
        if indexing is not None:
            changes = walk(local.dynamodb, slate.settings.table)
            found = (Memory(change.tenant, change.kind, change.owner, change.id) for change in changes)
            Reindexing(indexing).check(found, mend=True)

    return StreamPump(
        local.dynamodb,
        local.streams,
        slate.settings.table,
        IndexConsumer(indexing, slate.operate),
        pattern=INDEX_FILTER,
        given_up=slate.feed_failures.send,
        trimmed=trimmed,
    )
