"""The event source mapping of one machine: hands a consumer the table's stream as Lambda would.

Batches in order, filtered by the same pattern; of a batch that fails in part, the rest from the first failed record
on comes again; a record that fails too often is given up and told of, so that it does not hold up the others.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient

Handler = Callable[[Mapping[str, Any], Any], Mapping[str, Any]]
BATCH: Final = 100
TRIES: Final = 5
_READ_AT_ONCE: Final = 1_000

_log = logging.getLogger(__name__)


class StreamPump:
    """Reads a table's stream from its beginning, at the pace it is asked to."""

    def __init__(
        self,
        dynamodb: DynamoDBClient,
        streams: DynamoDBStreamsClient,
        table: str,
        handler: Handler,
        *,
        pattern: Mapping[str, Any],
        given_up: Callable[[Mapping[str, Any]], None],
        trimmed: Callable[[], None],
    ) -> None:
        self._streams = streams
        self._handler = handler
        self._pattern = pattern
        self._given_up = given_up
        self._trimmed = trimmed
        self._arn = dynamodb.describe_table(TableName=table)["Table"]["LatestStreamArn"]
        self._region = self._arn.split(":")[3]
        self._shard = streams.describe_stream(StreamArn=self._arn)["StreamDescription"]["Shards"][0]["ShardId"]
        self._iterator = self._horizon()
        self._pending: list[dict[str, Any]] = []
        self._tries = 0
        self._one_at_a_time = Lock()
        self._closed = False

    def close(self) -> None:
        """Hand on no further batch: a run that is under way ends with the one it is at."""
        self._closed = True

    def run(self) -> int:
        """Hand on all that the stream holds; answer how many records the consumer was given."""
        with self._one_at_a_time:
            done = 0
            while not self._closed and (self._pending or self._read()):
                batch = self._pending[:BATCH]
                taken = self._taken(batch)
                self._pending = self._pending[taken:]
                done += taken
                if taken:
                    self._tries = 0
                    continue
                self._tries += 1
                if self._tries >= TRIES:
                    self._give_up(self._pending.pop(0))
            return done

    def _taken(self, batch: Sequence[Mapping[str, Any]]) -> int:
        """How many of the first records the consumer has taken; after failures a smaller batch is tried."""
        if self._tries:
            batch = batch[: max(1, len(batch) >> self._tries * 2)]
        event = {"Records": [self._as_lambda_gives_it(record) for record in batch]}
        try:
            answer = self._handler(event, None) or {}
        except Exception as error:  # noqa: BLE001  # as on Lambda: the batch comes again
            _log.error("the consumer of the stream raised %s", type(error).__name__)  # may quote content
            return 0
        failed = {failure["itemIdentifier"] for failure in answer.get("batchItemFailures", ())}
        if not failed:
            return len(batch)
        places = [i for i, record in enumerate(batch) if record["dynamodb"]["SequenceNumber"] in failed]
        return places[0] if places else 0  # an unknown number: the whole batch has failed

    def _give_up(self, record: Mapping[str, Any]) -> None:
        self._tries = 0
        number = record["dynamodb"]["SequenceNumber"]
        self._given_up({"reason": "retries exhausted", "sequence_number": number, "stream": self._arn})

    def _read(self) -> bool:
        """Fill what is pending; False at the stream's end."""
        while True:
            try:
                page = self._streams.get_records(ShardIterator=self._iterator, Limit=_READ_AT_ONCE)
            except ClientError as error:
                if error.response["Error"]["Code"] not in ("TrimmedDataAccessException", "ExpiredIteratorException"):
                    raise
                self._iterator = self._horizon()
                self._trimmed()
                continue
            self._iterator = page["NextShardIterator"]
            self._pending = [dict(record) for record in page["Records"] if matches(record, self._pattern)]
            if self._pending or not page["Records"]:
                return bool(self._pending)

    def _horizon(self) -> str:
        """The oldest record that is kept."""
        answer = self._streams.get_shard_iterator(
            StreamArn=self._arn, ShardId=self._shard, ShardIteratorType="TRIM_HORIZON"
        )
        return answer["ShardIterator"]

    def _as_lambda_gives_it(self, record: Mapping[str, Any]) -> Any:
        whole = {**record, "awsRegion": self._region, "eventSourceARN": self._arn}
        return json.loads(json.dumps(whole, default=_as_json))


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(value)).decode()
    raise TypeError(f"a record of a stream holds no {type(value).__name__}")


def matches(record: Any, pattern: Any) -> bool:
    """Whether a record fits an event filter, as far as Slate's use the language: names, values, prefixes."""
    if isinstance(pattern, Mapping):
        return isinstance(record, Mapping) and all(
            name in record and matches(record[name], wanted) for name, wanted in pattern.items()
        )
    return any(
        str(record).startswith(choice["prefix"]) if isinstance(choice, Mapping) else record == choice
        for choice in pattern
    )
