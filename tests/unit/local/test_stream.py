"""The local event source mapping: order, filters, partial batches, and records that are given up."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from botocore.exceptions import ClientError

from slate_functions.local.stream import BATCH, TRIES, StreamPump

ALL: dict[str, Any] = {"eventName": [{"prefix": ""}]}


class Dynamo:
    def describe_table(self, **_: Any):
        return {"Table": {"LatestStreamArn": "arn:aws:dynamodb:eu-central-1:0:table/t/stream/s"}}


class Streams:
    """A shard whose records are numbers; an iterator is where it stands."""

    def __init__(self, count: int) -> None:
        self.records = [record(n) for n in range(count)]
        self.first = 0

    def describe_stream(self, **_: Any):
        return {"StreamDescription": {"Shards": [{"ShardId": "shard"}]}}

    def get_shard_iterator(self, **_: Any):
        return {"ShardIterator": str(self.first)}

    def get_records(self, ShardIterator: str, Limit: int):  # noqa: N803  # AWS's names
        start = int(ShardIterator)
        if start < self.first:
            raise ClientError({"Error": {"Code": "TrimmedDataAccessException"}}, "GetRecords")
        page = self.records[start : start + Limit]
        return {"Records": page, "NextShardIterator": str(start + len(page))}


class Consumer:
    """Keeps what it is given; fails the records it is told to, so often."""

    def __init__(self, **failing: int) -> None:
        self.batches: list[list[str]] = []
        self.taken: list[str] = []
        self._failing = {name.lstrip("n"): times for name, times in failing.items()}

    def __call__(self, event: Any, _: Any):
        numbers = [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
        self.batches.append(numbers)
        for number in numbers:
            if self._failing.get(number, 0) > 0:
                self._failing[number] -= 1
                return {"batchItemFailures": [{"itemIdentifier": number}]}
            self.taken.append(number)
        return {"batchItemFailures": []}


def record(number: int) -> dict[str, Any]:
    return {"eventName": "INSERT", "dynamodb": {"SequenceNumber": str(number), "Keys": {"sk": {"S": f"T#{number}"}}}}


def pump(streams: Streams, consumer: Any, given_up: list[Any] | None = None, **more: Any) -> StreamPump:
    told: list[Any] = given_up if given_up is not None else []
    pattern = more.pop("pattern", ALL)
    trimmed = more.pop("trimmed", lambda: None)
    return StreamPump(Dynamo(), streams, "t", consumer, pattern=pattern, given_up=told.append, trimmed=trimmed)  # type: ignore[arg-type]


def numbers(count: int) -> list[str]:
    return [str(n) for n in range(count)]


def test_all_records_are_handed_on_in_order_in_batches():
    consumer = Consumer()
    assert pump(Streams(250), consumer).run() == 250
    assert consumer.taken == numbers(250)
    assert {len(batch) for batch in consumer.batches} == {BATCH, 50}


def test_a_second_run_goes_on_where_the_first_ended():
    streams, consumer = Streams(3), Consumer()
    pumped = pump(streams, consumer)
    assert (pumped.run(), pumped.run()) == (3, 0)
    streams.records.append(record(3))
    assert pumped.run() == 1
    assert consumer.taken == numbers(4)


def test_after_a_failure_the_rest_comes_again_from_the_failed_record_on():
    consumer = Consumer(n2=1)
    pump(Streams(5), consumer).run()
    assert consumer.batches[0] == numbers(5)
    assert consumer.batches[1][0] == "2"
    assert sorted(set(consumer.taken)) == numbers(5)


def test_a_record_that_fails_too_often_is_given_up_alone():
    told: list[Any] = []
    consumer = Consumer(n2=99)
    pump(Streams(130), consumer, told).run()
    assert [failure["sequence_number"] for failure in told] == ["2"]
    assert set(consumer.taken) == set(numbers(130)) - {"2"}
    assert sum("2" in batch for batch in consumer.batches) <= TRIES + 1


def test_a_consumer_that_raises_is_asked_again():
    calls = itertools.count()

    def consumer(_: Any, __: Any):
        if next(calls) == 0:
            raise RuntimeError
        return {"batchItemFailures": []}

    assert pump(Streams(2), consumer).run() == 2


def test_an_unknown_number_fails_the_whole_batch():
    told: list[Any] = []
    pump(Streams(1), lambda *_: {"batchItemFailures": [{"itemIdentifier": ""}]}, told).run()
    assert len(told) == 1


def test_what_the_filter_does_not_let_through_is_passed_over():
    consumer = Consumer()
    pattern = {"dynamodb": {"Keys": {"sk": {"S": [{"prefix": "T#1"}]}}}}
    assert pump(Streams(12), consumer, pattern=pattern).run() == 3
    assert consumer.taken == ["1", "10", "11"]


def test_a_stream_that_forgot_is_read_on_from_what_it_keeps_and_said_so():
    streams, consumer, said = Streams(10), Consumer(), []
    pumped = pump(streams, consumer, trimmed=lambda: said.append(True))
    streams.first = 7
    pumped.run()
    assert consumer.taken == ["7", "8", "9"]
    assert said == [True]


def test_a_fault_of_the_stream_itself_is_raised():
    streams = Streams(1)

    def failing(**_: Any):
        raise ClientError({"Error": {"Code": "InternalServerError"}}, "GetRecords")

    streams.get_records = failing  # type: ignore[method-assign]
    with pytest.raises(ClientError):
        pump(streams, Consumer()).run()


def test_a_closed_pump_ends_with_the_batch_it_is_at():
    pumped: list[StreamPump] = []

    def consumer(_: Any, __: Any):
        pumped[0].close()
        return {"batchItemFailures": []}

    pumped.append(pump(Streams(500), consumer))
    assert pumped[0].run() == BATCH
