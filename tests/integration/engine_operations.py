"""Random DynamoDB calls on small tables, made the same from the same seed, and what came of each."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

Call = tuple[str, dict[str, Any]]

ITEMS, TALLIES = "items", "tallies"


def _index(name: str, projection: str, partition: str, sort: str | None = None) -> dict[str, Any]:
    return {"IndexName": name, "KeySchema": _keys(partition, sort), "Projection": {"ProjectionType": projection}}


def _keys(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    keys = [{"AttributeName": partition, "KeyType": "HASH"}]
    return [*keys, {"AttributeName": sort, "KeyType": "RANGE"}] if sort else keys


def _attributes(**types: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": tag} for name, tag in types.items()]


TABLES: tuple[dict[str, Any], ...] = (
    {
        "TableName": ITEMS,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _keys("pk", "sk"),
        "AttributeDefinitions": _attributes(pk="S", sk="S", group="S", name="S", score="N", owner="S"),
        "GlobalSecondaryIndexes": [
            _index("by_name", "ALL", "group", "name"),
            _index("by_score", "KEYS_ONLY", "group", "score"),
            _index("by_owner", "ALL", "owner"),
        ],
        "LocalSecondaryIndexes": [_index("local_score", "ALL", "pk", "score")],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    },
    {
        "TableName": TALLIES,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _keys("id"),
        "AttributeDefinitions": _attributes(id="N"),
    },
)

_SCHEMAS = {
    None: ("pk", "sk", "S"),
    "by_name": ("group", "name", "S"),
    "by_score": ("group", "score", "N"),
    "by_owner": ("owner", None, None),
    "local_score": ("pk", "score", "N"),
}
_COMPARISONS = ("{} = :a", "{} < :a", "{} <= :a", "{} > :a", "{} >= :a", "{} BETWEEN :a AND :b", "begins_with({}, :a)")
_PARTS = "abc"
_NAMES = [f"{n:02}" for n in range(12)] + ["é", "z\U0001f600"]
_NUMBERS = ["1", "10", "2", "2.0", "-3", "1e2", "0.5"]
_VALUES: tuple[dict[str, Any], ...] = (
    {"L": [{"S": "a"}, {"M": {"k": {"N": "1"}, "b": {"B": b"\x00\xff"}}}]},
    {"M": {"z": {"L": []}, "n": {"NULL": True}, "t": {"BOOL": False}}},
    {"B": b"\x01\x02"},
    {"BS": [b"a", b"\xff"]},
    {"SS": ["q", "p"]},
    {"NS": ["1", "2.5"]},
    {"M": {}},
    {"S": ""},
)
_UPDATES = (
    "SET v = v + :o",
    "SET v = :o",
    "SET v = if_not_exists(v, :o), x = :x",
    "SET #group = :g, #name = :s",
    "SET score = :n",
    "SET #owner = :g REMOVE score",
    "REMOVE #group",
    "REMOVE #group, #name, score, #owner",
    "ADD v :o",
    "SET x = list_append(x, :l)",
    "DELETE x :ss",
    "SET v = :o, x = absent + :o",
)
_CONDITIONS = ("attribute_exists(pk)", "attribute_not_exists(pk)", "attribute_not_exists(#group)", "v < :c")
_RETURNS = ("ALL_NEW", "ALL_OLD", "UPDATED_NEW", "UPDATED_OLD", "NONE")


class Operations:
    """An endless stream of calls; the same seed makes the same calls."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311  # repeatable, not secret
        self._makers = (
            (20, self._put),
            (22, self._update),
            (8, self._delete),
            (4, self._get),
            (3, self._batch),
            (14, self._transaction),
            (3, self._tally),
            (24, self._query),
            (4, self._scan),
            (2, self._odd),
        )

    def __iter__(self) -> Iterator[Call]:
        weights, makers = zip(*self._makers, strict=True)
        while True:
            yield self._random.choices(makers, weights)[0]()

    def _may(self, share: float) -> bool:
        return self._random.random() < share

    def _key(self) -> dict[str, Any]:
        return {"pk": {"S": self._random.choice(_PARTS)}, "sk": {"S": self._random.choice(_NAMES)}}

    def _item(self) -> dict[str, Any]:
        pick = self._random.choice
        item = self._key() | {"v": {"N": str(self._random.randint(0, 5))}}
        for share, name, value in (
            (0.7, "group", {"S": pick("xy")}),
            (0.7, "name", {"S": pick(_NAMES)}),
            (0.6, "score", {"N": pick(_NUMBERS)}),
            (0.5, "owner", {"S": pick("mn")}),
            (0.5, "x", pick(_VALUES)),
        ):
            if self._may(share):
                item[name] = value
        return item

    def _expressions(self, update: str | None = None, condition: str | None = None) -> dict[str, Any]:
        """The expressions, with exactly the names and values that they use."""
        text = f"{update or ''} {condition or ''}"
        words = set(text.replace(",", " ").replace("(", " ").replace(")", " ").split())
        known = {
            ":o": {"N": "1"},
            ":x": self._random.choice(_VALUES),
            ":g": {"S": self._random.choice("xy")},
            ":s": {"S": self._random.choice(_NAMES)},
            ":n": {"N": self._random.choice(_NUMBERS)},
            ":l": {"L": [{"N": "7"}]},
            ":ss": {"SS": ["q"]},
            ":c": {"N": "3"},
        }
        values = {name: value for name, value in known.items() if name in words}
        names = {word: word[1:] for word in words if word.startswith("#")}
        return {
            key: value
            for key, value in (
                ("UpdateExpression", update),
                ("ConditionExpression", condition),
                ("ExpressionAttributeValues", values),
                ("ExpressionAttributeNames", names),
            )
            if value
        }

    def _condition(self, share: float) -> str | None:
        return self._random.choice(_CONDITIONS) if self._may(share) else None

    def _put(self) -> Call:
        call = {"TableName": ITEMS, "Item": self._item(), "ReturnValues": self._random.choice(("ALL_OLD", "NONE"))}
        return "put_item", call | self._expressions(condition=self._condition(0.3)) | self._on_failure()

    def _update(self) -> Call:
        call = {"TableName": ITEMS, "Key": self._key(), "ReturnValues": self._random.choice(_RETURNS)}
        expressions = self._expressions(self._random.choice(_UPDATES), self._condition(0.4))
        return "update_item", call | expressions | self._on_failure()

    def _delete(self) -> Call:
        call = {"TableName": ITEMS, "Key": self._key(), "ReturnValues": "ALL_OLD"}
        return "delete_item", call | self._expressions(condition=self._condition(0.3)) | self._on_failure()

    def _on_failure(self) -> dict[str, str]:
        return {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"} if self._may(0.7) else {}

    def _get(self) -> Call:
        if self._may(0.5):
            return "get_item", {"TableName": ITEMS, "Key": self._key(), "ConsistentRead": self._may(0.5)}
        keys = [self._key() for _ in range(3)]
        return "transact_get_items", {"TransactItems": [{"Get": {"TableName": ITEMS, "Key": key}} for key in keys]}

    def _batch(self) -> Call:
        puts = [{"PutRequest": {"Item": self._item()}} for _ in range(2)]
        deletes = [{"DeleteRequest": {"Key": self._key()}} for _ in range(2)]
        if self._may(0.7):
            return "batch_write_item", {"RequestItems": {ITEMS: puts + deletes}}
        keys = [self._key() for _ in range(4)]
        return "batch_get_item", {"RequestItems": {ITEMS: {"Keys": keys}}}

    def _tally(self) -> Call:
        key = {"id": {"N": self._random.choice(_NUMBERS)}}
        update = {"UpdateExpression": "ADD n :o", "ExpressionAttributeValues": {":o": {"N": "1"}}}
        match self._random.choice(("add", "delete", "query")):
            case "add":
                return "update_item", {"TableName": TALLIES, "Key": key, "ReturnValues": "ALL_NEW", **update}
            case "delete":
                return "delete_item", {"TableName": TALLIES, "Key": key, "ReturnValues": "ALL_OLD"}
        condition = {"KeyConditionExpression": "id = :i", "ExpressionAttributeValues": {":i": key["id"]}}
        return "query", {"TableName": TALLIES, **condition}

    def _transaction(self) -> Call:
        return "transact_write_items", {"TransactItems": [self._part() for _ in range(self._random.randint(1, 4))]}

    def _part(self) -> dict[str, Any]:
        match self._random.choice(("Put", "Put", "Update", "Update", "Update", "Delete", "ConditionCheck", "Tally")):
            case "Put":
                part = {"Item": self._item(), **self._expressions(condition=self._condition(0.3))}
                return {"Put": {"TableName": ITEMS, **part, **self._on_failure()}}
            case "Update":
                expressions = self._expressions(self._random.choice(_UPDATES), self._condition(0.4))
                return {"Update": {"TableName": ITEMS, "Key": self._key(), **expressions, **self._on_failure()}}
            case "Delete":
                return {"Delete": {"TableName": ITEMS, "Key": self._key()}}
            case "ConditionCheck":
                condition = self._expressions(condition="attribute_exists(pk)")
                return {"ConditionCheck": {"TableName": ITEMS, "Key": self._key(), **condition}}
        key = {"id": {"N": self._random.choice(_NUMBERS)}}
        return {"Update": {"TableName": TALLIES, "Key": key, **self._expressions("ADD v :o")}}

    def _query(self) -> Call:
        index = self._random.choice(tuple(_SCHEMAS))
        partition, sort, tag = _SCHEMAS[index]
        call: dict[str, Any] = {"TableName": ITEMS, "ScanIndexForward": self._may(0.5)}
        condition, names = "#h = :h", {"#h": partition}
        values = {":h": {"S": self._random.choice({"pk": _PARTS, "group": "xy", "owner": "mn"}[partition])}}
        if sort and self._may(0.6):
            comparison = self._random.choice(_COMPARISONS[:6] if tag == "N" else _COMPARISONS)
            condition += " AND " + comparison.format("#s")
            names["#s"] = sort
            bounds = sorted(
                self._random.choices(_NUMBERS if tag == "N" else _NAMES, k=2), key=float if tag == "N" else None
            )
            if comparison.startswith("begins"):
                bounds[0] = self._random.choice("01é")
            values |= {
                name: {tag: bound} for name, bound in zip((":a", ":b"), bounds, strict=True) if name in comparison
            }
        call |= {"KeyConditionExpression": condition, "ExpressionAttributeNames": names}
        if index:
            call["IndexName"] = index
        elif self._may(0.5):
            call["ConsistentRead"] = True
        if self._may(0.3):
            call["FilterExpression"] = "v > :f"
            values[":f"] = {"N": "1"}
        if self._may(0.2):
            call |= self._random.choice(({"ProjectionExpression": "pk, sk, v"}, {"Select": "COUNT"}))
        return "query", call | {"ExpressionAttributeValues": values} | self._limit()

    def _scan(self) -> Call:
        call: dict[str, Any] = {"TableName": ITEMS}
        if index := self._random.choice((None, "by_name", "by_score")):
            call["IndexName"] = index
        if self._may(0.3):
            call |= {"FilterExpression": "v > :f", "ExpressionAttributeValues": {":f": {"N": "1"}}}
        return "scan", call | self._limit()

    def _limit(self) -> dict[str, int]:
        return {"Limit": self._random.choice((1, 2, 3, 5))} if self._may(0.6) else {}

    def _odd(self) -> Call:
        """A query that the index leaves to moto, mostly to be refused."""
        query: dict[str, Any] = {"TableName": ITEMS, "KeyConditionExpression": "pk = :h"}
        group = {
            "IndexName": "by_name",
            "KeyConditionExpression": "#g = :h",
            "ExpressionAttributeNames": {"#g": "group"},
        }
        return "query", self._random.choice(
            (
                query | {"ExpressionAttributeValues": {":h": {"N": "1"}}},
                query | {"ExpressionAttributeValues": {":h": {"SS": ["a"]}}},
                query | {"IndexName": "nowhere", "ExpressionAttributeValues": {":h": {"S": "a"}}},
                query | group | {"ConsistentRead": True, "ExpressionAttributeValues": {":h": {"S": "x"}}},
            )
        )


def play(client: Any, seed: int, count: int) -> list[list[Any]]:
    """Make the calls of a seed on new tables: each call with what came of it, and at last what the tables hold.

    Stock moto and the engine agree on every one, except where the engine follows AWS. What is compared leaves these out:

    - a page that reaches its Limit carries LastEvaluatedKey also where nothing follows: a last, empty page is dropped;
    - an update that fails half done leaves the item as it was: none grows an item too large;
    - a key of an index that has the wrong type is refused: none is made;
    - stream records: the engine's own tests state what they are.
    """
    for table in TABLES:
        client.create_table(**table)
    calls = itertools.islice(Operations(seed), count)
    outcomes = [[call, _outcome(client, call)] for call in calls]
    return _plain([*outcomes, ["contents", _contents(client)]])


def _outcome(client: Any, call: Call) -> Any:
    """What came of a call; a limited read is followed to its last page."""
    try:
        answer = _pages(client, call) if "Limit" in call[1] else _answer(client, call)
    except ClientError as error:
        answer = {key: value for key, value in error.response.items() if key != "ResponseMetadata"}
    return answer


def _answer(client: Any, call: Call) -> dict[str, Any]:
    method, arguments = call
    return {key: value for key, value in getattr(client, method)(**arguments).items() if key != "ResponseMetadata"}


def _pages(client: Any, call: Call) -> list[dict[str, Any]]:
    method, arguments = call
    pages = [_answer(client, call)]
    while start := pages[-1].get("LastEvaluatedKey"):
        pages.append(_answer(client, (method, arguments | {"ExclusiveStartKey": start})))
    if len(pages) > 1 and not pages[-1]["ScannedCount"]:
        pages.pop()
        del pages[-1]["LastEvaluatedKey"]
    return pages


def _contents(client: Any) -> dict[str, list[str]]:
    tables = (table["TableName"] for table in TABLES)
    return {t: sorted(json.dumps(_plain(item)) for item in client.scan(TableName=t)["Items"]) for t in tables}


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=repr, sort_keys=True))
