"""The stream behind the change feeds: batches of it start a function, and what that cannot take raises an alarm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from slate.adapters.dynamodb.table import FEED_FILTER, INDEX_FILTER
from slate_infra.constructs.nag import accept
from slate_infra.constructs.storage import Storage

BATCH: Final = 100
RETRIES: Final = 10
OLDEST_SECONDS: Final = 3_600
"""A record that could not be taken for so long is given up; the feed then counts it as missing."""
SHARES: Final = 4
"""Of each shard, so many batches at once; the records of one item stay in one of them, and in order."""

# The plain resource: what the function's role may do stands in ``permissions``, and nothing is granted here.
_mapping = lambda_.CfnEventSourceMapping


class Feed(Construct):
    """The failure destination, and the mapping from the stream to its consumer."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        # Its messages say which record it was, never what stood in it: SQS's key is enough.
        self.failures = sqs.Queue(
            self,
            "Failures",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        accept(self.failures, "SQS3", "It is itself where failed records go.")

    def follow(self, storage: Storage, consumer: lambda_.Function) -> None:
        """Start the consumer with what changes in the main table, but for what it writes itself."""
        self._read("Stream", storage, consumer, FEED_FILTER)

    def index(self, storage: Storage, indexer: lambda_.Function) -> None:
        """Start the indexer, the stream's second reader and its last, with what can be searched."""
        self._read("Index", storage, indexer, INDEX_FILTER)

    def _read(self, name: str, storage: Storage, consumer: lambda_.Function, pattern: Mapping[str, Any]) -> None:
        """A batch that fails is cut in two until the record that fails stands alone."""
        lambda_.CfnEventSourceMapping(
            self,
            name,
            function_name=consumer.function_name,
            event_source_arn=storage.main.table_stream_arn,
            starting_position="TRIM_HORIZON",
            batch_size=BATCH,
            parallelization_factor=SHARES,
            bisect_batch_on_function_error=True,
            function_response_types=["ReportBatchItemFailures"],
            maximum_retry_attempts=RETRIES,
            maximum_record_age_in_seconds=OLDEST_SECONDS,
            destination_config=_mapping.DestinationConfigProperty(
                on_failure=_mapping.OnFailureProperty(destination=self.failures.queue_arn)
            ),
            filter_criteria=_mapping.FilterCriteriaProperty(
                filters=[_mapping.FilterProperty(pattern=json.dumps(pattern))]
            ),
        )
