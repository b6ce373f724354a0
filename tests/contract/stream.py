"""The stream of a world's table, as Lambda hands it to the feed's consumer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from contract.world import TENANT, World
from slate.adapters.dynamodb.keys import graph_pk, prefix
from slate.adapters.dynamodb.table import FEED_FILTER
from slate.contract.feed import FeedPage
from slate.domain.access import Principal
from slate.domain.events import FeedEntry
from slate.wiring.parts import FEED_FAILURES
from slate_functions.events.consume import BatchAnswer, FeedConsumer
from slate_functions.local.stream import _as_json, matches

Record = dict[str, Any]


class Stream:
    """What the table's stream holds that was not read yet, and a consumer to hand it to."""

    def __init__(self, w: World, streams: Any) -> None:
        self._streams = streams
        self._w = w
        arn = w.dynamodb.describe_table(TableName=w.settings.table)["Table"]["LatestStreamArn"]
        shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        answer = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        self._iterator = answer["ShardIterator"]
        self.consumer = FeedConsumer(w.slate.feeds, w.slate.feed_failures, w.slate.operate)

    def read(self) -> list[Record]:
        """Every new record that the consumer's filter lets through."""
        found: list[Record] = []
        while True:
            page = self._streams.get_records(ShardIterator=self._iterator, Limit=1_000)
            self._iterator = page["NextShardIterator"]
            if not page["Records"]:
                return found
            found += [json.loads(json.dumps(record, default=_as_json)) for record in page["Records"]]

    def records(self) -> list[Record]:
        return [record for record in self.read() if matches(record, FEED_FILTER)]

    def hand(self, records: Iterable[Record]) -> list[str]:
        """One batch; the numbers of those that failed."""
        answer: BatchAnswer = self.consumer({"Records": list(records)}, None)
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def follow(self) -> None:
        """All that is new, in order."""
        assert self.hand(self.records()) == []

    def feed(self, graph_id: str = "g", tenant: str = TENANT) -> list[FeedEntry]:
        """The entries that are stored, whether the graph is there or not."""
        return self.page(graph_id, self._w.principal(tenant=tenant)).items  # type: ignore[return-value]

    def page(self, graph_id: str = "g", by: Principal | None = None, after: int = 0, limit: int = 1_000) -> FeedPage:
        return self._w.slate.following.read(by or self._w.me, graph_id, after, limit, 0)

    def kept(self, graph_id: str = "g") -> list[Mapping[str, Any]]:
        """The feed's own items of a graph."""
        pk = graph_pk(TENANT, graph_id)
        return [item for key, item in self._w.items().items() if key.pk == pk and key.sk[:2] in ("FE", "F#", "M#")]

    def failures(self) -> list[dict[str, Any]]:
        queue: Any = self._w.slate.feed_failures
        found: list[dict[str, Any]] = queue.queues.waiting(FEED_FAILURES)
        return found


def keys_of(record: Record) -> tuple[str, str]:
    keys = record["dynamodb"]["Keys"]
    return keys["pk"]["S"], keys["sk"]["S"]


def lines(entries: Iterable[FeedEntry]) -> list[str]:
    """Each entry as ``type task``."""
    return [f"{entry.type} {entry.task_id or ''}".strip() for entry in entries]


__all__ = ["Record", "Stream", "keys_of", "lines", "prefix"]
