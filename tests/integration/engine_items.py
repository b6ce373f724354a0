"""Calls on the items' table, short enough to read a law in."""

from __future__ import annotations

from typing import Any

from integration.engine_operations import ITEMS


class Stream:
    """A reader of the stream of the items' table."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._arn = client.list_streams(TableName=ITEMS)["Streams"][0]["StreamArn"]
        self._iterator = self.iterator()

    def iterator(self, kind: str = "TRIM_HORIZON", **position: str) -> str:
        shard = self._client.describe_stream(StreamArn=self._arn)["StreamDescription"]["Shards"][0]["ShardId"]
        arguments = {"StreamArn": self._arn, "ShardId": shard, "ShardIteratorType": kind, **position}
        return self._client.get_shard_iterator(**arguments)["ShardIterator"]

    def get(self, iterator: str) -> dict[str, Any]:
        return self._client.get_records(ShardIterator=iterator)

    def news(self) -> list[dict[str, Any]]:
        """The records that came since the last time."""
        page = self.get(self._iterator)
        self._iterator = page["NextShardIterator"]
        return page["Records"]

    def events(self) -> list[tuple[str, Any]]:
        return [(record["eventName"], record["dynamodb"].get("NewImage")) for record in self.news()]


def key(sk: str, pk: str = "p") -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def put(client: Any, sk: str, **attributes: Any) -> None:
    client.put_item(TableName=ITEMS, Item=key(sk) | attributes)


def get(client: Any, sk: str) -> Any:
    return client.get_item(TableName=ITEMS, Key=key(sk)).get("Item")


def update(client: Any, sk: str, expression: str, **values: Any) -> Any:
    arguments = {"ExpressionAttributeValues": {f":{name}": value for name, value in values.items()}}
    return client.update_item(TableName=ITEMS, Key=key(sk), UpdateExpression=expression, **arguments)


def transact(client: Any, *parts: dict[str, Any]) -> None:
    client.transact_write_items(
        TransactItems=[{kind: {"TableName": ITEMS, **part[kind]}} for part in parts for kind in part]
    )


def never(sk: str) -> dict[str, Any]:
    """A part of a transaction that cancels it."""
    return {"ConditionCheck": {"Key": key(sk), "ConditionExpression": "attribute_exists(nothing)"}}


def query(client: Any, **arguments: Any) -> dict[str, Any]:
    condition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}}
    return client.query(**{"TableName": ITEMS, **condition, **arguments})


def by_score(client: Any, **arguments: Any) -> dict[str, Any]:
    names = {"ExpressionAttributeNames": {"#g": "group"}, "ExpressionAttributeValues": {":g": {"S": "x"}}}
    return query(client, IndexName="by_score", KeyConditionExpression="#g = :g", **names, **arguments)
