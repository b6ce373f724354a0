"""An example, behind a flag: a rule on the bus starts an agent's Lambda, which does one task of its role.

It is a caller like any other: it reaches Slate over HTTPS with an API key, which an operator puts into its secret, and
its role opens nothing of Slate's storage.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_events_targets import LambdaFunction
from aws_cdk.aws_lambda_destinations import SqsDestination
from constructs import Construct

from slate_infra.constructs.nag import accept, wildcard
from slate_infra.constructs.push import SOURCE

AGENT_ROLE: Final = "example"
"""The role of the tasks that it is woken for."""
TIMEOUT_SECONDS: Final = 60


class ExampleAgent(Construct):
    """The function, its key, the rule that starts it, and where events go that it could not take."""

    def __init__(self, scope: Construct, construct_id: str, *, bus: events.IEventBus, url: str, code: Path) -> None:
        super().__init__(scope, construct_id)
        self.key = secretsmanager.Secret(
            self, "Key", description="The API key of Slate's example agent", removal_policy=RemovalPolicy.DESTROY
        )
        accept(self.key, "SMG4", "An API key of Slate is made and revoked by Slate; an operator puts a new one here.")
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        accept(self.dead_letters, "SQS3", "It is itself the dead-letter queue of the agent's events.")
        self.function = self._function(url, code)
        events.Rule(
            self,
            "Ready",
            event_bus=bus,
            description="Slate: start the example agent when a task of its role is ready",
            event_pattern=events.EventPattern(
                source=[SOURCE], detail_type=["task.ready"], detail={"role": [AGENT_ROLE], "schema_version": [1]}
            ),
            targets=[LambdaFunction(self.function, dead_letter_queue=self.dead_letters)],
        )

    def _function(self, url: str, code: Path) -> lambda_.Function:
        log_group = logs.LogGroup(
            self, "Log", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(role)
        role.add_to_policy(
            iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=[self.key.secret_arn])
        )
        function = lambda_.Function(
            self,
            "Function",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            code=lambda_.Code.from_asset(str(code)),
            handler="agent.handler.handler",
            memory_size=512,
            timeout=Duration.seconds(TIMEOUT_SECONDS),
            role=role,
            log_group=log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            tracing=lambda_.Tracing.ACTIVE,
            environment={"AGENT_SLATE_URL": url, "AGENT_KEY_SECRET": self.key.secret_arn},
        )
        function.configure_async_invoke(on_failure=SqsDestination(self.dead_letters), retry_attempts=2)
        accept(function, "L1", "Python 3.13 is the newest version that the project supports and tests.")
        accept(role, wildcard("*"), "X-Ray's PutTraceSegments and PutTelemetryRecords know no resource.")
        return function
