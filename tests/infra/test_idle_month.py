"""What docs/costs.md multiplies for a month in which nobody calls is what the stack has."""

from __future__ import annotations

from benchmarks.prices import MASTER_NODE, SMALL_NODE, Stack
from slate.contract.tasks import MAX_WAIT_SECONDS
from slate.settings import Settings


def test_the_sweeper_is_as_large_as_the_idle_month_says_and_runs_each_minute(stack):
    function = stack.of_type("AWS::Lambda::Function")["FunctionsSweeperFunction"]
    assert function["MemorySize"] == Stack().sweeper_gb * 1024
    assert stack.of_type("AWS::Scheduler::Schedule")["SweepScheduleRuns"]["ScheduleExpression"] == "rate(1 minute)"


def test_what_else_the_clock_starts_is_as_large_as_the_idle_month_says_and_runs_as_often(stack):
    schedules = stack.of_type("AWS::Scheduler::Schedule")
    priced = Stack().rounds
    assert set(schedules) == {"SweepScheduleRuns", *(f"{name}ScheduleRuns" for name in priced)}
    for name, each in priced.items():
        schedule = schedules[f"{name}ScheduleRuns"]
        function = stack.of_type("AWS::Lambda::Function")[stack.text(schedule["Target"]["Arn"]).removesuffix(".Arn")]
        assert function["MemorySize"] == each.gb * 1024
        rate = f"{each.minutes} minutes" if each.minutes != 60 else "1 hour"
        assert schedule["ScheduleExpression"] == f"rate({rate})"


def test_a_waiting_worker_is_priced_by_the_function_that_waits_and_the_longest_wait(stack):
    function = stack.of_type("AWS::Lambda::Function")["FunctionsWaitingFunction"]
    assert function["MemorySize"] == Stack().waiting_gb * 1024
    assert Stack().wait_seconds == MAX_WAIT_SECONDS


def test_its_runs_and_polls_are_those_of_the_settings():
    settings = Settings()
    assert (Stack().run_seconds, Stack().poll_seconds) == (settings.sweep_run_seconds, settings.sweep_poll_seconds)


def test_all_that_costs_at_rest_is_counted(stack):
    alarms = stack.of_type("AWS::CloudWatch::Alarm").values()
    watched = [sum("MetricStat" in metric for metric in alarm.get("Metrics", [])) or 1 for alarm in alarms]
    assert sum(watched) == Stack().alarm_metrics
    assert len(stack.of_type("AWS::CloudWatch::Dashboard")) <= 3, "three are free"  # as it says
    assert len(stack.of_type("AWS::KMS::Key")) == Stack().keys


def test_the_domains_are_those_of_the_stages(stack, prod):
    small, large = (s.only("AWS::OpenSearchService::Domain") for s in (stack, prod))
    assert small["ClusterConfig"]["InstanceType"] == SMALL_NODE
    assert small["EBSOptions"]["VolumeSize"] == Stack().small_disk_gb
    cluster = large["ClusterConfig"]
    assert (cluster["InstanceCount"], cluster["InstanceType"]) == (Stack().data_nodes, Stack().data_node)
    assert (cluster["DedicatedMasterCount"], cluster["DedicatedMasterType"]) == (Stack().masters, MASTER_NODE)
    assert large["EBSOptions"]["VolumeSize"] == Stack().data_disk_gb
