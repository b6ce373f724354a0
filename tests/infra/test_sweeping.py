from __future__ import annotations

import pytest

RUNS = {
    "Sweep": ("FunctionsSweeperFunction", "rate(1 minute)", 60),
    "Decay": ("FunctionsDecayFunction", "rate(1 hour)", 3_600),
    "Erase": ("FunctionsEraserFunction", "rate(5 minutes)", 300),
}
each_run = pytest.mark.parametrize("run", RUNS)


def schedule_of(stack, run):
    schedules = stack.of_type("AWS::Scheduler::Schedule")
    assert set(schedules) == {f"{name}ScheduleRuns" for name in RUNS}
    return schedules[f"{run}ScheduleRuns"]


@each_run
def test_the_schedule_begins_a_run_again_and_again(stack, run):
    function, rate, _ = RUNS[run]
    schedule = schedule_of(stack, run)
    assert schedule["ScheduleExpression"] == rate
    assert schedule["State"] == "ENABLED"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert stack.text(schedule["Target"]["Arn"]) == f"{function}.Arn"
    assert stack.text(schedule["Target"]["RoleArn"]) == f"{run}ScheduleRole.Arn"


def test_how_often_a_run_begins_is_a_setting(synthesize):
    stack = synthesize({"SLATE_SWEEP_MINUTES": "2", "SLATE_DECAY_MINUTES": "15", "SLATE_ERASURE_MINUTES": "60"})
    assert schedule_of(stack, "Sweep")["ScheduleExpression"] == "rate(2 minutes)"
    assert schedule_of(stack, "Decay")["ScheduleExpression"] == "rate(15 minutes)"
    assert schedule_of(stack, "Erase")["ScheduleExpression"] == "rate(1 hour)"


@each_run
def test_a_run_that_cannot_begin_is_kept_and_raises_an_alarm(stack, run):
    target = schedule_of(stack, run)["Target"]
    assert stack.text(target["DeadLetterConfig"]["Arn"]) == f"{run}ScheduleDeadLetters.Arn"
    alarm = stack.of_type("AWS::CloudWatch::Alarm")[f"Alarms{run}DeadLettersDepth"]
    [dimension] = alarm["Dimensions"]
    assert stack.text(dimension["Value"]) == f"{run}ScheduleDeadLetters.QueueName"
    assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"


@each_run
def test_a_late_run_is_dropped_because_the_next_one_does_its_work(stack, run):
    function, _, seconds = RUNS[run]
    configs = {stack.text(c["FunctionName"]): c for c in stack.of_type("AWS::Lambda::EventInvokeConfig").values()}
    assert configs[function]["MaximumRetryAttempts"] == 0
    assert configs[function]["MaximumEventAgeInSeconds"] == seconds
    assert schedule_of(stack, run)["Target"]["RetryPolicy"]["MaximumEventAgeInSeconds"] == seconds
