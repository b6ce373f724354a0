"""AWS's side of the isolation of tenants, offline: each request is held against the policies of the roles for a tenant.

These are the very statements that the template gives the roles, which ``make permissions`` writes out and a test holds
to the template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import ClientError

from iam import Call, Statement, allows, dynamodb_calls, of_slates_shape, s3_calls
from slate.domain.operations import working_for

STATEMENTS: Final = Path(__file__).parents[1] / "docs" / "permissions.json"
"""By role: its statements, each ``[actions, resource, conditions]``."""
_SCAFFOLDING: Final = frozenset({"CreateTable", "DeleteTable", "DescribeTable", "CreateBucket", "PutBucketVersioning"})
"""What makes and removes storage: no function does."""
_TABLE, _BUCKET = "Table.Arn", "StorageContent.Arn"
_A_TABLE: Final = re.compile(r"Storage(Main|Keys|Ledger)\.Arn")
"""Tests name tables as they like: here a statement on one is a statement on any."""


def tenant_statements() -> list[Statement]:
    """Those of all roles for a tenant: what any function may do for one."""
    roles = json.loads(STATEMENTS.read_text())
    return [
        Statement(actions, _A_TABLE.sub(_TABLE, resource), condition)
        for role, found in roles.items()
        if "Tenant" in role
        for actions, resource, condition in found
    ]


def enforce(client: Any, statements: Sequence[Statement]) -> None:
    """From now on the client refuses, as AWS would, what the tenant who is being worked for may not do.

    Outside an operation there is no tenant: whose keys a request names is who asks. So also there nothing names the
    keys of two.
    """

    def check(params: Mapping[str, Any], model: Any, **_: Any) -> None:
        if model.name in _SCAFFOLDING or not of_slates_shape(params):
            return
        calls = _calls(model, params)
        tenant = working_for() or next((each.names for each in calls if each.names), None)
        for call in calls if tenant is not None else ():
            if not any(allows(each, call._replace(tenant=tenant)) for each in statements):
                denied = f"{tenant} may not {call.action} on {call.partition or call.prefix or call.resource}"
                raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": denied}}, model.name)

    for service in ("dynamodb", "s3"):
        client.meta.events.register(f"before-parameter-build.{service}", check)


def enforced_everywhere(make: Callable[..., Any]) -> Callable[..., Any]:
    """The same maker of clients, of which each one for a tenant's data is held to the policies."""
    statements = tenant_statements()

    def made(engine: Any, service: str) -> Any:
        client = make(engine, service)
        if service in ("dynamodb", "s3"):
            enforce(client, statements)
        return client

    return made


def _calls(model: Any, params: Mapping[str, Any]) -> list[Call]:
    if model.service_model.service_name == "s3":
        return list(s3_calls(model.name, params, _BUCKET))
    return list(dynamodb_calls(model.name, params, lambda _: _TABLE))
