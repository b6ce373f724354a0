"""Where events go: the bus that rules listen on, and the queue of webhooks, which is one of its listeners."""

from __future__ import annotations

from typing import Final

from aws_cdk import aws_events as events
from aws_cdk import aws_lambda as lambda_
from aws_cdk.aws_events_targets import SqsQueue
from aws_cdk.aws_lambda_event_sources import SqsEventSource
from constructs import Construct

from slate_infra.constructs.queues import work_queue

SOURCE: Final = "slate"
"""The source of every event that Slate publishes."""
VISIBLE_AGAIN_SECONDS: Final = 180
"""Six times as long as the consumer may run: a message in a batch that waits for a free instance is not sent twice."""
RECEIVES: Final = 5
BATCH: Final = 10
AT_ONCE: Final = 20
"""Instances of the consumer: receivers that are slow take no more of the account's concurrency than this."""


class Push(Construct):
    """The bus, the queue of webhooks with its dead letters, and the rule between them."""

    def __init__(self, scope: Construct, construct_id: str, queue_days: int) -> None:
        super().__init__(scope, construct_id)
        self.bus = events.EventBus(self, "Bus", description="Slate: tasks and graphs that somebody may wait for")
        self.webhooks, self.dead_letters = work_queue(
            self,
            "Webhooks",
            "WebhookDeadLetters",
            visible_again_seconds=VISIBLE_AGAIN_SECONDS,
            receives=RECEIVES,
            kept_days=queue_days,
        )
        events.Rule(
            self,
            "ToWebhooks",
            event_bus=self.bus,
            description="Slate: every event, for the webhooks that want it",
            event_pattern=events.EventPattern(source=[SOURCE]),
            targets=[SqsQueue(self.webhooks, dead_letter_queue=self.dead_letters)],
        )

    def deliver_by(self, consumer: lambda_.Function) -> None:
        """Start a function with batches of the webhooks' queue; what it reports as failed comes again."""
        consumer.add_event_source(
            SqsEventSource(self.webhooks, batch_size=BATCH, max_concurrency=AT_ONCE, report_batch_item_failures=True)
        )
