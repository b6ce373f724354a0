from __future__ import annotations

import json

import pytest

from slate.domain.pushed import SOURCE
from slate.service.webhooks.delivering import Try
from slate.settings import Settings
from slate_infra.app import wants_agent
from slate_infra.bundling import AGENT_BUNDLE


@pytest.fixture(scope="module")
def with_agent(synthesize):
    return synthesize({"SLATE_EXAMPLE_AGENT": "true"})


def rules(stack):
    return stack.of_type("AWS::Events::Rule")


def test_every_event_on_the_bus_goes_to_the_webhooks_queue_and_what_does_not_arrive_is_kept(stack):
    [rule] = rules(stack).values()
    assert stack.text(rule["EventBusName"]) == "PushBus"
    assert rule["EventPattern"] == {"source": [SOURCE]}
    [target] = rule["Targets"]
    assert stack.text(target["Arn"]) == "PushWebhooks.Arn"
    assert stack.text(target["DeadLetterConfig"]["Arn"]) == "PushWebhookDeadLetters.Arn"


def test_the_queue_gives_up_after_five_receives_and_shows_nothing_that_is_still_worked_on(stack):
    queue = stack.of_type("AWS::SQS::Queue")["PushWebhooks"]
    assert stack.text(queue["RedrivePolicy"]["deadLetterTargetArn"]) == "PushWebhookDeadLetters.Arn"
    assert queue["RedrivePolicy"]["maxReceiveCount"] == 5
    timeout = stack.of_type("AWS::Lambda::Function")["FunctionsWebhooksFunction"]["Timeout"]
    assert queue["VisibilityTimeout"] == 6 * timeout
    assert timeout >= Settings().webhook_timeout_seconds + 10


def test_batches_start_the_consumer_and_only_what_failed_comes_again(stack):
    [mapping] = [
        mapping
        for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values()
        if stack.text(mapping["EventSourceArn"]) == "PushWebhooks.Arn"
    ]
    assert stack.text(mapping["FunctionName"]) == "FunctionsWebhooksFunction"
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == 10
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 20}


def test_only_the_bus_may_send_to_the_queue_from_outside_and_only_over_tls(stack):
    [policy] = [
        policy["PolicyDocument"]["Statement"]
        for policy in stack.of_type("AWS::SQS::QueuePolicy").values()
        if [stack.text(queue) for queue in policy["Queues"]] == ["PushWebhooks"]
    ]
    denied, allowed = policy
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert allowed["Principal"] == {"Service": "events.amazonaws.com"}
    assert stack.text(allowed["Condition"]["ArnEquals"]["aws:SourceArn"]) == "PushToWebhooks.Arn"


def test_functions_are_told_where_bus_and_queue_are(stack):
    variables = stack.of_type("AWS::Lambda::Function")["FunctionsWebhooksFunction"]["Environment"]["Variables"]
    settings = Settings.from_env({key: stack.text(value) for key, value in variables.items()})
    assert (settings.event_bus, settings.webhooks_queue) == ("PushBus", "PushWebhooks")


def test_no_setting_lets_webhooks_reach_a_functions_own_machine(synthesize):
    stack = synthesize({"SLATE_WEBHOOK_ADDRESSES": "loopback"})
    for function in stack.of_type("AWS::Lambda::Function").values():
        assert function["Environment"]["Variables"]["SLATE_WEBHOOK_ADDRESSES"] == "public"


def test_a_message_of_ours_fits_a_queue():
    longest = Try(tenant="t" * 63, webhook_id="w" * 128, delivery_id="d" * 128, event_at=10**13, attempt=8)
    assert len(longest.model_dump_json()) < 1_024


def test_the_agent_is_there_only_when_it_is_asked_for(stack, with_agent):
    assert not any(name.startswith("Agent") for name in stack.resources)
    assert "AgentFunction" in with_agent.of_type("AWS::Lambda::Function")
    assert wants_agent({"CDK_CONTEXT_JSON": json.dumps({"example_agent": "true"})})
    assert not wants_agent({"CDK_CONTEXT_JSON": "{}"})
    assert not wants_agent({"CDK_CONTEXT_JSON": json.dumps({"example_agent": "false"})})


def test_a_rule_starts_the_agent_for_tasks_of_its_role_and_keeps_what_it_could_not_take(with_agent):
    rule = rules(with_agent)["AgentReady"]
    assert rule["EventPattern"] == {
        "source": [SOURCE],
        "detail-type": ["task.ready"],
        "detail": {"role": ["example"], "schema_version": [1]},
    }
    [target] = rule["Targets"]
    assert with_agent.text(target["Arn"]) == "AgentFunction.Arn"
    assert with_agent.text(target["DeadLetterConfig"]["Arn"]) == "AgentDeadLetters.Arn"
    config = with_agent.of_type("AWS::Lambda::EventInvokeConfig")["AgentFunctionEventInvokeConfig"]
    assert with_agent.text(config["DestinationConfig"]["OnFailure"]["Destination"]) == "AgentDeadLetters.Arn"


def test_the_agent_may_read_its_key_and_opens_nothing_of_slates_storage(with_agent):
    allowed = {(actions, resource) for actions, resource, _ in with_agent.statements("AgentRole")}
    assert allowed == {
        ("logs:CreateLogStream logs:PutLogEvents", "AgentLog.Arn"),
        ("secretsmanager:GetSecretValue", "AgentKey"),
        ("sqs:GetQueueAttributes sqs:GetQueueUrl sqs:SendMessage", "AgentDeadLetters.Arn"),
        ("xray:PutTelemetryRecords xray:PutTraceSegments", "*"),
    }
    variables = with_agent.of_type("AWS::Lambda::Function")["AgentFunction"]["Environment"]["Variables"]
    assert set(variables) == {"AGENT_SLATE_URL", "AGENT_KEY_SECRET"}


def test_the_agents_findings_are_accepted_with_reasons(with_agent):
    [report] = json.loads((with_agent.outdir / "validation-report.json").read_text())["pluginReports"]
    assert report["violations"] == []


def test_the_agents_bundle_is_its_handler_and_what_a_caller_needs():
    places = {place.as_posix() for _, place in AGENT_BUNDLE.sources()}
    assert {"agent/handler.py", "slate/client/client.py", "slate/domain/tasks.py"} <= places
    assert not any(place.startswith(("slate/adapters", "slate/service", "slate/wiring")) for place in places)
