"""The HTTP API: every route behind the authorizer but the four that anybody may read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, cast

import jsii
from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_apigateway as access_log
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.aws_apigatewayv2_authorizers import HttpLambdaAuthorizer, HttpLambdaResponseType
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from slate_infra.constructs.nag import accept

WAITING_ROUTES: Final = (
    ("POST", "/v1/claims"),
    ("GET", "/v1/graphs/{graph_id}/events"),
    ("POST", "/v1/locks/{name}"),
)
"""They may wait in real time: those that the functions declare so."""
MEMORY_ROUTES: Final = (
    "/v1/sessions",
    "/v1/sessions/{proxy+}",
    "/v1/context",
    "/v1/contexts/{proxy+}",
    "/v1/subjects/{proxy+}",
    "/v1/extractions/{proxy+}",
    "/v1/episodes",
    "/v1/episodes/{proxy+}",
    "/v1/documents",
    "/v1/documents/{proxy+}",
    "/v1/tenant",
)
"""They are the memory API's: the gateway takes the most exact route."""
PRIVACY_ROUTES: Final = (
    "/v1/erasures",
    "/v1/erasures/{proxy+}",
    "/v1/holds",
    "/v1/holds/{proxy+}",
    "/v1/subjects/{subject}/export",
    "/v1/exports/{proxy+}",
    "/v1/audit",
)
"""They are the privacy API's."""
PUBLIC_KEYS: Final = "/.well-known/jwks.json"
"""What receipts are checked by; the privacy API's, too."""
RETRY_AFTER_SECONDS: Final = "2"
_AT_CAPACITY: Final = ("429", "503")
"""What a caller may be told where as many wait as may."""
PUBLIC_ROUTES: Final = ("/v1/health", "/openapi.json", "/docs")
"""They say nothing about any tenant."""
REQUESTS_A_SECOND: Final = 1_000
BURST: Final = 2_000
"""All tenants together; a key's own share is the function's to keep. Ten times below an account's own limit."""

# The route key, never the path: paths carry ids. No address, no user agent: they would name a person.
_ACCESS_LOG: Final = {
    "requestId": "$context.requestId",
    "requestTime": "$context.requestTime",
    "routeKey": "$context.routeKey",
    "status": "$context.status",
    "responseLength": "$context.responseLength",
    "responseLatency": "$context.responseLatency",
    "integrationStatus": "$context.integrationStatus",
    "integrationLatency": "$context.integrationLatency",
    "authorizerLatency": "$context.authorizer.latency",
    "error": "$context.error.responseType",
}


class Api(Construct):
    """The API and its one stage."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        tasks_api: lambda_.IFunction,
        waiting: lambda_.IFunction,
        memory_api: lambda_.IFunction,
        privacy_api: lambda_.IFunction,
        authorizer: lambda_.IFunction,
        decisions_kept_seconds: int,
    ) -> None:
        super().__init__(scope, construct_id)
        self._integration = HttpLambdaIntegration("TasksApi", tasks_api)
        self.http = gateway.HttpApi(self, "Http", create_default_stage=False)
        credential = _authorizer(authorizer, decisions_kept_seconds)
        self.http.add_routes(
            path="/v1/{proxy+}",
            methods=[gateway.HttpMethod.ANY],
            integration=self._integration,
            authorizer=credential,
        )
        self._waiting(waiting, credential)
        privacy = HttpLambdaIntegration("PrivacyApi", privacy_api)
        self._served(MEMORY_ROUTES, HttpLambdaIntegration("MemoryApi", memory_api), credential)
        self._served(PRIVACY_ROUTES, privacy, credential)
        for path in PUBLIC_ROUTES:
            self._public(path, self._integration)
        self._public(PUBLIC_KEYS, privacy)
        self.log = logs.LogGroup(
            self, "AccessLog", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        gateway.HttpStage(
            self,
            "Stage",
            http_api=self.http,
            stage_name="$default",
            auto_deploy=True,
            throttle=gateway.ThrottleSettings(rate_limit=REQUESTS_A_SECOND, burst_limit=BURST),
            access_log_settings=_AccessLog(self.log),
        )

    def _waiting(self, function: lambda_.IFunction, credential: HttpLambdaAuthorizer) -> None:
        """The routes that may wait, in front of their own function: the gateway takes the most exact route."""
        integration = HttpLambdaIntegration("Waiting", function)
        routes = [
            route
            for method, path in WAITING_ROUTES
            for route in self.http.add_routes(
                path=path, methods=[gateway.HttpMethod(method)], integration=integration, authorizer=credential
            )
        ]
        # CDK maps an integration's requests only. The first route holds what all of them share.
        made = routes[0].node.find_child("Waiting").node.default_child
        rest = [{"Destination": "overwrite:header.Retry-After", "Source": RETRY_AFTER_SECONDS}]
        answers = {status: {"ResponseParameters": rest} for status in _AT_CAPACITY}
        cast("gateway.CfnIntegration", made).add_property_override("ResponseParameters", answers)

    def _served(
        self, paths: Sequence[str], integration: HttpLambdaIntegration, credential: HttpLambdaAuthorizer
    ) -> None:
        """Paths, whatever the method, in front of a function of their own."""
        for path in paths:
            self.http.add_routes(
                path=path, methods=[gateway.HttpMethod.ANY], integration=integration, authorizer=credential
            )

    def _public(self, path: str, integration: HttpLambdaIntegration) -> None:
        [route] = self.http.add_routes(
            path=path,
            methods=[gateway.HttpMethod.GET],
            integration=integration,
            authorizer=gateway.HttpNoneAuthorizer(),
        )
        accept(
            route,
            "APIG4",
            "Health, the description of the API and public keys are for anybody and say nothing of a tenant.",
        )


def _authorizer(function: lambda_.IFunction, decisions_kept_seconds: int) -> HttpLambdaAuthorizer:
    """A decision is about the credential alone, whatever the route, so one answer serves all routes from the cache.

    Each route checks the scope that it needs.
    """
    return HttpLambdaAuthorizer(
        "Credential",
        function,
        response_types=[HttpLambdaResponseType.SIMPLE],
        identity_source=["$request.header.Authorization"],
        results_cache_ttl=Duration.seconds(decisions_kept_seconds),
    )


@jsii.implements(gateway.IAccessLogSettings)
class _AccessLog:
    """CDK has the interface of these settings and no class for Python to make one of."""

    def __init__(self, log_group: logs.LogGroup) -> None:
        self._destination = gateway.LogGroupLogDestination(log_group)

    @property
    def destination(self) -> gateway.IAccessLogDestination:
        return self._destination

    @property
    def format(self) -> access_log.AccessLogFormat:
        return access_log.AccessLogFormat.custom(json.dumps(_ACCESS_LOG))
