"""What a function may do with a tenant's data, in a role of its own that is assumed for one tenant at a time.

A session of that role is tagged with the tenant, and each permission compares the tag with what a request names: the
partition key of every item, the beginning of every object's name, the encryption context of every data key. So a
request that reaches for another tenant's data is refused by AWS, whatever the code that sent it believed. What is
nobody's in particular (the timer, the stream, queues, models) stays with the function's own role.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from slate.adapters.dynamodb.table import TIMER

TAG: Final = "tenant"
TENANT: Final = f"${{aws:PrincipalTag/{TAG}}}"
"""Stands, in a policy, for the tenant that a session is tagged with."""
_STREAM: Final = frozenset(
    f"dynamodb:{action}" for action in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
)
_SERVICES: Final = ("dynamodb", "s3")
"""They use the key of what they keep in the caller's name."""


class Divided(NamedTuple):
    """A function's permissions: those of its own role, and those of the role for a tenant."""

    own: list[iam.PolicyStatement]
    tenants: list[iam.PolicyStatement]


def divide(stack: Stack, statements: Iterable[iam.PolicyStatement]) -> Divided:
    """Move all that touches a tenant's data to the role for a tenant, each bound to that tenant."""
    own: list[iam.PolicyStatement] = []
    tenants: list[iam.PolicyStatement] = []
    keys: list[iam.PolicyStatement] = []
    for statement in statements:
        match _kind(statement):
            case "table":
                tenants.append(_with(statement, conditions=_leading_keys(statement)))
            case "objects":
                tenants += _objects(statement)
            case "key":
                keys.append(statement)
            case _:
                own.append(statement)
    reads = any(action.startswith("dynamodb:") for statement in own for action in statement.actions)
    for statement in keys:
        tenants += _of_tenant(stack, statement)
        if reads:
            own.append(_with(statement, actions=["kms:Decrypt"], conditions=_through(stack, _SERVICES[:1])))
    return Divided(own, tenants)


class TenantRole(Construct):
    """The role that one function assumes for a tenant; nobody else may, and not without naming one."""

    def __init__(
        self, scope: Construct, construct_id: str, *, function: iam.Role, statements: Sequence[iam.PolicyStatement]
    ) -> None:
        super().__init__(scope, construct_id)
        tagged = {"StringLike": {f"aws:RequestTag/{TAG}": "?*"}, "ForAllValues:StringEquals": {"aws:TagKeys": [TAG]}}
        trusted = iam.ArnPrincipal(function.role_arn).with_conditions(tagged)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.SessionTagsPrincipal(trusted),
            description="Reaches the data of the one tenant that its session is tagged with",
            # A role that a role assumes is given for an hour at most.
            max_session_duration=Duration.hours(1),
        )
        for statement in statements:
            self.role.add_to_policy(statement)
        function.add_to_policy(
            iam.PolicyStatement(actions=["sts:AssumeRole", "sts:TagSession"], resources=[self.role.role_arn])
        )


def of_one_tenant(statement: iam.PolicyStatement) -> iam.PolicyStatement:
    """A key, for the data keys of the session's tenant alone."""
    return _with(statement, conditions={"StringEquals": {f"kms:EncryptionContext:{TAG}": TENANT}})


def _kind(statement: iam.PolicyStatement) -> str:
    [resource] = statement.resources
    services = {action.partition(":")[0] for action in statement.actions}
    if services == {"dynamodb"}:
        everybodys = resource.endswith(f"/index/{TIMER}") or not _STREAM.isdisjoint(statement.actions)
        return "everybody's" if everybodys else "table"
    if services == {"s3"}:
        return "objects"
    # A key that signs opens nothing.
    return "key" if services == {"kms"} and "kms:Decrypt" in statement.actions else "other"


def _leading_keys(statement: iam.PolicyStatement) -> dict[str, Any]:
    """The partitions that were allowed of every tenant, of this one."""
    bounds: Mapping[str, Any] = statement.conditions or {}
    every = bounds.get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", ["*#*"])
    return {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": [TENANT + each.removeprefix("*") for each in every]},
        # ForAllValues holds where the key is absent: Null refuses that.
        "Null": {"dynamodb:LeadingKeys": "false"},
    }


def _objects(statement: iam.PolicyStatement) -> Iterator[iam.PolicyStatement]:
    """Objects under the tenant's prefix; and lists, where they ask for no more than those."""
    [resource] = statement.resources
    if resource.endswith("/*"):
        yield _with(statement, resource=f"{resource.removesuffix('*')}{TENANT}/*")
    elif "s3:ListBucketVersions" in statement.actions:
        only = {"StringLike": {"s3:prefix": f"{TENANT}/*"}}
        yield _with(statement, actions=["s3:ListBucketVersions"], conditions=only)


def _of_tenant(stack: Stack, statement: iam.PolicyStatement) -> Iterator[iam.PolicyStatement]:
    """The key for the tenant's data keys, which say whose they are; and for what lies in tables and the bucket."""
    if not statement.conditions:
        wraps = [action for action in statement.actions if action != "kms:GenerateDataKey"]
        yield of_one_tenant(_with(statement, actions=wraps))
    rests = [action for action in statement.actions if action != "kms:Encrypt"]
    yield _with(statement, actions=rests, conditions=_through(stack, _SERVICES))


def _through(stack: Stack, services: Sequence[str]) -> dict[str, Any]:
    return {"StringEquals": {"kms:ViaService": [f"{service}.{stack.region}.amazonaws.com" for service in services]}}


def _with(
    statement: iam.PolicyStatement,
    *,
    actions: Sequence[str] | None = None,
    resource: str | None = None,
    conditions: Mapping[str, Any] | None = None,
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=list(actions or statement.actions),
        resources=[resource] if resource else list(statement.resources),
        conditions=conditions or statement.conditions or None,
    )
