from __future__ import annotations


def test_the_schedule_begins_a_run_of_the_sweeper_every_minute(stack):
    schedule = stack.only("AWS::Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert schedule["State"] == "ENABLED"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert stack.text(schedule["Target"]["Arn"]) == "FunctionsSweeperFunction.Arn"
    assert stack.text(schedule["Target"]["RoleArn"]) == "SweepScheduleRole.Arn"


def test_a_run_that_cannot_begin_is_kept_and_raises_an_alarm(stack):
    target = stack.only("AWS::Scheduler::Schedule")["Target"]
    assert stack.text(target["DeadLetterConfig"]["Arn"]) == "SweepScheduleDeadLetters.Arn"
    alarm = stack.of_type("AWS::CloudWatch::Alarm")["AlarmsSweepDeadLettersDepth"]
    [dimension] = alarm["Dimensions"]
    assert stack.text(dimension["Value"]) == "SweepScheduleDeadLetters.QueueName"
    assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"


def test_a_late_run_is_dropped_because_the_next_one_does_its_work(stack):
    config = stack.only("AWS::Lambda::EventInvokeConfig")
    assert stack.text(config["FunctionName"]) == "FunctionsSweeperFunction"
    assert config["MaximumRetryAttempts"] == 0
    assert config["MaximumEventAgeInSeconds"] == 60
    assert stack.only("AWS::Scheduler::Schedule")["Target"]["RetryPolicy"]["MaximumEventAgeInSeconds"] == 60
