"""What no role may do, whatever docs/permissions.md lists: reach past one tenant, or further than the stack."""

from __future__ import annotations

from typing import Any

import pytest

from slate_infra.constructs.tenancy import TENANT
from slate_infra.template import Statement

BY_ARN_OF_NOTHING = {"xray:PutTelemetryRecords", "xray:PutTraceSegments", "dynamodb:ListStreams"}
"""They know no resource."""
ASKED_ANYWHERE = "arn:aws:bedrock:*::foundation-model/"
"""An inference profile asks the model in whichever of its regions is free."""
EVERYBODYS = {"StorageMain.Arn/index/timer", "StorageMain.StreamArn"}
"""They tell what is due and what changed, of all tenants at once."""
AUTHORIZER = "FunctionsAuthorizerRole"
"""It finds out whose the request is."""
HOLDS = ("StorageMain", "StorageKeys", "StorageLedger", "StorageContent")


def roles(stack: Any, tenants: bool) -> dict[str, list[Statement]]:
    return {
        role: stack.statements(role)
        for role in stack.of_type("AWS::IAM::Role")
        if role.startswith("Functions") and role.endswith("TenantRole") is tenants
    }


def test_every_role_has_policies_of_its_own_alone(stack):
    for role in stack.of_type("AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in role
        assert "Policies" not in role
    assert not stack.of_type("AWS::IAM::ManagedPolicy")


def test_each_function_has_a_role_and_a_role_for_a_tenant_and_the_authorizer_knows_none(stack):
    functions = {name.removesuffix("Function") for name in stack.of_type("AWS::Lambda::Function")}
    assert {role.removesuffix("Role") for role in roles(stack, tenants=False)} == functions
    assert {role.removesuffix("TenantRole") for role in roles(stack, tenants=True)} == functions - {
        "FunctionsAuthorizer"
    }


def test_in_its_own_name_no_function_reaches_a_tenants_data(stack):
    for role, statements in roles(stack, tenants=False).items():
        for actions, resource, condition in statements:
            if resource.startswith(HOLDS) and role != AUTHORIZER:
                assert resource in EVERYBODYS, (role, actions, resource)
            if resource == "StorageKey.Arn" and role != AUTHORIZER:
                assert list(condition["StringEquals"]) == ["kms:ViaService"], (role, actions)


def test_for_a_tenant_it_reaches_that_tenants_alone(stack):
    for role, statements in roles(stack, tenants=True).items():
        for statement in statements:
            assert _is_bound(statement), (role, statement)


def _is_bound(statement: Statement) -> bool:
    actions, resource, condition = statement
    match actions.partition(":")[0]:
        case "dynamodb":
            patterns = condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
            # A prefix query ends in a delimiter: acme must never read acme-corp.
            bound = all(pattern.startswith(f"{TENANT}#") for pattern in patterns)
            return bound and condition["Null"] == {"dynamodb:LeadingKeys": "false"}
        case "s3" if "List" in actions:
            return condition == {"StringLike": {"s3:prefix": f"{TENANT}/*"}}
        case "s3":
            return resource == f"StorageContent.Arn/{TENANT}/*"
        case "kms":
            [(key, value)] = condition["StringEquals"].items()
            return value == TENANT if key == "kms:EncryptionContext:tenant" else key == "kms:ViaService"
    return False


def test_a_role_for_a_tenant_is_assumed_by_its_function_alone_and_never_without_a_tenant(stack):
    for role in roles(stack, tenants=True):
        properties = stack.of_type("AWS::IAM::Role")[role]
        [statement] = properties["AssumeRolePolicyDocument"]["Statement"]
        assert stack.text(statement["Principal"]["AWS"]) == role.replace("TenantRole", "Role.Arn")
        assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
        assert statement["Condition"] == {
            "StringLike": {"aws:RequestTag/tenant": "?*"},
            "ForAllValues:StringEquals": {"aws:TagKeys": ["tenant"]},
        }
        own = role.replace("TenantRole", "Role")
        assumed = [s.resource for s in stack.statements(own) if "sts:AssumeRole" in s.actions]
        assert assumed == [f"{role}.Arn"]
        function = stack.of_type("AWS::Lambda::Function")[role.replace("TenantRole", "Function")]
        assert stack.text(function["Environment"]["Variables"]["SLATE_TENANT_ROLE"]) == f"{role}.Arn"


def test_other_roles_are_assumed_by_the_service_they_are_for(stack):
    for name, role in stack.of_type("AWS::IAM::Role").items():
        [statement] = role["AssumeRolePolicyDocument"]["Statement"]
        if name.endswith("ScheduleRole"):
            assert statement["Principal"] == {"Service": "scheduler.amazonaws.com"}
            assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
        elif not name.endswith("TenantRole"):
            assert statement["Principal"] == {"Service": "lambda.amazonaws.com"}


def test_nobody_scans_a_table_or_asks_it_in_a_language_that_names_no_key(stack):
    for role in stack.of_type("AWS::IAM::Role"):
        for actions, _, _ in stack.statements(role):
            assert not {"dynamodb:Scan", "dynamodb:PartiQLSelect", "dynamodb:ExecuteStatement"} & set(actions.split())


def test_no_action_is_a_wildcard_and_no_resource_but_those_that_have_no_name(stack):
    for role in stack.of_type("AWS::IAM::Role"):
        for actions, resource, _ in stack.statements(role):
            assert "*" not in actions
            if resource == "*":
                assert set(actions.split()) <= BY_ARN_OF_NOTHING
            elif not resource.startswith((ASKED_ANYWHERE, f"StorageContent.Arn/{TENANT}/")):
                assert "*" not in resource.replace("/_tasks/*", ""), (role, actions, resource)


@pytest.mark.parametrize("key", ["StorageKey", "SigningKey"])
def test_a_keys_own_policy_only_hands_it_to_the_accounts_policies(stack, key):
    [statement] = stack.of_type("AWS::KMS::Key")[key]["KeyPolicy"]["Statement"]
    assert stack.text(statement["Principal"]["AWS"]) == "arn:aws:iam::AWS::AccountId:root"


def test_who_opens_what_is_sealed_opens_it_by_the_keys_before_too(synthesize):
    before = "arn:aws:kms:eu-central-1:123456789012:key/00000000-0000-0000-0000-000000000000"
    stack = synthesize({"SLATE_PREVIOUS_KMS_KEY_IDS": before})

    def opens(role, key):
        return {str(s.condition) for s in stack.statements(role) if s.resource == key and "kms:Decrypt" in s.actions}

    for role in (AUTHORIZER, *roles(stack, tenants=True)):
        nothing = role.startswith(("FunctionsSweeper", "FunctionsEvents"))
        assert opens(role, before) == (set() if nothing else opens(role, "StorageKey.Arn")), role
