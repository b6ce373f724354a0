"""Work on memory: the queue that is worked off after turns are written, and its dead letters."""

from __future__ import annotations

from typing import Final

from aws_cdk import aws_lambda as lambda_
from aws_cdk.aws_lambda_event_sources import SqsEventSource
from constructs import Construct

from slate_infra.constructs.queues import work_queue

VISIBLE_AGAIN_SECONDS: Final = 900
"""Six times as long as the consumer may run: a message in a batch that waits for a free instance is not sent twice."""
RECEIVES: Final = 5
BATCH: Final = 5
"""Messages of one run, one after the other: each may ask a model twice."""
AT_ONCE: Final = 20
"""Instances of the consumer: a burst of closes takes no more of the account's concurrency, nor of the model's."""


class Memory(Construct):
    """The queue and its dead letters."""

    def __init__(self, scope: Construct, construct_id: str, queue_days: int) -> None:
        super().__init__(scope, construct_id)
        self.work, self.dead_letters = work_queue(
            self,
            "Work",
            "DeadLetters",
            visible_again_seconds=VISIBLE_AGAIN_SECONDS,
            receives=RECEIVES,
            kept_days=queue_days,
        )

    def work_by(self, consumer: lambda_.Function) -> None:
        """Start a function with batches of the queue; what it reports as failed comes again."""
        consumer.add_event_source(
            SqsEventSource(self.work, batch_size=BATCH, max_concurrency=AT_ONCE, report_batch_item_failures=True)
        )
