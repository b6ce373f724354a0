"""The indexer is there where a domain is: the stream's second reader, which writes nothing but the index."""

from __future__ import annotations

import json

import pytest

from slate.adapters.dynamodb.table import INDEX_FILTER
from slate_functions.local.stream import matches

GIVEN = "https://search.example"


@pytest.fixture(scope="module")
def searching(synthesize):
    """Over a domain that is there already."""
    return synthesize({"SLATE_SEARCH_ENDPOINT": GIVEN, "SLATE_EMBEDDER": "amazon.titan-embed-text-v2:0"})


@pytest.fixture(scope="module")
def without(synthesize):
    return synthesize({"SLATE_SEARCH_DOMAIN": "none"})


def test_without_a_domain_there_is_no_indexer_and_one_reader(without):
    assert "FunctionsIndexerFunction" not in without.of_type("AWS::Lambda::Function")
    assert "FeedIndex" not in without.of_type("AWS::Lambda::EventSourceMapping")


def test_a_domain_that_is_given_is_used_and_none_is_made(searching):
    assert not searching.of_type("AWS::OpenSearchService::Domain")
    told = searching.of_type("AWS::Lambda::Function")["FunctionsMemoryApiFunction"]["Environment"]["Variables"]
    assert told["SLATE_SEARCH_ENDPOINT"] == GIVEN


def test_the_stream_starts_the_indexer_with_what_can_be_searched(searching):
    mapping = searching.of_type("AWS::Lambda::EventSourceMapping")["FeedIndex"]
    assert searching.text(mapping["FunctionName"]) == "FunctionsIndexerFunction"
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    [criterion] = mapping["FilterCriteria"]["Filters"]
    assert json.loads(criterion["Pattern"]) == INDEX_FILTER


def test_the_stream_has_two_readers(searching):
    mappings = searching.of_type("AWS::Lambda::EventSourceMapping").values()
    assert sum("Stream" in str(searching.text(mapping["EventSourceArn"])) for mapping in mappings) == 2


def test_the_indexer_writes_no_table_and_asks_the_domain_and_the_model(searching):
    actions = " ".join(action for action, _, _ in searching.statements("FunctionsIndexerRole"))
    assert not any(verb in actions for verb in ("PutItem", "UpdateItem", "DeleteItem", "s3:Put", "kms:Encrypt"))
    assert "es:ESHttpPost" in actions
    assert "bedrock:InvokeModel" in actions


def test_who_searches_reaches_the_domain_and_nobody_else(searching, stack, without):
    def reach(synthesis):
        names = ("TasksApi", "MemoryApi", "Extractor", "Decay", "Sweeper", "Events")
        return {n for n in names if any("es:" in a for a, _, _ in synthesis.statements(f"Functions{n}Role"))}

    assert reach(searching) == reach(stack) == {"MemoryApi"}
    assert reach(without) == set()


@pytest.mark.parametrize(
    ("sk", "passes"),
    [
        ("TURN#000000001", True),
        ("FACT#f", True),
        ("EPISODE#e", True),
        ("DOCUMENT#d", True),
        ("TURNS#HEAD", False),
        ("PAST#f", False),
        ("PART#d#g#00000", False),
        ("META", False),
    ],
)
@pytest.mark.parametrize("name", ["INSERT", "MODIFY", "REMOVE"])
def test_the_filter_lets_memories_through_made_changed_and_gone(name, sk, passes):
    record = {"eventName": name, "dynamodb": {"Keys": {"pk": {"S": "acme#S#s"}, "sk": {"S": sk}}}}
    assert matches(record, INDEX_FILTER) is passes
