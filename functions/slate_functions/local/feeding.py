"""The change feeds of a local Slate: its stream, read through the very function that AWS would run."""

from __future__ import annotations

from collections.abc import Iterator

from slate.adapters.dynamodb.table import FEED_FILTER, PK, SK
from slate.wiring.local import LocalSlate
from slate_functions.events.consume import FeedConsumer
from slate_functions.local.stream import StreamPump


def feed_consumer(local: LocalSlate) -> StreamPump:
    """What keeps the feeds up; where the stream no longer keeps what was not read yet, the table itself tells."""
    slate = local.slate

    def trimmed() -> None:
        for tenant, graph_id in _graphs(local):
            slate.feeds.check(tenant, graph_id)

    return StreamPump(
        local.dynamodb,
        local.streams,
        slate.settings.table,
        FeedConsumer(slate.feeds, slate.feed_failures, slate.operate),
        pattern=FEED_FILTER,
        given_up=slate.feed_failures.send,
        trimmed=trimmed,
    )


def _graphs(local: LocalSlate) -> Iterator[tuple[str, str]]:
    """Every graph's tenant and id; a scan, which only a laptop's table is small enough for."""
    pages = local.dynamodb.get_paginator("scan").paginate(
        TableName=local.slate.settings.table,
        FilterExpression="#sk = :head",
        ProjectionExpression="#pk",
        ExpressionAttributeNames={"#pk": PK, "#sk": SK},
        ExpressionAttributeValues={":head": {"S": "META"}},
    )
    for page in pages:
        for item in page["Items"]:
            tenant, kind, graph_id = item[PK]["S"].split("#", 2)
            if kind == "G":
                yield tenant, graph_id
