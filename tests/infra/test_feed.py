"""The stream's way to the feed's consumer."""

from __future__ import annotations

import json

import pytest

from slate.adapters.dynamodb.table import FEED_FILTER
from slate_functions.local.stream import matches


@pytest.fixture(scope="module")
def mapping(stack):
    return stack.of_type("AWS::Lambda::EventSourceMapping")["FeedStream"]


def test_the_stream_starts_the_consumer_from_its_beginning(stack, mapping):
    assert stack.text(mapping["EventSourceArn"]) == "StorageMain.StreamArn"
    assert stack.text(mapping["FunctionName"]) == "FunctionsEventsFunction"
    assert mapping["StartingPosition"] == "TRIM_HORIZON"


def test_a_record_that_fails_is_found_reported_and_left_behind(stack, mapping):
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BisectBatchOnFunctionError"] is True
    assert 0 < mapping["MaximumRetryAttempts"] <= 10
    assert 0 < mapping["MaximumRecordAgeInSeconds"] <= 3_600
    assert stack.text(mapping["DestinationConfig"]["OnFailure"]["Destination"]) == "FeedFailures.Arn"


def test_what_fails_waits_to_be_looked_at(stack):
    settings = stack.of_type("AWS::Lambda::Function")["FunctionsEventsFunction"]["Environment"]["Variables"]
    assert stack.text(settings["SLATE_FEED_FAILURES_QUEUE"]) == "FeedFailures"
    queue = stack.of_type("AWS::SQS::Queue")["FeedFailures"]
    assert queue["MessageRetentionPeriod"] == 14 * 86_400


def test_the_feeds_own_records_never_reach_the_consumer(mapping):
    [criterion] = mapping["FilterCriteria"]["Filters"]
    assert json.loads(criterion["Pattern"]) == FEED_FILTER


@pytest.mark.parametrize(
    ("name", "sk", "passes"),
    [
        ("INSERT", "T#a", True),
        ("MODIFY", "META", True),
        ("REMOVE", "T#a", False),
        ("INSERT", "FEED", False),
        ("INSERT", "F#000000000001", False),
        ("MODIFY", "M#a", False),
        ("INSERT", "M#", False),
        ("INSERT", "E#a#b", False),
        ("INSERT", "METADATA", False),
    ],
)
def test_the_filter_lets_tasks_and_heads_through(name, sk, passes):
    record = {"eventName": name, "dynamodb": {"Keys": {"pk": {"S": "acme#G#g"}, "sk": {"S": sk}}, "NewImage": {}}}
    assert matches(record, FEED_FILTER) is passes


def test_a_shards_batches_and_the_other_reader_leave_the_stream_room(stack):
    """DynamoDB lets two read a shard; a third would be throttled."""
    readers = [
        mapping
        for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values()
        if "Stream" in str(stack.text(mapping["EventSourceArn"]))
    ]
    assert len(readers) <= 2
