"""Runs that begin by the clock; what cannot even be begun lands in a queue that raises an alarm."""

from __future__ import annotations

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_scheduler_targets import LambdaInvoke
from constructs import Construct

from slate_infra.constructs.nag import accept


class RunSchedule(Construct):
    """A function's schedule, its role and its dead-letter queue."""

    def __init__(self, scope: Construct, construct_id: str, *, function: lambda_.Function, minutes: int) -> None:
        super().__init__(scope, construct_id)
        # The next run is the retry: it finds due what this one left.
        function.configure_async_invoke(retry_attempts=0, max_event_age=Duration.minutes(minutes))
        # Its messages are the schedule's own empty events: SQS's key is enough, and the CMK stays with the data.
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        accept(self.dead_letters, "SQS3", "It is itself the dead-letter queue of the schedule.")
        scheduler.Schedule(
            self,
            "Runs",
            description="Slate: begin a run",
            schedule=scheduler.ScheduleExpression.rate(Duration.minutes(minutes)),
            target=LambdaInvoke(
                function,
                # Ours is exact; the target would add every version of the function.
                role=self._role(function).without_policy_updates(),
                # A schedule without one would make its own, which says nothing that a run needs.
                input=scheduler.ScheduleTargetInput.from_object({}),
                dead_letter_queue=self.dead_letters,
                retry_attempts=2,
                max_event_age=Duration.minutes(minutes),
            ),
        )

    def _role(self, function: lambda_.IFunction) -> iam.Role:
        account = Stack.of(self).account
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": account}}
            ),
        )
        role.add_to_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[function.function_arn]))
        role.add_to_policy(iam.PolicyStatement(actions=["sqs:SendMessage"], resources=[self.dead_letters.queue_arn]))
        return role
