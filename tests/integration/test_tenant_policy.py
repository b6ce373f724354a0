"""Isolation that a bug in a store cannot cross: whatever a session of one tenant asks of another's is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from slate.adapters.dynamodb.table import MAIN
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.domain.fences import Intent
from slate.domain.operations import begun

THEIRS, LONGER, OWN = "globex#U#r", "acme-corp#U#r", "acme#U#r"


def key(pk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": "FACT#1"}}


def query(pk: str, attribute: str = "pk", **more: Any) -> dict[str, Any]:
    return {
        "KeyConditionExpression": f"#{attribute} = :pk",
        "ExpressionAttributeNames": {f"#{attribute}": attribute},
        "ExpressionAttributeValues": {":pk": {"S": pk}},
        **more,
    }


class Reach:
    """Each way to reach an item of DynamoDB or an object of S3, by whose it is."""

    def __init__(self, engine: MotoEngine) -> None:
        self.dynamodb, self.s3 = engine.client("dynamodb"), engine.client("s3")

    def ways(self, pk: str) -> dict[str, Callable[[], Any]]:
        db, table = self.dynamodb, {"TableName": "slate"}
        subject, ready = pk.replace("#U#", "#"), f"{pk.partition('#')[0]}#default#role#0"
        put = {"Put": {**table, "Item": key(pk)}}
        own = {"Put": {**table, "Item": {**key(OWN), "sk": {"S": "another"}}}}
        name = f"{pk.partition('#')[0]}/r/sessions/s/x"
        return {
            "get": lambda: db.get_item(**table, Key=key(pk)),
            "put": lambda: db.put_item(**table, Item=key(pk)),
            "update": lambda: db.update_item(**table, Key=key(pk), UpdateExpression="REMOVE x"),
            "delete": lambda: db.delete_item(**table, Key=key(pk)),
            "query": lambda: db.query(**table, **query(pk)),
            "batch get": lambda: db.batch_get_item(RequestItems={"slate": {"Keys": [key(OWN), key(pk)]}}),
            "batch write": lambda: db.batch_write_item(
                RequestItems={"slate": [{"DeleteRequest": {"Key": key(OWN)}}, {"PutRequest": {"Item": key(pk)}}]}
            ),
            "transaction": lambda: db.transact_write_items(TransactItems=[own, put]),
            "condition in a transaction": lambda: db.transact_write_items(
                TransactItems=[
                    own,
                    {"ConditionCheck": {**table, "Key": key(pk), "ConditionExpression": "attribute_not_exists(pk)"}},
                ]
            ),
            "index of subjects": lambda: db.query(**table, **query(subject, "subject_pk", IndexName="subject")),
            "index of what is ready": lambda: db.query(**table, **query(ready, "ready_pk", IndexName="ready")),
            "object": lambda: self.s3.put_object(Bucket="content", Key=name, Body=b""),
            "object read": lambda: self.s3.get_object(Bucket="content", Key=name),
            "list of objects": lambda: self.s3.list_object_versions(
                Bucket="content", Prefix=name[: name.index("/") + 1]
            ),
        }


@pytest.fixture(scope="module")
def reach() -> Iterator[Reach]:
    with MotoEngine(region="eu-central-1") as engine:
        reach = Reach(engine)
        reach.dynamodb.create_table(**MAIN.create_arguments("slate"))
        reach.s3.create_bucket(Bucket="content", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        yield reach


def refused(ask: Callable[[], Any]) -> bool:
    with begun(Intent.READ, "acme"):
        try:
            ask()
        except ClientError as error:
            return error.response["Error"]["Code"] == "AccessDeniedException"
    return False


@pytest.mark.parametrize("whose", [THEIRS, LONGER])
def test_no_way_leads_to_another_tenant(reach: Reach, whose: str):
    assert [way for way, ask in reach.ways(whose).items() if not refused(ask)] == []


def test_every_way_leads_to_what_is_its_own(reach: Reach):
    """So that the refusals above are not those of a request that nobody could make."""
    assert [way for way, ask in reach.ways(OWN).items() if refused(ask)] == []


def test_what_names_nobody_is_refused(reach: Reach):
    db = reach.dynamodb
    for ask in (
        lambda: db.scan(TableName="slate"),
        lambda: db.scan(TableName="slate", IndexName="subject"),
        lambda: db.execute_statement(Statement='SELECT * FROM "slate"'),
        lambda: db.query(TableName="slate", **query("task#00", "timer_pk", IndexName="timer")),
        lambda: reach.s3.list_object_versions(Bucket="content"),
        lambda: reach.s3.list_object_versions(Bucket="content", Prefix="acme"),
    ):
        assert refused(ask)
