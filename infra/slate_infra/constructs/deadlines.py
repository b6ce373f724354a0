"""What tells an operator in time that a person waits for their erasure: the law gives a month."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from aws_cdk.aws_cloudwatch_actions import SnsAction
from constructs import Construct

from slate_infra.constructs.forgetting import NAMESPACE, SERVICE

LATE_DAYS: Final = (20, 25)
"""The eraser counts, once an hour, those that were requested so many days ago."""
_COUNTED: Final = Duration.hours(2)
"""A count an hour: two hours hold one."""
FAILURES: Final = 5
"""Of steps within an hour: one that fails now and then is done when it is tried again."""


class Deadlines(Construct):
    """The alarms of erasures, on the topic that all alarms speak on."""

    def __init__(self, scope: Construct, construct_id: str, *, topic: sns.ITopic) -> None:
        super().__init__(scope, construct_id)
        self._topic = topic
        self.every: list[cloudwatch.IAlarm] = []
        for days in LATE_DAYS:
            late = _metric("erasures_late", "Maximum", _COUNTED, by=f"{days} days")
            said = f"A person asked to be erased {days} days ago, and is not: held, or stuck. A month is the limit."
            self._alarm(f"Late{days}", late, 1, said)
        failed = _metric("erasures_failed", "Sum", Duration.hours(1))
        self._alarm("Failing", failed, FAILURES, "Steps of erasures fail again and again: a store refuses to delete.")

    def _alarm(self, construct_id: str, metric: cloudwatch.Metric, threshold: int, description: str) -> None:
        alarm = metric.create_alarm(
            self,
            construct_id,
            alarm_description=description,
            threshold=threshold,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(SnsAction(self._topic))
        self.every.append(alarm)


def _metric(name: str, statistic: str, period: Duration, *, by: str | None = None) -> cloudwatch.Metric:
    dimensions = {"service": SERVICE} if by is None else {"service": SERVICE, "by": by}
    return cloudwatch.Metric(
        namespace=NAMESPACE, metric_name=name, dimensions_map=dimensions, statistic=statistic, period=period
    )
