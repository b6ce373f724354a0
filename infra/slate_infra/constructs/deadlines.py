"""What tells an operator in time that a person waits for their erasure: the law gives a month."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from slate_infra.constructs.watching import alarm_on, count_of

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
            late = count_of("erasures_late", _COUNTED, statistic="Maximum", by=f"{days} days")
            said = f"A person asked to be erased {days} days ago, and is not: held, or stuck. A month is the limit."
            self._alarm(f"Late{days}", late, said)
        failed = count_of("erasures_failed", Duration.hours(1))
        said = "Steps of erasures fail again and again: a store refuses to delete."
        self._alarm("Failing", failed, said, threshold=FAILURES)

    def _alarm(self, construct_id: str, metric: cloudwatch.Metric, said: str, *, threshold: int = 1) -> None:
        self.every.append(alarm_on(self, construct_id, metric, said, topic=self._topic, threshold=threshold))
