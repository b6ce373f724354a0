"""AWS's side of the isolation of tenants, offline: each request is held against the policies of the roles for a tenant.

moto evaluates no condition of a policy. So what a request names is read off it here as IAM reads it (the partition of
every item, also of each part of a batch or a transaction, and of an index its own), and is compared with the very
statements that the template gives the roles, which ``make permissions`` writes out and a test holds to the template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, NamedTuple

from botocore.exceptions import ClientError

from slate.adapters.dynamodb.table import MAIN, PK
from slate.domain.operations import working_for

STATEMENTS: Final = Path(__file__).parents[1] / "docs" / "permissions.json"
"""By role: its statements, each ``[actions, resource, conditions]``."""
TENANT: Final = "${aws:PrincipalTag/tenant}"
_PARTS: Final = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "Get": "GetItem"}
_INDEX_KEYS: Final = {index.name: index.pk for index in MAIN.indexes}
_OF_AN_ITEM: Final = frozenset({"GetItem", "PutItem", "UpdateItem", "DeleteItem"})
_EQUALS: Final = re.compile(r"(#?\w+)\s*=\s*(:\w+)")
_SCAFFOLDING: Final = frozenset({"CreateTable", "DeleteTable", "DescribeTable", "CreateBucket", "PutBucketVersioning"})
"""What makes and removes storage: no function does."""


class Asked(NamedTuple):
    """One action of a request, and what of somebody's it names."""

    action: str
    partitions: Sequence[str] | None
    """The leading keys; None where the request names none."""
    name: str = ""
    """An object, or the beginning that a list asks for."""


class Statement(NamedTuple):
    """What a role may do."""

    actions: str
    resource: str
    condition: Mapping[str, Any] | None

    def allows(self, asked: Asked, tenant: str) -> bool:
        """Whether it covers an action, in a session of this tenant's."""
        if asked.action not in self.actions.split():
            return False
        if asked.action.startswith("s3:") and "List" not in asked.action:
            return fnmatchcase(asked.name, self.resource.partition("/")[2].replace(TENANT, tenant))
        return all(
            _holds(operator, key, wanted, asked, tenant)
            for operator, keys in (self.condition or {}).items()
            for key, wanted in keys.items()
        )


def tenant_statements() -> list[Statement]:
    """Those of all roles for a tenant: what any function may do for one."""
    roles = json.loads(STATEMENTS.read_text())
    return [Statement(*each) for role, found in roles.items() if "Tenant" in role for each in found]


def enforce(client: Any, statements: Sequence[Statement]) -> None:
    """From now on the client refuses, as AWS would, what the tenant who is being worked for may not do.

    Outside an operation there is no tenant: whose keys a request names is who asks. So also there nothing names the
    keys of two.
    """

    def check(params: Mapping[str, Any], model: Any, **_: Any) -> None:
        service = model.service_model.service_name
        if model.name in _SCAFFOLDING or params.get("IndexName", "ready") not in _INDEX_KEYS:
            return  # an index that no table of Slate's has: the engine's own tests make others
        for asked in (_dynamodb if service == "dynamodb" else _s3)(model.name, params):
            tenant = working_for() or _named(asked)
            if tenant is not None and not any(each.allows(asked, tenant) for each in statements):
                denied = f"{tenant} may not {asked.action} on {asked.partitions or asked.name or 'what names nobody'}"
                raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": denied}}, model.name)

    for service in ("dynamodb", "s3"):
        client.meta.events.register(f"before-parameter-build.{service}", check)


def _named(asked: Asked) -> str | None:
    """Whose it is by the first thing it names; nobody's of the timer, and of what names nothing."""
    first = next(iter(asked.partitions or ()), asked.name)
    tenant, mark, _ = first.replace("/", "#").partition("#")
    return tenant if mark and tenant not in ("task", "memory", "erasure") else None


def _holds(operator: str, key: str, wanted: Any, asked: Asked, tenant: str) -> bool:
    patterns = [each.replace(TENANT, tenant) for each in (wanted if isinstance(wanted, list) else [wanted])]
    match operator, key:
        case "Null", "dynamodb:LeadingKeys":
            return (asked.partitions is None) is (patterns == ["true"])
        case "ForAllValues:StringLike", "dynamodb:LeadingKeys":
            return all(any(fnmatchcase(each, pattern) for pattern in patterns) for each in asked.partitions or [])
        case "StringLike", "s3:prefix":
            return any(fnmatchcase(asked.name, pattern) for pattern in patterns)
    return False  # what is not understood is not allowed


def _dynamodb(operation: str, params: Mapping[str, Any]) -> Iterator[Asked]:
    if operation == "Query":
        yield Asked("dynamodb:Query", _queried(params))
    elif operation in ("TransactWriteItems", "TransactGetItems"):
        for item in params["TransactItems"]:
            [(kind, part)] = item.items()
            yield Asked(f"dynamodb:{_PARTS.get(kind, 'ConditionCheckItem')}", [_partition(part)])
    elif operation == "BatchGetItem":
        keys = [key for table in params["RequestItems"].values() for key in table["Keys"]]
        yield Asked("dynamodb:BatchGetItem", [_partition({"Key": key}) for key in keys])
    elif operation == "BatchWriteItem":
        requests = [next(iter(each.values())) for table in params["RequestItems"].values() for each in table]
        yield Asked("dynamodb:BatchWriteItem", [_partition(each) for each in requests])
    elif operation in _OF_AN_ITEM:
        yield Asked(f"dynamodb:{operation}", [_partition(params)])
    else:
        yield Asked(f"dynamodb:{operation}", None)


def _queried(params: Mapping[str, Any]) -> list[str] | None:
    """The partition that a query is bound to: of the table, or of the index that it reads."""
    wanted = _INDEX_KEYS[params["IndexName"]] if "IndexName" in params else PK
    names, values = params.get("ExpressionAttributeNames", {}), params.get("ExpressionAttributeValues", {})
    for name, value in _EQUALS.findall(params["KeyConditionExpression"]):
        if names.get(name, name) == wanted:
            return [str(next(iter(values[value].values())))]
    return None


def _partition(part: Mapping[str, Any]) -> str:
    key = part.get("Item") or part.get("Key")
    named = key.get(PK, {}) if isinstance(key, Mapping) else {}  # what is no request at all, botocore refuses
    return str(next(iter(named.values()), ""))


def _s3(operation: str, params: Mapping[str, Any]) -> Iterator[Asked]:
    match operation:
        case "PutObject" | "GetObject":
            yield Asked(f"s3:{operation}", None, params["Key"])
        case "ListObjectVersions":
            yield Asked("s3:ListBucketVersions", None, params.get("Prefix", ""))
        case "DeleteObjects":
            for entry in params["Delete"]["Objects"]:
                action = "s3:DeleteObjectVersion" if "VersionId" in entry else "s3:DeleteObject"
                yield Asked(action, None, entry["Key"])
        case _:
            yield Asked(f"s3:{operation}", None, params.get("Key", ""))


def enforced_everywhere(make: Callable[..., Any]) -> Callable[..., Any]:
    """The same maker of clients, of which each one for a tenant's data is held to the policies."""
    statements = tenant_statements()

    def made(engine: Any, service: str) -> Any:
        client = make(engine, service)
        if service in ("dynamodb", "s3"):
            enforce(client, statements)
        return client

    return made
