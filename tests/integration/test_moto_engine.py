"""The local engine: as correct as AWS under conflict, equal to moto elsewhere, and gone without a trace."""

from __future__ import annotations

import gc
import itertools
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import moto
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.common_models import BaseModel
from moto.core.config import default_user_config
from moto.core.serialize import BaseJSONSerializer
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import Item
from moto.dynamodb.models.table import StreamShard, Table
from moto.dynamodb.parsing import validators
from moto.dynamodb.parsing.ast_nodes import DepthFirstTraverser, Node
from moto.dynamodb.parsing.expressions import UpdateExpressionParser
from moto.dynamodbstreams.models import DynamoDBStreamsBackend

from integration.engine_items import Stream, by_score, get, key, never, put, query, transact, update
from integration.engine_operations import ITEMS, TABLES, Operations, play
from integration.engine_race import Anomalies, run_race
from integration.stock_moto import on_stock_moto
from slate.adapters.inprocess import moto_engine
from slate.adapters.inprocess.moto_engine import MotoEngine

ROUND = 500
OPERATIONS = int(os.environ.get("FUZZ_OPERATIONS", "1500"))
RACE_KEYS = 60


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


# Under conflict


def test_racing_threads_meet_no_extra_winner_no_lost_add_no_torn_read() -> None:
    with MotoEngine() as engine:
        assert run_race(engine.client("dynamodb"), RACE_KEYS) == Anomalies()


@pytest.mark.race
def test_long_races_meet_no_anomaly() -> None:
    with MotoEngine() as engine:
        for _ in range(20):
            assert run_race(engine.client("dynamodb"), 100) == Anomalies()


@pytest.mark.race
def test_stock_moto_loses_the_same_race() -> None:
    assert Anomalies(**on_stock_moto("race", RACE_KEYS)()) != Anomalies()


# Equal to moto


def assert_equal_to_stock(seed: int, operations: int) -> None:
    stock = on_stock_moto("play", seed, operations)
    with MotoEngine() as engine:
        ours = play(engine.client("dynamodb"), seed, operations)
    differences = [(mine, theirs) for mine, theirs in zip(ours, stock(), strict=True) if mine != theirs]
    assert not differences[:3]


