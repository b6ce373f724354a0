"""Requests as IAM reads them, and what a policy allows of them: moto evaluates no condition of any policy.

Of each request it is what it names that counts: the partition of every item, also of each part of a batch or a
transaction, and of an index its own; the name of an object, or the beginning that a list asks for; the tenant that a
data key is said to be of. A condition that is not understood here is allowed nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final, NamedTuple

from slate.adapters.dynamodb.table import MAIN, PK

TENANT: Final = "${aws:PrincipalTag/tenant}"
_PARTS: Final = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "Get": "GetItem"}
_OF_AN_ITEM: Final = frozenset({"GetItem", "PutItem", "UpdateItem", "DeleteItem"})
_INDEX_KEYS: Final = {index.name: index.pk for index in MAIN.indexes}
_EQUALS: Final = re.compile(r"(#?\w+)\s*=\s*(:\w+)")


class Call(NamedTuple):
    """An action on a resource of the stack, what of somebody's it names, and the service it is made through."""

    action: str
    resource: str
    partition: str | None = None
    """None where it names none, as a scan."""
    through: str | None = None
    prefix: str | None = None
    """What a list of objects asks for."""
    context: str | None = None
    """The tenant that a data key is said to be of."""
    tenant: str | None = None
    """For whom it is made, if for anybody."""

    @property
    def names(self) -> str | None:
        """The tenant of what it names; nobody of the timer, of a scan, and of what has no tenant's form."""
        if self.resource.endswith("/index/timer"):
            return None
        named = self.partition or self.prefix or self.resource.partition("/")[2]
        tenant, mark, _ = named.replace("/", "#").partition("#")
        return self.context or (tenant if mark else None)


class Statement(NamedTuple):
    """What a policy allows."""

    actions: str
    resource: str
    condition: Any


def allows(statement: Statement, call: Call) -> bool:
    """Whether a statement covers a call, in a session of the tenant that it is made for."""
    if call.action not in statement.actions.split():
        return False
    _, resource, condition = _bound(json.dumps(statement), call.tenant or "nobody")
    return fnmatchcase(call.resource, resource) and all(
        _holds(operator, key, wanted if isinstance(wanted, list) else [wanted], call)
        for operator, keys in (condition or {}).items()
        for key, wanted in keys.items()
    )


@cache
def _bound(statement: str, tenant: str) -> Any:
    return json.loads(statement.replace(TENANT, tenant))


def _holds(operator: str, key: str, wanted: list[str], call: Call) -> bool:
    match operator, key:
        case "Null", "dynamodb:LeadingKeys":
            return (call.partition is None) is (wanted == ["true"])
        case "ForAllValues:StringLike", "dynamodb:LeadingKeys":
            return call.partition is None or _like(call.partition, wanted)
        case "StringLike", "s3:prefix":
            return call.prefix is not None and _like(call.prefix, wanted)
        case "StringEquals", "kms:ViaService":
            return call.through in wanted
        case "StringEquals", "kms:EncryptionContext:tenant":
            return call.through is None and call.context in wanted
    return False


def _like(text: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def dynamodb_calls(operation: str, params: Mapping[str, Any], arn_of: Callable[[str], str]) -> Iterator[Call]:
    """What a request asks for, a call for each partition that it names; ``arn_of`` says what a table is."""
    if operation == "Query":
        index = f"/index/{params['IndexName']}" if "IndexName" in params else ""
        yield Call("dynamodb:Query", arn_of(params["TableName"]) + index, _queried(params))
    elif operation in ("TransactWriteItems", "TransactGetItems"):
        for [(kind, part)] in (item.items() for item in params["TransactItems"]):
            action = f"dynamodb:{_PARTS.get(kind, 'ConditionCheckItem')}"
            yield Call(action, arn_of(part["TableName"]), _partition(part))
    elif operation == "BatchGetItem":
        for table, asked in params["RequestItems"].items():
            for key in asked["Keys"]:
                yield Call("dynamodb:BatchGetItem", arn_of(table), _partition({"Key": key}))
    elif operation == "BatchWriteItem":
        for table, asked in params["RequestItems"].items():
            for [(_, part)] in (each.items() for each in asked):
                yield Call("dynamodb:BatchWriteItem", arn_of(table), _partition(part))
    else:
        named = _partition(params) if operation in _OF_AN_ITEM else None
        yield Call(f"dynamodb:{operation}", arn_of(params.get("TableName", "")), named)


def s3_calls(operation: str, params: Mapping[str, Any], bucket: str) -> Iterator[Call]:
    """The same of the bucket."""
    match operation:
        case "ListObjectVersions":
            yield Call("s3:ListBucketVersions", bucket, prefix=params.get("Prefix"))
        case "DeleteObjects":
            for entry in params["Delete"]["Objects"]:
                action = "s3:DeleteObjectVersion" if "VersionId" in entry else "s3:DeleteObject"
                yield Call(action, f"{bucket}/{entry['Key']}")
        case _:
            yield Call(f"s3:{operation}", f"{bucket}/{params.get('Key', '')}")


def of_slates_shape(params: Mapping[str, Any]) -> bool:
    """Whether a request may be for a table of Slate's: the engine's own tests make others, with other indexes."""
    return params.get("IndexName", MAIN.indexes[0].name) in _INDEX_KEYS


def _queried(params: Mapping[str, Any]) -> str | None:
    """The partition that a query is bound to: of the table, or of the index that it reads."""
    wanted = _INDEX_KEYS[params["IndexName"]] if "IndexName" in params else PK
    names, values = params.get("ExpressionAttributeNames", {}), params.get("ExpressionAttributeValues", {})
    for name, value in _EQUALS.findall(params["KeyConditionExpression"]):
        if names.get(name, name) == wanted:
            return str(next(iter(values[value].values())))
    return None


def _partition(part: Mapping[str, Any]) -> str:
    key = part.get("Item") or part.get("Key")
    named = key.get(PK, {}) if isinstance(key, Mapping) else {}  # what is no request at all, botocore refuses
    return str(next(iter(named.values()), ""))
