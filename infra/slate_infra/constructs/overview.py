"""What an operator looks at first: is the service answering, is anything behind, does anything wait to be looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import Aws, Duration
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from slate_infra.constructs.search import SearchDomain
from slate_infra.constructs.storage import Storage

PERIOD: Final = Duration.minutes(5)


class Overview(Construct):
    """The dashboard: alarms, the API, the functions, what is behind, the tables, the domain."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        api: gateway.HttpApi,
        functions: Mapping[str, lambda_.IFunction],
        queues: Mapping[str, sqs.IQueue],
        followers: Mapping[str, lambda_.IFunction],
        storage: Storage,
        search: SearchDomain | None,
        alarms: Sequence[cloudwatch.IAlarm],
    ) -> None:
        super().__init__(scope, construct_id)
        dashboard = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=Aws.STACK_NAME)
        dashboard.add_widgets(cloudwatch.AlarmStatusWidget(title="Alarms", alarms=alarms, width=24, height=4))
        dashboard.add_widgets(
            _graph("Requests, and errors of callers and of ours", _answers(api)),
            _graph("How long an answer takes, in ms", [api.metric_latency(statistic=s) for s in ("p50", "p99")]),
        )
        dashboard.add_widgets(
            _graph("Functions: errors", [_of(f, name, "Errors", "Sum") for name, f in functions.items()]),
            _graph("Functions: throttled", [_of(f, name, "Throttles", "Sum") for name, f in functions.items()]),
        )
        behind = [_of(f, name, "IteratorAge", "Maximum") for name, f in followers.items()]
        dashboard.add_widgets(
            _graph("Followers of the stream: behind, in ms", behind),
            _graph("Waits to be looked at", [_depth(queue, name) for name, queue in queues.items()]),
        )
        dashboard.add_widgets(_graph("The main table", _units(storage)), *_domain(search))


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=12, height=6)


def _answers(api: gateway.HttpApi) -> list[cloudwatch.IMetric]:
    return [
        metric(period=PERIOD, statistic="Sum")
        for metric in (api.metric_count, api.metric_client_error, api.metric_server_error)
    ]


def _of(function: lambda_.IFunction, name: str, metric: str, statistic: str) -> cloudwatch.IMetric:
    return function.metric(metric, label=name, period=PERIOD, statistic=statistic)


def _depth(queue: sqs.IQueue, name: str) -> cloudwatch.IMetric:
    return queue.metric_approximate_number_of_messages_visible(label=name, period=PERIOD, statistic="Maximum")


def _units(storage: Storage) -> list[cloudwatch.IMetric]:
    table = storage.main
    return [
        table.metric_consumed_read_capacity_units(period=PERIOD),
        table.metric_consumed_write_capacity_units(period=PERIOD),
        *(table.metric(name, period=PERIOD, statistic="Sum") for name in ("ReadThrottleEvents", "WriteThrottleEvents")),
    ]


def _domain(search: SearchDomain | None) -> list[cloudwatch.IWidget]:
    if search is None:
        return []
    metrics = [
        search.domain.metric_cpu_utilization(period=PERIOD),
        search.domain.metric_jvm_memory_pressure(period=PERIOD),
        search.domain.metric("KNNGraphMemoryUsagePercentage", period=PERIOD, statistic="Maximum"),
    ]
    return [_graph("The domain: CPU, memory, its graphs' memory, in %", metrics)]
