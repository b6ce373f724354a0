"""Where stock moto and AWS differ, the local engine answers as AWS does; on stock moto these tests fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from integration.engine_items import Stream, by_score, get, key, never, put, query, transact, update
from integration.engine_operations import ITEMS, TABLES
from slate.adapters.inprocess import moto_engine
from slate.adapters.inprocess.moto_engine import MotoEngine


@pytest.fixture
def engine() -> Iterator[MotoEngine]:
    with MotoEngine() as engine:
        for table in TABLES:
            engine.client("dynamodb").create_table(**table)
        yield engine


@pytest.fixture
def dynamodb(engine: MotoEngine) -> Any:
    return engine.client("dynamodb")


@pytest.fixture
def stream(engine: MotoEngine) -> Stream:
    return Stream(engine.client("dynamodbstreams"))


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("read", [query, by_score])
def test_a_full_page_carries_last_evaluated_key_also_when_nothing_follows(
    dynamodb: Any, read: Callable[..., Any], forward: bool
) -> None:
    for score in range(4):
        put(dynamodb, str(score), group={"S": "x"}, score={"N": str(score)})
    first = read(dynamodb, Limit=2, ScanIndexForward=forward)
    second = read(dynamodb, Limit=2, ScanIndexForward=forward, ExclusiveStartKey=first["LastEvaluatedKey"])
    third = read(dynamodb, Limit=2, ScanIndexForward=forward, ExclusiveStartKey=second["LastEvaluatedKey"])
    found = [item["sk"]["S"] for item in first["Items"] + second["Items"]]
    assert found == (["0", "1", "2", "3"] if forward else ["3", "2", "1", "0"])
    assert (third["Items"], "LastEvaluatedKey" in third) == ([], False)
    assert "LastEvaluatedKey" not in read(dynamodb, Limit=5)


@pytest.mark.parametrize("index", [{}, {"IndexName": "by_score"}])
def test_a_full_page_of_a_scan_carries_last_evaluated_key_too(dynamodb: Any, index: dict[str, str]) -> None:
    for score in range(2):
        put(dynamodb, str(score), group={"S": "x"}, score={"N": str(score)})
    page = dynamodb.scan(TableName=ITEMS, Limit=2, FilterExpression="attribute_exists(nothing)", **index)
    rest = dynamodb.scan(TableName=ITEMS, Limit=2, ExclusiveStartKey=page["LastEvaluatedKey"], **index)
    assert (page["Items"], rest["Items"], "LastEvaluatedKey" in rest) == ([], [], False)


def test_a_failed_update_of_a_new_key_leaves_nothing(dynamodb: Any, stream: Stream) -> None:
    with pytest.raises(ClientError, match="ValidationException"):
        update(dynamodb, "new", "SET v = :big, x = :big", big={"S": "x" * 300_000})
    assert get(dynamodb, "new") is None
    assert dynamodb.scan(TableName=ITEMS)["Items"] == query(dynamodb)["Items"] == stream.news() == []


def test_a_failed_update_leaves_an_item_as_it_was(dynamodb: Any, stream: Stream) -> None:
    put(dynamodb, "old", v={"N": "1"}, group={"S": "x"}, score={"N": "1"})
    stream.news()
    with pytest.raises(ClientError, match="ValidationException"):
        update(dynamodb, "old", "SET score = :two, big = :big, bigger = :big", two={"N": "2"}, big={"S": "x" * 300_000})
    assert get(dynamodb, "old") == key("old") | {"v": {"N": "1"}, "group": {"S": "x"}, "score": {"N": "1"}}
    assert by_score(dynamodb)["Items"] == [key("old") | {"group": {"S": "x"}, "score": {"N": "1"}}]
    assert stream.news() == []


def test_an_upsert_is_one_insert_with_the_whole_image(dynamodb: Any, stream: Stream) -> None:
    update(dynamodb, "a", "SET v = :one", one={"N": "1"})
    update(dynamodb, "b", "SET v = :one", one={"N": "1"})
    assert stream.events() == [("INSERT", key(sk) | {"v": {"N": "1"}}) for sk in ("a", "b")]


def test_a_write_that_changes_nothing_leaves_no_record(dynamodb: Any, stream: Stream) -> None:
    put(dynamodb, "a", v={"N": "1"})
    stream.news()
    put(dynamodb, "a", v={"N": "1"})
    update(dynamodb, "a", "SET v = :one", one={"N": "1"})
    dynamodb.delete_item(TableName=ITEMS, Key=key("absent"))
    assert stream.news() == []


def test_a_change_of_type_alone_is_a_change(dynamodb: Any, stream: Stream) -> None:
    put(dynamodb, "a", v={"L": [{"N": "1"}]})
    put(dynamodb, "a", v={"L": [{"BOOL": True}]})
    assert [name for name, _ in stream.events()] == ["INSERT", "MODIFY"]


def test_a_live_reader_sees_nothing_of_a_cancelled_transaction_and_all_that_follows(
    dynamodb: Any, stream: Stream
) -> None:
    put(dynamodb, "a")
    assert stream.events() == [("INSERT", key("a"))]
    with pytest.raises(dynamodb.exceptions.TransactionCanceledException):
        transact(dynamodb, {"Put": {"Item": key("b")}}, {"Delete": {"Key": key("a")}}, never("c"))
    assert stream.news() == []
    transact(dynamodb, {"Put": {"Item": key("d")}}, {"Delete": {"Key": key("a")}})
    assert stream.events() == [("INSERT", key("d")), ("REMOVE", None)]


def test_a_key_of_an_index_has_the_declared_type(dynamodb: Any) -> None:
    wrong = {"S": "high"}
    put(dynamodb, "a", v=wrong, score={"N": "1"})
    part = {"Key": key("a"), "UpdateExpression": "SET #s = v", "ExpressionAttributeNames": {"#s": "score"}}
    for write in (
        lambda: put(dynamodb, "b", score=wrong),
        lambda: dynamodb.update_item(TableName=ITEMS, **part),
        lambda: transact(dynamodb, {"Put": {"Item": key("c")}}, {"Update": part}),
    ):
        with pytest.raises(ClientError, match="Type mismatch for Index Key score Expected: N Actual: S"):
            write()
    assert query(dynamodb)["Items"] == [key("a") | {"v": wrong, "score": {"N": "1"}}]


def test_a_stream_keeps_its_last_records_and_refuses_the_older_by_name(
    dynamodb: Any, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moto_engine, "STREAM_RECORDS", 10)
    oldest = stream.iterator()
    for n in range(25):
        put(dynamodb, f"{n:02}")
    kept = [record["dynamodb"]["NewImage"]["sk"]["S"] for record in stream.get(stream.iterator())["Records"]]
    assert 5 <= len(kept) <= 10
    assert kept == [f"{n:02}" for n in range(25)][-len(kept) :]
    with pytest.raises(ClientError, match="TrimmedDataAccessException"):
        stream.get(oldest)


def test_a_stream_forgets_old_iterators_and_refuses_them_by_name(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moto_engine, "STREAM_ITERATORS", 5)
    oldest = stream.iterator()
    for _ in range(6):
        assert stream.news() == []
    with pytest.raises(ClientError, match="ExpiredIteratorException"):
        stream.get(oldest)
