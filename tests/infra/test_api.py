from __future__ import annotations

import json

import pytest

PUBLIC = {"GET /v1/health", "GET /openapi.json", "GET /docs"}


def test_every_route_asks_for_a_credential_but_the_public_ones(stack):
    routes = {route["RouteKey"]: route for route in stack.of_type("AWS::ApiGatewayV2::Route").values()}
    assert set(routes) == {"ANY /v1/{proxy+}", *PUBLIC}
    guarded = routes["ANY /v1/{proxy+}"]
    assert guarded["AuthorizationType"] == "CUSTOM"
    assert stack.text(guarded["AuthorizerId"]) == "ApiHttpCredential"
    assert {routes[key]["AuthorizationType"] for key in PUBLIC} == {"NONE"}


def test_every_route_is_served_by_the_tasks_api(stack):
    integration = stack.only("AWS::ApiGatewayV2::Integration")
    assert stack.text(integration["IntegrationUri"]) == "FunctionsTasksApiFunction.Arn"
    assert integration["PayloadFormatVersion"] == "2.0"


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
