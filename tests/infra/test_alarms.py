from __future__ import annotations

import re

from slate.ports.counts import Count
from slate.service.erasing.deadlines import LATE_DAYS as COUNTED_DAYS
from slate_infra.constructs.deadlines import LATE_DAYS
from slate_infra.project import ROOT


def test_each_failure_that_nobody_else_would_see_raises_an_alarm(stack):
    watched = {
        (alarm["MetricName"], stack.text(alarm["Dimensions"][0]["Value"]), alarm["Threshold"])
        for alarm in stack.of_type("AWS::CloudWatch::Alarm").values()
        if "MetricName" in alarm
    }
    assert watched == {
        ("Errors", "FunctionsTasksApiFunction", 1),
        ("Errors", "FunctionsWaitingFunction", 1),
        ("Errors", "FunctionsSweeperFunction", 1),
        ("Errors", "FunctionsEventsFunction", 1),
        ("IteratorAge", "FunctionsEventsFunction", 300_000),
        ("ApproximateNumberOfMessagesVisible", "FeedFailures.QueueName", 1),
        ("Errors", "FunctionsWebhooksFunction", 1),
        ("ApproximateNumberOfMessagesVisible", "PushWebhookDeadLetters.QueueName", 1),
        ("Errors", "FunctionsMemoryApiFunction", 1),
        ("Errors", "FunctionsExtractorFunction", 1),
        ("Errors", "FunctionsDecayFunction", 1),
        ("Errors", "FunctionsPrivacyApiFunction", 1),
        ("Errors", "FunctionsEraserFunction", 1),
        ("ApproximateNumberOfMessagesVisible", "EraseScheduleDeadLetters.QueueName", 1),
        ("ApproximateNumberOfMessagesVisible", "MemoryDeadLetters.QueueName", 1),
        ("ApproximateNumberOfMessagesVisible", "DecayScheduleDeadLetters.QueueName", 1),
        ("ApproximateNumberOfMessagesVisible", "SweepScheduleDeadLetters.QueueName", 1),
        ("Errors", "FunctionsIndexerFunction", 1),
        ("IteratorAge", "FunctionsIndexerFunction", 300_000),
        ("ClusterStatus.red", "AWS::AccountId", 1),
        ("JVMMemoryPressure", "AWS::AccountId", 92),
        ("ClusterIndexWritesBlocked", "AWS::AccountId", 1),
        ("KNNGraphMemoryUsagePercentage", "AWS::AccountId", 80),
        ("5xx", "ApiHttp", 10),
        ("decay_capped", "memory", 1),
        ("fact_cap_full", "memory", 1),
        ("erasures_late", "20 days", 1),
        ("erasures_late", "25 days", 1),
        ("erasures_failed", "memory", 5),
    }


def test_the_days_that_raise_an_alarm_are_those_that_are_counted():
    assert LATE_DAYS == COUNTED_DAYS


def test_forgetting_raises_an_alarm_where_much_is_said_again_and_where_it_is_late(stack):
    rates = {
        metric["Expression"]: alarm["Threshold"]
        for alarm in stack.of_type("AWS::CloudWatch::Alarm").values()
        for metric in alarm.get("Metrics", [])
        if "Expression" in metric
    }
    assert rates == {
        "IF(facts_forgotten > 0, facts_regretted / facts_forgotten, 0)": 0.2,
        "IF(entries > 0, lag / entries, 0)": 86_400,
    }


def test_what_the_dashboard_shows_is_counted(stack):
    told = str(stack.of_type("AWS::CloudWatch::Dashboard")["ForgettingDashboard"]["DashboardBody"])
    shown = set(re.findall(r'"Slate","(\w+)","service","memory"', told)) | set(
        re.findall(r'MetricName=\\*"(\w+)', told)
    )
    assert len(shown) > 10
    assert shown <= {count.value for count in Count}


def test_the_overview_shows_every_alarm_of_the_service(stack):
    shown = str(stack.of_type("AWS::CloudWatch::Dashboard")["OverviewDashboard"]["DashboardBody"])
    of_forgetting = {name for name in stack.of_type("AWS::CloudWatch::Alarm") if name.startswith("Forgetting")}
    assert len(of_forgetting) == 4
    for name in set(stack.of_type("AWS::CloudWatch::Alarm")) - of_forgetting:
        assert f"'{name}" in shown


def test_operators_are_told_what_each_alarm_means_and_what_to_do(stack):
    [section] = re.findall(
        r"^## Alarms\n(.*?)^## ", (ROOT / "docs" / "operations.md").read_text(), re.DOTALL | re.MULTILINE
    )
    told = re.findall(r"`(…?\w+)`", "".join(row.split("|")[1] for row in section.splitlines() if row.startswith("| `")))
    endings = tuple(name.removeprefix("…") for name in told if name.startswith("…"))
    alarms = {
        name.removeprefix("Alarms").removeprefix("Forgetting") for name in stack.of_type("AWS::CloudWatch::Alarm")
    }
    assert {name for name in alarms if name not in told and not name.endswith(endings)} == set()
    assert {name for name in told if not name.startswith("…")} <= alarms


def test_every_alarm_speaks_on_the_topic_and_is_silent_without_data(stack):
    for alarm in stack.of_type("AWS::CloudWatch::Alarm").values():
        assert [stack.text(action) for action in alarm["AlarmActions"]] == ["AlarmsTopic"]
        assert alarm["TreatMissingData"] == "notBreaching"
        assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"


def test_nobody_publishes_to_the_topic_over_plain_http(stack):
    [statement] = stack.only("AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    assert statement["Effect"] == "Deny"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
