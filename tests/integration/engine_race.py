"""Eight threads that race for keys, count, move money and look on, and what went wrong as they did."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

THREADS = 8
TURNS = 20
TABLE = "race"
FUNDS = 10_000


@dataclass
class Anomalies:
    """What no serial order of the calls can explain."""

    extra_winners: int = 0
    lost_adds: int = 0
    torn_reads: int = 0
    lost_transfers: int = 0
    errors: list[str] = field(default_factory=list)


def run_race(client: Any, keys: int) -> Anomalies:
    """Race on a new table."""
    _create(client)
    racers = [_Racer(client, name, keys) for name in range(THREADS)]
    with _frequent_switches(), ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(_Racer.run, racers))
    won = [key for racer in racers for key in racer.won]
    balances = _balances(client.query(**_accounts("pk")))
    counter = client.get_item(TableName=TABLE, Key=_key("counter", "0"))["Item"]
    client.delete_table(TableName=TABLE)
    return Anomalies(
        extra_winners=len(won) - len(set(won)),
        lost_adds=THREADS * TURNS - int(counter["n"]["N"]),
        torn_reads=sum(racer.torn for racer in racers),
        lost_transfers=abs(balances["b"] - FUNDS - THREADS * TURNS),
        errors=[error for racer in racers for error in racer.errors],
    )


class _Racer:
    def __init__(self, client: Any, name: int, keys: int) -> None:
        self._client = client
        self._name = name
        self._keys = keys
        self.won: list[int] = []
        self.torn = 0
        self.errors: list[str] = []

    _start = threading.Barrier(THREADS)

    def run(self) -> None:
        self._start.wait()
        for key in range(self._keys):
            self._try(self._claim, key)
        for _ in range(TURNS):
            for step in (self._count, self._transfer, self._look, self._overdraw, self._look):
                self._try(step)

    def _try(self, step: Callable[..., None], *arguments: Any) -> None:
        try:
            step(*arguments)
        except Exception as error:  # noqa: BLE001  # moto fails in many ways when its dictionaries change under it
            self.errors.append(repr(error))

    def _claim(self, key: int) -> None:
        condition = {"ConditionExpression": "attribute_not_exists(o)"}
        values = {"ExpressionAttributeValues": {":o": {"S": str(self._name)}}}
        with suppress(self._client.exceptions.ConditionalCheckFailedException):
            update = {"Key": _key("race", str(key)), "UpdateExpression": "SET o = :o"}
            self._client.update_item(TableName=TABLE, **update, **condition, **values)
            self.won.append(key)

    def _count(self) -> None:
        update = {"UpdateExpression": "ADD n :d", "ExpressionAttributeValues": {":d": {"N": "1"}}}
        self._client.update_item(TableName=TABLE, Key=_key("counter", "0"), **update)

    def _transfer(self) -> None:
        self._client.transact_write_items(TransactItems=[_add("a", "-1", "0"), _add("b", "1", "0")])

    def _overdraw(self) -> None:
        """Nobody has so much: cancelled when its first half is written."""
        with suppress(self._client.exceptions.TransactionCanceledException):
            self._client.transact_write_items(TransactItems=[_add("a", "-1", "0"), _add("b", "1", str(10 * FUNDS))])
            self.errors.append("an impossible transfer was made")

    def _look(self) -> None:
        for keys in ("pk", "kind"):
            self.torn += sum(_balances(self._client.query(**_accounts(keys))).values()) != 2 * FUNDS


@contextmanager
def _frequent_switches() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def _create(client: Any) -> None:
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "kind")],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by_kind",
                "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    for sk in ("a", "b"):
        item = _key("account", sk) | {"n": {"N": str(FUNDS)}, "kind": {"S": "account"}}
        client.put_item(TableName=TABLE, Item=item)
    client.put_item(TableName=TABLE, Item=_key("counter", "0") | {"n": {"N": "0"}})


def _key(pk: str, sk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def _add(sk: str, change: str, least: str) -> dict[str, Any]:
    values = {"ExpressionAttributeValues": {":d": {"N": change}, ":m": {"N": least}}}
    update = {"UpdateExpression": "ADD n :d", "ConditionExpression": "n >= :m"}
    return {"Update": {"TableName": TABLE, "Key": _key("account", sk), **update, **values}}


def _accounts(keys: str) -> dict[str, Any]:
    query = {"TableName": TABLE, "KeyConditionExpression": f"{keys} = :k"}
    index = {"IndexName": "by_kind"} if keys == "kind" else {}
    return query | index | {"ExpressionAttributeValues": {":k": {"S": "account"}}}


def _balances(answer: dict[str, Any]) -> dict[str, int]:
    return {item["sk"]["S"]: int(item["n"]["N"]) for item in answer["Items"]}
