"""What somebody should look at: what fails or is behind, what could not be delivered, a domain in need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from slate_infra.constructs.search import SearchDomain
from slate_infra.constructs.watching import alarm_on

SERVER_ERRORS: Final = 10
"""Within 5 minutes. A caller is told 503 now and then where many write one item: that alone wakes nobody."""

BEHIND_MS: Final = 300_000
"""A feed is seconds behind; minutes mean that a batch fails again and again."""

MEMORY_PERCENT: Final = 92
"""Of the JVM; at 95 the domain refuses requests."""
GRAPHS_PERCENT: Final = 80
"""Of the memory that vectors may take; what is beyond is read from the disk."""


class Alarms(Construct):
    """The alarms and the topic that they speak on; who subscribes to it is the operator's choice.

    The authorizer is watched through the API: it refuses a credential by an error, so its errors say nothing, but
    where it cannot decide the API answers 500.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        api: gateway.HttpApi,
        functions: Mapping[str, lambda_.IFunction],
        queues: Mapping[str, sqs.IQueue],
        followers: Mapping[str, lambda_.IFunction],
        search: SearchDomain | None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.every: list[cloudwatch.IAlarm] = []
        # Not under the CMK: CloudWatch would need the right to decrypt with it, and an alarm tells no content.
        self.topic = sns.Topic(self, "Topic", display_name="Slate alarms", enforce_ssl=True)
        for name, function in functions.items():
            errors = function.metric_errors(period=Duration.minutes(5), statistic="Sum")
            self._alarm(f"{name}Errors", errors, "The function raised an error or ran out of time.")
        for name, queue in queues.items():
            depth = queue.metric_approximate_number_of_messages_visible(period=Duration.minutes(5), statistic="Maximum")
            self._alarm(f"{name}Depth", depth, "An event could not be delivered and waits to be looked at.")
        for name, function in followers.items():
            age = function.metric("IteratorAge", period=Duration.minutes(5), statistic="Maximum")
            said = "What follows the table's stream is far behind; after a day the stream forgets."
            self._alarm(f"{name}Age", age, said, threshold=BEHIND_MS)
        answers = api.metric_server_error(period=Duration.minutes(5), statistic="Sum")
        self._alarm("ServerErrors", answers, "The API answers with errors of its own.", threshold=SERVER_ERRORS)
        if search is not None:
            self._watch(search)

    def _watch(self, search: SearchDomain) -> None:
        """The domain. One node is always yellow, without a place for its second copies: red is what matters."""
        domain, five = search.domain, Duration.minutes(5)
        red = domain.metric_cluster_status_red(period=five, statistic="Maximum")
        self._alarm("SearchRed", red, "A part of the index is not there: searches are answered from the table.")
        memory = domain.metric_jvm_memory_pressure(period=five, statistic="Maximum")
        self._alarm("SearchMemory", memory, "The domain's nodes need more memory.", threshold=MEMORY_PERCENT)
        full = domain.metric_cluster_index_writes_blocked(period=five, statistic="Maximum")
        self._alarm("SearchBlocked", full, "The domain takes no writes: its disk or its memory is full.")
        graphs = domain.metric("KNNGraphMemoryUsagePercentage", period=five, statistic="Maximum")
        self._alarm(
            "SearchGraphs", graphs, "Vectors take up their memory: searches slow down.", threshold=GRAPHS_PERCENT
        )

    def _alarm(self, construct_id: str, metric: cloudwatch.Metric, description: str, *, threshold: int = 1) -> None:
        self.every.append(alarm_on(self, construct_id, metric, description, topic=self.topic, threshold=threshold))
