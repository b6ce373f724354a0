"""What every alarm has in common, and how what the functions count is found again as a metric."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from aws_cdk.aws_cloudwatch_actions import SnsAction
from constructs import Construct

NAMESPACE: Final = "Slate"
SERVICE: Final = "memory"
PERIOD: Final = Duration.minutes(5)


def count_of(
    name: str, period: Duration = PERIOD, *, statistic: str = "Sum", by: str | None = None
) -> cloudwatch.Metric:
    """A count of the functions', of one of its parts where ``by`` names one."""
    dimensions = {"service": SERVICE} if by is None else {"service": SERVICE, "by": by}
    return cloudwatch.Metric(
        namespace=NAMESPACE, metric_name=name, dimensions_map=dimensions, statistic=statistic, period=period
    )


def alarm_on(
    scope: Construct,
    construct_id: str,
    metric: cloudwatch.IMetric,
    description: str,
    *,
    topic: sns.ITopic,
    threshold: float = 1,
) -> cloudwatch.Alarm:
    """An alarm that sounds as soon as the metric is at the threshold; silence is no reason to."""
    alarm = cloudwatch.Alarm(
        scope,
        construct_id,
        metric=metric,
        alarm_description=description,
        threshold=threshold,
        evaluation_periods=1,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )
    alarm.add_alarm_action(SnsAction(topic))
    return alarm
