"""What an operator sees of forgetting: a dashboard of its rates, and alarms where somebody should look."""

from __future__ import annotations

from typing import Any, Final

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from slate_infra.constructs.watching import NAMESPACE, PERIOD, SERVICE, alarm_on, count_of

DAY: Final = Duration.days(1)
REGRETTED: Final = 0.2
"""Of what was forgotten within a day, so much said again: what goes is what is needed."""
LATE_SECONDS: Final = 86_400
"""On average what was due was done a day late: decay does not keep up."""


class Forgetting(Construct):
    """The dashboard, and the alarms on the topic that all alarms speak on."""

    def __init__(self, scope: Construct, construct_id: str, *, topic: sns.ITopic) -> None:
        super().__init__(scope, construct_id)
        self._topic = topic
        self._marks = [cloudwatch.VerticalAnnotation(date=at, label=said) for at, said in _marks(self)]
        regret = _rate("regret", "facts_regretted", "facts_forgotten")
        self._alarm(
            "Regret", regret, REGRETTED, "Of what was forgotten, much is said again: half-lives may be too short."
        )
        late = cloudwatch.MathExpression(
            expression="IF(entries > 0, lag / entries, 0)",
            label="seconds late",
            using_metrics={"lag": count_of("decay_lag_seconds"), "entries": count_of("decay_entries")},
            period=PERIOD,
        )
        self._alarm("DecayLate", late, LATE_SECONDS, "What fades is worked off a day late: decay does not keep up.")
        self._alarm("DecayCapped", count_of("decay_capped"), 1, "A tenant's forgetting was spread over later runs.")
        self._alarm("FactCapFull", count_of("fact_cap_full"), 1, "A person has more facts than the cap; none may go.")
        self._dashboard(regret, late)

    def _dashboard(self, regret: cloudwatch.IMetric, late: cloudwatch.IMetric) -> None:
        asked = _rate("asked again", "questions_repeated", "facts_served")
        conflict = _rate("conflicts", "facts_in_conflict", "facts_decided")
        stale = _rate("stale hits", "facts_stale", "facts_served")
        precision = cloudwatch.MathExpression(
            expression="IF(used + noise > 0, used / (used + noise), 1)",
            label="precision, as far as it was told",
            using_metrics={"used": count_of("facts_used", DAY), "noise": count_of("facts_noise", DAY)},
            period=DAY,
        )
        rows = (
            (
                self._graph("Forgotten, by rule", [_by("facts_forgotten")]),
                self._graph("Limbo, woken, restored", [count_of("facts_in_limbo"), _by("facts_woken")]),
            ),
            (
                self._graph("Regret: forgotten, then said again", [regret]),
                self._graph("How late", [late, count_of("decay_capped")]),
            ),
            (
                self._graph("Conflicts, stale hits, questions asked again", [conflict, stale, asked]),
                self._graph("Of what was served, what was used", [precision]),
            ),
        )
        dashboard = cloudwatch.Dashboard(
            self, "Dashboard", dashboard_name=f"{Aws.STACK_NAME}-forgetting", default_interval=Duration.days(30)
        )
        for row in rows:
            dashboard.add_widgets(*row)

    def _graph(self, title: str, metrics: list[cloudwatch.IMetric]) -> cloudwatch.IWidget:
        """With what changed beside it: a tenant's settings, which are counted, and what the deployment marks."""
        changed = count_of("settings_changed")
        return cloudwatch.GraphWidget(
            title=title, left=metrics, right=[changed], vertical_annotations=self._marks, width=12, height=6
        )

    def _alarm(self, construct_id: str, metric: cloudwatch.IMetric, threshold: float, description: str) -> None:
        alarm_on(self, construct_id, metric, description, topic=self._topic, threshold=threshold)


def _by(name: str) -> cloudwatch.MathExpression:
    """A count by its parts, whichever there are."""
    search = f"SEARCH('{{{NAMESPACE},service,by}} MetricName=\"{name}\" service=\"{SERVICE}\"', 'Sum', 86400)"
    return cloudwatch.MathExpression(expression=search, label="", using_metrics={}, period=DAY)


def _rate(label: str, part: str, whole: str) -> cloudwatch.MathExpression:
    return cloudwatch.MathExpression(
        expression=f"IF({whole} > 0, {part} / {whole}, 0)",
        label=label,
        using_metrics={part: count_of(part, DAY), whole: count_of(whole, DAY)},
        period=DAY,
    )


def _marks(scope: Construct) -> list[tuple[str, str]]:
    """What the deployment says has changed and when: ``-c marks="2026-11-30T12:00:00Z prompt 2; ..."``."""
    given: Any = scope.node.try_get_context("marks")
    pairs = [mark.strip().partition(" ") for mark in str(given or "").split(";") if mark.strip()]
    return [(at, said.strip() or "changed") for at, _, said in pairs]