@pytest.mark.parametrize("seed", range(-(-OPERATIONS // ROUND)))
def test_random_operations_answer_as_stock_moto_does(seed: int) -> None:
    assert_equal_to_stock(seed, ROUND)


@pytest.mark.race
@pytest.mark.parametrize("seed", range(1_000, 1_020))
def test_many_random_operations_answer_as_stock_moto_does(seed: int) -> None:
    assert_equal_to_stock(seed, ROUND)


def test_a_stream_replayed_gives_the_table(dynamodb: Any, stream: Stream) -> None:
    for method, arguments in itertools.islice(Operations(7), 400):
        try:
            getattr(dynamodb, method)(**arguments)
        except ClientError:
            continue
    replica: dict[str, Any] = {}
    numbers = []
    for record in stream.news():
        change = record["dynamodb"]
        assert replica.get(str(change["Keys"])) == change.get("OldImage")
        replica[str(change["Keys"])] = change.get("NewImage")
        numbers.append(int(change["SequenceNumber"]))
    items = dynamodb.scan(TableName=ITEMS)["Items"]
    assert sorted(map(str, filter(None, replica.values()))) == sorted(map(str, items))
    assert numbers == sorted(set(numbers))


def test_a_cancelled_transaction_changes_nothing(dynamodb: Any) -> None:
    put(dynamodb, "a", v={"N": "1"}, group={"S": "x"}, score={"N": "1"})
    put(dynamodb, "b", group={"S": "x"}, score={"N": "2"})
    before = query(dynamodb)["Items"], by_score(dynamodb)["Items"]
    one = {"ExpressionAttributeValues": {":n": {"N": "9"}}}
    with pytest.raises(dynamodb.exceptions.TransactionCanceledException):
        transact(
            dynamodb,
            {"Update": {"Key": key("a"), "UpdateExpression": "SET score = :n", **one}},
            {"Delete": {"Key": key("b")}},
            {"Put": {"Item": key("c") | {"group": {"S": "x"}, "score": {"N": "3"}}}},
            {"Update": {"Key": key("d"), "UpdateExpression": "ADD v :n", **one}},
            never("e"),
        )
    assert (query(dynamodb)["Items"], by_score(dynamodb)["Items"]) == before


def test_binary_values_are_encoded_once_in_images(dynamodb: Any, stream: Stream) -> None:
    item = key("a") | {"b": {"B": b"\x00\xff"}, "bs": {"BS": [b"\x01"]}, "m": {"M": {"l": {"L": [{"B": b"\xfe"}]}}}}
    dynamodb.put_item(TableName=ITEMS, Item=item)
    assert stream.events() == [("INSERT", item)]


def test_binary_values_are_encoded_once_in_the_item_that_failed_a_condition(dynamodb: Any) -> None:
    item = key("a") | {"b": {"B": b"\x00\xff"}}
    dynamodb.put_item(TableName=ITEMS, Item=item)
    with pytest.raises(ClientError) as refused:
        dynamodb.put_item(
            TableName=ITEMS,
            Item=item,
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert refused.value.response["Item"] == item


def test_numbers_sort_as_numbers_and_names_by_code_point(dynamodb: Any) -> None:
    for sk, score in (("z", "10"), ("é", "9"), ("\U0001f600", "-1"), ("Z", "1e1")):
        put(dynamodb, sk, group={"S": "x"}, score={"N": score})
    assert [item["sk"]["S"] for item in query(dynamodb)["Items"]] == ["Z", "z", "é", "\U0001f600"]
    assert [item["sk"]["S"] for item in by_score(dynamodb)["Items"]] == ["\U0001f600", "é", "Z", "z"]


# Memory and speed


def test_memory_grows_with_what_is_stored_not_with_what_was_asked(
    dynamodb: Any, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moto_engine, "STREAM_RECORDS", 20)
    monkeypatch.setattr(moto_engine, "STREAM_ITERATORS", 5)
    one = {"UpdateExpression": "ADD v :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}
    numbers = itertools.count()

    def ask(rounds: int) -> int:
        for n in itertools.islice(numbers, rounds):
            update(dynamodb, "a", "ADD v :n", n={"N": "1"})
            get(dynamodb, f"absent {n}")
            dynamodb.get_item(TableName=ITEMS, Key=key("a", pk=f"absent {n}"))
            query(dynamodb)
            transact(dynamodb, {"Update": {"Key": key("b"), **one}}, {"Update": {"Key": key("c"), **one}})
            with pytest.raises(dynamodb.exceptions.TransactionCanceledException):
                transact(dynamodb, {"Put": {"Item": key(f"cancelled {n}")}}, never("e"))
            dynamodb.put_item(TableName=ITEMS, Item=key("a", pk=f"gone {n}"))
            dynamodb.delete_item(TableName=ITEMS, Key=key("a", pk=f"gone {n}"))
            dynamodb.delete_item(TableName=ITEMS, Key=key("a", pk=f"never {n}"))
            stream.news()
        gc.collect()
        return len(gc.get_objects())

    ask(30)
    first, second = ask(60), ask(60)
    assert second - first < 30


def test_a_query_and_a_transaction_take_no_longer_for_the_size_of_the_table(dynamodb: Any) -> None:
    for n in range(0, 10_000, 25):
        items = [
            key(f"{i:05}", pk=str(i % 50)) | {"group": {"S": "x"}, "score": {"N": str(i)}} for i in range(n, n + 25)
        ]
        dynamodb.batch_write_item(RequestItems={ITEMS: [{"PutRequest": {"Item": item}} for item in items]})
    one = {"UpdateExpression": "ADD v :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}
    values = {":p": {"S": "7"}}
    calls: dict[str, Callable[[], Any]] = {
        "get": lambda: dynamodb.get_item(TableName=ITEMS, Key=key("00007", pk="7")),
        "query": lambda: query(dynamodb, ExpressionAttributeValues=values, Limit=10),
        "index": lambda: by_score(dynamodb, Limit=10),
        "transaction": lambda: transact(dynamodb, *({"Update": {"Key": key(str(n)), **one}} for n in range(3))),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(30):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in times.items()}
    assert max(medians.values()) < 20 * medians["get"]


# Starting and stopping

REPLACED = (
    (BotocoreStubber, "process_request"),
    (BaseModel, "__new__"),
    (BaseJSONSerializer, "_serialize_type_structure"),
    (StreamShard, "add"),
    (StreamShard, "get"),
    (DynamoDBStreamsBackend, "get_records"),
    (UpdateExpressionParser, "make"),
    (validators, "deepcopy"),
    (DepthFirstTraverser, "traverse"),
    (Node, "find_clauses"),
    (Item, "project"),
    (Table, "get_item"),
    (Table, "put_item"),
    (Table, "delete_item"),
    (Table, "query"),
    (Table, "scan"),
    (DynamoDBBackend, "update_item"),
    (DynamoDBBackend, "transact_write_items"),
)


def methods() -> list[Any]:
    return [vars(owner).get(name) for owner, name in REPLACED]


def test_the_last_stop_puts_every_method_back() -> None:
    stock, config = methods(), dict(default_user_config)
    outer, inner = MotoEngine(), MotoEngine()
    outer.start()
    replaced = methods()
    assert not any(a is b for a, b in zip(stock, replaced, strict=True))
    with outer, inner:
        assert methods() == replaced
    assert methods() == replaced
    outer.stop()
    assert all(a is b for a, b in zip(stock, methods(), strict=True))
    assert default_user_config == config
    outer.stop()
    assert all(a is b for a, b in zip(stock, methods(), strict=True))


def test_the_data_go_with_the_last_stop() -> None:
    engine = MotoEngine()
    for _ in range(2):
        with engine:
            client = engine.client("dynamodb")
            assert client.list_tables()["TableNames"] == []
            client.create_table(**TABLES[0])


def test_neither_environment_nor_files_are_read_or_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    before = dict(os.environ)
    with MotoEngine(region="eu-west-1") as engine:
        client = engine.client("dynamodb")
        table = client.create_table(**TABLES[0])["TableDescription"]
        during = dict(os.environ)
    assert table["TableArn"].startswith("arn:aws:dynamodb:eu-west-1:")
    assert before == during == dict(os.environ)


def test_a_client_of_a_stopped_engine_refuses_and_never_reaches_the_network() -> None:
    engine, other = MotoEngine(), MotoEngine()
    with pytest.raises(RuntimeError, match="stopped"):
        engine.client("dynamodb")
    with engine:
        client = engine.client("dynamodb")
    with other, pytest.raises(RuntimeError, match="stopped"):
        client.list_tables()


def test_another_moto_is_refused_and_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    stock = methods()
    monkeypatch.setattr(moto, "__version__", "5.3.0")
    with pytest.raises(RuntimeError, match=r"moto 5\.2\.5; installed is 5\.3\.0"):
        MotoEngine().start()
    assert methods() == stock


def test_an_engine_inside_mock_aws_leaves_it_and_the_environment_whole() -> None:
    before = dict(os.environ)
    with mock_aws():
        with MotoEngine() as engine:
            engine.client("dynamodb").create_table(**TABLES[0])
        client = boto3.client("dynamodb", region_name="us-east-1")
        assert client.list_tables()["TableNames"] == [ITEMS]
    assert dict(os.environ) == before


def test_s3_is_served_too(engine: MotoEngine) -> None:
    s3 = engine.client("s3")
    s3.create_bucket(Bucket="content")
    s3.put_object(Bucket="content", Key="a/b", Body=b"\x00sealed")
    assert s3.get_object(Bucket="content", Key="a/b")["Body"].read() == b"\x00sealed"
