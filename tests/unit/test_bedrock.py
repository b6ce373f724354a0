"""What is sent to Bedrock is what Bedrock takes, by its own model of the API; what it answers is read, or refused."""

import boto3
import pytest
from botocore.exceptions import ReadTimeoutError
from botocore.stub import ANY, Stubber

from slate.adapters.bedrock.language_model import BedrockLanguageModel
from slate.domain.errors import Unavailable
from slate.domain.summary_schema import DEFAULT_SCHEMA
from slate.ports.language_model import Asked, ModelRefused
from slate.service.asking import ask

ASKED = Asked(job="summary", instructions="Be brief.", text='{"role": "user"}', form=DEFAULT_SCHEMA)
GOOD = {"intent": "x", "entities": {}, "confirmed": [], "outstanding": [], "decisions": [], "sentiment": "neutral"}
USAGE = {"inputTokens": 120, "outputTokens": 30, "totalTokens": 150}


def answered(*content, stop="tool_use"):
    return {
        "output": {"message": {"role": "assistant", "content": list(content)}},
        "stopReason": stop,
        "usage": USAGE,
        "metrics": {"latencyMs": 5},
    }


def called(value):
    return answered({"text": "Here:"}, {"toolUse": {"toolUseId": "t1", "name": "answer", "input": value}})


@pytest.fixture
def bedrock():
    client = boto3.client(
        "bedrock-runtime", region_name="eu-central-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as stub:
        stub.model = BedrockLanguageModel(lambda: client, {"summary": "small-1"})
        yield stub
        stub.assert_no_pending_responses()


def test_the_request_asks_the_jobs_model_to_call_the_tool_with_the_form(bedrock):
    expected = {
        "modelId": "small-1",
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": '{"role": "user"}'}]}],
        "inferenceConfig": {"maxTokens": 1000, "temperature": 0.0},
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "answer", "description": ANY, "inputSchema": {"json": DEFAULT_SCHEMA}}}],
            "toolChoice": {"tool": {"name": "answer"}},
        },
    }
    bedrock.add_response("converse", called(GOOD), expected)
    answer = bedrock.model.answer(ASKED)
    assert (answer.value, answer.model, answer.input_tokens, answer.output_tokens) == (GOOD, "small-1", 120, 30)


def test_an_answer_in_prose_or_cut_off_is_asked_for_again_with_what_was_wrong(bedrock):
    bedrock.add_response("converse", answered({"text": "I would say..."}, stop="max_tokens"))
    bedrock.add_response("converse", called(GOOD))
    outcome = ask(bedrock.model, ASKED)
    assert outcome.value == GOOD
    assert outcome.usage.model_dump() == {"calls": 2, "input_tokens": 240, "output_tokens": 60}


def test_after_two_answers_against_the_form_nothing_is_answered(bedrock, caplog):
    for _ in range(2):
        bedrock.add_response("converse", called({**GOOD, "sentiment": "secret words"}))
    outcome = ask(bedrock.model, ASKED)
    assert (outcome.value, outcome.model, outcome.usage.calls) == (None, None, 2)
    assert "falls back to rules" in caplog.text
    assert "secret words" not in caplog.text


@pytest.mark.parametrize("code", ["ThrottlingException", "ModelTimeoutException", "ServiceUnavailableException"])
def test_a_busy_model_is_unavailable(bedrock, code):
    bedrock.add_client_error("converse", code)
    with pytest.raises(Unavailable):
        bedrock.model.answer(ASKED)


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException", "ResourceNotFoundException"])
def test_a_model_that_cannot_be_asked_refuses(bedrock, code):
    bedrock.add_client_error("converse", code)
    with pytest.raises(ModelRefused, match=code):
        bedrock.model.answer(ASKED)


@pytest.mark.parametrize("error", [ReadTimeoutError(endpoint_url="x"), None])
def test_a_model_that_is_away_leaves_it_to_the_rules(error, caplog):
    class Away:
        def converse(self, **_):
            raise error if error is not None else ReadTimeoutError(endpoint_url="y")

    outcome = ask(BedrockLanguageModel(Away, {"summary": "small-1"}), ASKED)
    assert outcome.value is None
    assert "falls back to rules" in caplog.text
