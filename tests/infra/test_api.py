from __future__ import annotations

import json

import pytest

from slate_functions.http.routes import declarations
from slate_functions.local.service import open_service
from slate_functions.memory_api.app import memory_groups
from slate_functions.tasks_api.app import tasks_groups

PUBLIC = {"GET /v1/health", "GET /openapi.json", "GET /docs", "GET /.well-known/jwks.json"}
MEMORY = {
    "ANY /v1/sessions",
    "ANY /v1/sessions/{proxy+}",
    "ANY /v1/context",
    "ANY /v1/contexts/{proxy+}",
    "ANY /v1/subjects/{proxy+}",
    "ANY /v1/extractions/{proxy+}",
    "ANY /v1/episodes",
    "ANY /v1/episodes/{proxy+}",
    "ANY /v1/documents",
    "ANY /v1/documents/{proxy+}",
    "ANY /v1/tenant",
}
PRIVACY = {
    "ANY /v1/erasures",
    "ANY /v1/erasures/{proxy+}",
    "ANY /v1/holds",
    "ANY /v1/holds/{proxy+}",
    "ANY /v1/subjects/{subject}/export",
    "ANY /v1/exports/{proxy+}",
    "ANY /v1/audit",
    "GET /.well-known/jwks.json",
}
WAITING = {"POST /v1/claims", "GET /v1/graphs/{graph_id}/events", "POST /v1/locks/{name}"}


@pytest.fixture(scope="module")
def routes(stack):
    return {route["RouteKey"]: route for route in stack.of_type("AWS::ApiGatewayV2::Route").values()}


@pytest.fixture(scope="module")
def served_by(stack, routes):
    """The function behind a route."""

    def find(key):
        integration = stack.text(routes[key]["Target"]).removeprefix("integrations/")
        return stack.text(stack.of_type("AWS::ApiGatewayV2::Integration")[integration]["IntegrationUri"])

    return find


def test_every_route_asks_for_a_credential_but_the_public_ones(stack, routes):
    assert set(routes) == {"ANY /v1/{proxy+}", *WAITING, *MEMORY, *PRIVACY, *PUBLIC}
    for guarded in routes.keys() - PUBLIC:
        assert routes[guarded]["AuthorizationType"] == "CUSTOM"
        assert stack.text(routes[guarded]["AuthorizerId"]) == "ApiHttpCredential"
    assert {routes[key]["AuthorizationType"] for key in PUBLIC} == {"NONE"}


def test_every_route_is_served_by_the_tasks_api_but_those_that_wait_and_those_of_memory_and_privacy(
    stack, routes, served_by
):
    by = {key: served_by(key) for key in routes}
    assert {key for key in by if by[key] == "FunctionsWaitingFunction.Arn"} == WAITING
    assert {key for key in by if by[key] == "FunctionsMemoryApiFunction.Arn"} == MEMORY
    assert {key for key in by if by[key] == "FunctionsPrivacyApiFunction.Arn"} == PRIVACY
    assert {by[key] for key in by.keys() - WAITING - MEMORY - PRIVACY} == {"FunctionsTasksApiFunction.Arn"}
    for integration in stack.of_type("AWS::ApiGatewayV2::Integration").values():
        assert integration["PayloadFormatVersion"] == "2.0"


def test_those_that_wait_are_those_that_the_functions_declare():
    with open_service(manual=True) as service:
        groups = (*tasks_groups(service.slate, dict), *memory_groups(service.slate))
    declared = (declaration for group in groups for _, declaration in declarations(type(group)))
    assert {declaration.key for declaration in declared if declaration.waits} == WAITING


def test_what_memory_serves_is_what_its_routes_declare():
    with open_service(manual=True) as service:
        groups = {"memory": memory_groups(service.slate), "tasks": tasks_groups(service.slate, dict)}
    for api, made in groups.items():
        for path in {declaration.path for group in made for _, declaration in declarations(type(group))}:
            start = path.split("/")[2] if path.count("/") > 1 else ""
            assert any(key.split("/")[2] == start for key in MEMORY) is (api == "memory"), path


def test_who_is_turned_away_where_all_wait_is_told_when_to_come_again(stack):
    mapped = [i.get("ResponseParameters") for i in stack.of_type("AWS::ApiGatewayV2::Integration").values()]
    rest = {"ResponseParameters": [{"Destination": "overwrite:header.Retry-After", "Source": "2"}]}
    assert sorted(mapped, key=bool) == [None, None, None, {"429": rest, "503": rest}]


def test_the_authorizer_answers_simply_and_by_the_credential_alone(stack):
    authorizer = stack.only("AWS::ApiGatewayV2::Authorizer")
    assert "FunctionsAuthorizerFunction.Arn" in stack.text(authorizer["AuthorizerUri"])
    assert authorizer["EnableSimpleResponses"] is True
    assert authorizer["AuthorizerPayloadFormatVersion"] == "2.0"
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]


@pytest.mark.parametrize("seconds", [60, 1])
def test_a_revoked_key_lives_no_longer_than_the_setting_over_both_caches(synthesize, seconds):
    stack = synthesize({"SLATE_DECISION_CACHE_SECONDS": str(seconds)})
    gateway = stack.only("AWS::ApiGatewayV2::Authorizer")["AuthorizerResultTtlInSeconds"]
    environment = stack.of_type("AWS::Lambda::Function")["FunctionsAuthorizerFunction"]["Environment"]["Variables"]
    assert gateway + int(environment["SLATE_DECISION_CACHE_SECONDS"]) == seconds


def test_the_stage_is_throttled(stack):
    assert stack.only("AWS::ApiGatewayV2::Stage")["DefaultRouteSettings"] == {
        "ThrottlingRateLimit": 1_000,
        "ThrottlingBurstLimit": 2_000,
    }


def test_the_access_log_has_the_route_and_never_the_path_nor_who_called(stack):
    settings = stack.only("AWS::ApiGatewayV2::Stage")["AccessLogSettings"]
    assert stack.text(settings["DestinationArn"]) == "ApiAccessLog.Arn"
    variables = set(json.loads(settings["Format"]).values())
    assert "$context.routeKey" in variables
    assert variables.isdisjoint({"$context.path", "$context.http.path", "$context.identity.sourceIp"})
    assert not any("identity" in v or "claims" in v or v.endswith(("path", "userAgent")) for v in variables)
