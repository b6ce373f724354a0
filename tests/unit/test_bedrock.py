"""Bedrock over its wire: what is sent is what its model of the API takes; what comes back is read, or refused."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from botocore.config import Config

from bedrock_stub import bedrock, called, conversed, cut_off, embedded, failing, raw, silent
from slate.adapters.bedrock.embedder import MAX_CHARACTERS, BedrockEmbedder
from slate.adapters.bedrock.language_model import BedrockLanguageModel
from slate.domain.errors import Internal, Unavailable
from slate.domain.extracting.prompt import FORM
from slate.domain.summary_schema import DEFAULT_SCHEMA
from slate.ports.language_model import Asked, ModelRefused
from slate.service.asking import ask
from slate.settings import Settings
from slate.wiring.choices import language_model

ASKED = Asked(job="summary", instructions="Be brief.", text='{"role": "user"}', form=DEFAULT_SCHEMA)
GOOD = {"intent": "x", "entities": {}, "confirmed": [], "outstanding": [], "decisions": [], "sentiment": "neutral"}
PROFILE = "eu.amazon.nova-micro-v1:0"
TITAN = "amazon.titan-embed-text-v2:0"
SECRET = "what Ann said"
BUSY = [
    (429, "ThrottlingException"),
    (429, "ModelNotReadyException"),
    (408, "ModelTimeoutException"),
    (424, "ModelErrorException"),
    (500, "InternalServerException"),
    (503, "ServiceUnavailableException"),
]
REFUSED = [(403, "AccessDeniedException"), (400, "ValidationException"), (404, "ResourceNotFoundException")]


@pytest.fixture
def server():
    with bedrock() as server:
        yield server


def client(server, *, read_timeout=5.0, attempts=1):
    return boto3.client(
        "bedrock-runtime",
        region_name="eu-central-1",
        endpoint_url=server.url,
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(read_timeout=read_timeout, retries={"mode": "standard", "total_max_attempts": attempts}),
    )


@pytest.fixture
def model(server):
    made = client(server)
    return BedrockLanguageModel(lambda: made, {"summary": PROFILE, "extraction": PROFILE})


@pytest.fixture
def embedder(server):
    made = client(server)
    with ThreadPoolExecutor(4) as executor:
        yield BedrockEmbedder(lambda: made, TITAN, 256, executor)


# --- Converse


def test_the_request_asks_the_jobs_model_to_call_the_tool_with_the_form(server, model):
    server.will(conversed({"text": "Here:"}, called(GOOD)))
    answer = model.answer(ASKED)
    assert (answer.value, answer.model, answer.input_tokens, answer.output_tokens) == (GOOD, PROFILE, 120, 30)
    [sent] = server.sent
    assert (sent.model, sent.operation) == (PROFILE, "converse")
    tool = {"name": "answer", "description": sent.body["toolConfig"]["tools"][0]["toolSpec"]["description"]}
    assert sent.body == {
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": '{"role": "user"}'}]}],
        "inferenceConfig": {"maxTokens": 1000, "temperature": 0.0},
        "toolConfig": {
            "tools": [{"toolSpec": {**tool, "inputSchema": {"json": DEFAULT_SCHEMA}}}],
            "toolChoice": {"tool": {"name": "answer"}},
        },
    }


def test_what_is_asked_of_facts_is_taken_by_bedrock_too(server, model):
    server.will(conversed(called({"facts": []})))
    assert model.answer(Asked("extraction", "Find facts.", "é\u2028\x00", FORM)).value == {"facts": []}
    assert server.sent[0].body["messages"][0]["content"][0]["text"] == "é\u2028\x00"


def test_the_stub_takes_nothing_that_bedrock_forbids(server):
    request = {"modelId": PROFILE, "messages": [{"role": "user", "content": [{"text": "x"}]}]}
    server.will(conversed(called(GOOD)))
    for wrong in (
        {"toolConfig": {"tools": []}},
        {"toolConfig": {"tools": [{"toolSpec": {"name": "a b", "inputSchema": {"json": {}}}}]}},
    ):
        with pytest.raises(Exception, match=r"ValidationException|Invalid length"):
            client(server).converse(**request, **wrong)


@pytest.mark.parametrize(
    "content",
    [
        [],
        [{"text": "I would say it is fine."}],
        [{"text": "I cannot help with that."}],
        [called(GOOD, name="another_tool")],
        [called("{}")],
        [called([])],
        [called({"intent": "x"})],
        [called({**GOOD, "sentiment": 7})],
    ],
)
def test_what_is_no_sound_call_of_the_tool_is_asked_for_again_with_what_was_wrong(server, model, content):
    server.will(
        conversed(*content, stop="end_turn" if not content or "text" in content[0] else "tool_use"),
        conversed(called(GOOD)),
    )
    outcome = ask(model, ASKED)
    assert outcome.value == GOOD
    assert outcome.usage.model_dump() == {"calls": 2, "input_tokens": 240, "output_tokens": 60}
    again = server.sent[1].body["messages"][0]["content"][0]["text"]
    assert again.startswith(ASKED.text)
    assert "Answer again." in again


@pytest.mark.parametrize("content", [[called(GOOD)], [called({"intent": "x"})], [{"text": "It is"}], []])
def test_what_was_cut_off_is_not_taken_however_sound_it_looks(server, model, content):
    server.will(conversed(*content, stop="max_tokens"), conversed(called({**GOOD, "intent": "short"})))
    outcome = ask(model, ASKED)
    assert outcome.value == {**GOOD, "intent": "short"}
    assert "cut off after 1000 tokens; be briefer" in server.sent[1].body["messages"][0]["content"][0]["text"]


@pytest.mark.parametrize("stop", ["malformed_tool_use", "malformed_model_output"])
def test_a_call_that_bedrock_itself_could_not_read_is_asked_for_again(server, model, stop):
    server.will(conversed(stop=stop), conversed(called(GOOD)))
    assert ask(model, ASKED).value == GOOD
    assert "sound JSON" in server.sent[1].body["messages"][0]["content"][0]["text"]


@pytest.mark.parametrize("stop", ["content_filtered", "guardrail_intervened", "model_context_window_exceeded"])
def test_what_is_held_back_is_not_asked_for_again_and_its_tokens_count(server, model, stop, caplog):
    server.will(conversed({"text": SECRET}, called(GOOD), stop=stop, tokens=(90, 7)))
    outcome = ask(model, ASKED)
    assert (outcome.value, len(server.sent)) == (None, 1)
    assert outcome.usage.model_dump() == {"calls": 1, "input_tokens": 90, "output_tokens": 7}
    assert stop in caplog.text
    assert SECRET not in caplog.text


def test_after_two_answers_against_the_form_nothing_is_answered(server, model, caplog):
    server.will(conversed(called({**GOOD, "sentiment": SECRET})))
    outcome = ask(model, ASKED)
    assert (outcome.value, outcome.model, outcome.usage.calls, len(server.sent)) == (None, None, 2, 2)
    assert "falls back to rules" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize(("status", "code"), BUSY)
def test_a_busy_model_is_unavailable(server, model, status, code):
    server.will(failing(status, code, SECRET))
    with pytest.raises(Unavailable) as caught:
        model.answer(ASKED)
    assert SECRET not in caught.value.detail


@pytest.mark.parametrize(("status", "code"), REFUSED)
def test_a_model_that_cannot_be_asked_refuses(server, model, status, code):
    server.will(failing(status, code, SECRET))
    with pytest.raises(ModelRefused, match=code) as caught:
        model.answer(ASKED)
    assert SECRET not in str(caught.value)


GARBAGE = [
    raw(b"<html>Bad Gateway</html>", 502, **{"Content-Type": "text/html"}),
    raw(b"", 500),
    raw(b"", 504),
    raw(b'{"output": {"mess', 200),
    raw(b"<html>log in</html>", 200, **{"Content-Type": "text/html"}),
    cut_off,
    silent,
]


@pytest.mark.parametrize("answer", GARBAGE)
def test_whoever_answers_in_bedrocks_place_or_not_at_all_is_no_verdict(server, answer):
    server.will(answer)
    made = client(server, read_timeout=0.3)
    model = BedrockLanguageModel(lambda: made, {"summary": PROFILE})
    with pytest.raises(Unavailable):
        model.answer(ASKED)


def test_nobody_there_is_unavailable():
    with bedrock() as gone:
        made = client(gone)
    with pytest.raises(Unavailable):
        BedrockLanguageModel(lambda: made, {"summary": PROFILE}).answer(ASKED)


def test_as_it_is_deployed_a_throttled_call_is_sent_once_more(server, monkeypatch):
    for name, value in {
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.url,
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
    }.items():
        monkeypatch.setenv(name, value)
    model = language_model(Settings(), boto3.Session(region_name="eu-central-1"))
    server.will(failing(429, "ThrottlingException"), conversed(called(GOOD)))
    assert ask(model, ASKED).value == GOOD
    assert [sent.body for sent in server.sent] == [server.sent[0].body] * 2
    server.sent.clear()
    server.will(failing(429, "ThrottlingException"))
    assert ask(model, ASKED).value is None
    assert len(server.sent) == 2


# --- InvokeModel


def test_each_text_is_asked_for_as_titan_takes_it(server, embedder):
    server.will(embedded(256))
    one, nothing, other = embedder.embed(["a", " ", "abc"])
    assert nothing == (0.0,) * 256
    assert one != other
    assert sum(v * v for v in other) == pytest.approx(1)
    assert {sent.model for sent in server.sent} == {TITAN}
    asked = sorted((sent.body for sent in server.sent), key=lambda body: body["inputText"])
    assert asked == [{"inputText": text, "dimensions": 256, "normalize": True} for text in ("a", "abc")]


@pytest.mark.parametrize(
    ("length", "limit", "tried"),
    [
        (50_000, 50_000, [MAX_CHARACTERS]),
        (9_000, 8_192, [9_000, 4_500]),
        (40_000, 8_192, [MAX_CHARACTERS, 15_000, 7_500]),
    ],
)
def test_a_text_of_more_tokens_than_titan_takes_is_cut(server, embedder, length, limit, tried):
    server.will(embedded(256, limit=limit))
    [vector] = embedder.embed(["語" * length])
    assert [len(sent.body["inputText"]) for sent in server.sent] == tried
    assert len(vector) == 256


def test_a_text_that_is_refused_however_it_is_cut_is_a_fault(server, embedder):
    server.will(embedded(256, limit=1))
    with pytest.raises(Internal, match="too long"):
        embedder.embed(["語" * MAX_CHARACTERS])
    assert len(server.sent) <= 6


@pytest.mark.parametrize(("status", "code"), [*BUSY, (400, "ServiceQuotaExceededException")])
def test_a_busy_embedder_is_unavailable(server, embedder, status, code):
    server.will(failing(status, code))
    with pytest.raises(Unavailable):
        embedder.embed(["a"])


@pytest.mark.parametrize(("status", "code"), REFUSED)
def test_an_embedder_that_cannot_be_asked_is_a_fault(server, embedder, status, code):
    server.will(failing(status, code, SECRET))
    with pytest.raises(Internal, match=code) as caught:
        embedder.embed(["a"])
    assert SECRET not in caught.value.detail


@pytest.mark.parametrize("answer", [*GARBAGE, raw(b"{}"), raw(b"[]"), raw(b'{"embedding": null}')])
def test_whoever_answers_in_titans_place_is_no_verdict(server, answer):
    server.will(answer)
    made = client(server, read_timeout=0.3)
    with ThreadPoolExecutor(1) as executor, pytest.raises(Unavailable):
        BedrockEmbedder(lambda: made, TITAN, 256, executor).embed(["a"])


@pytest.mark.parametrize(
    "values", [[1.0] * 255, [], ["x"] * 256, [float("nan")] * 256, [float("inf")] * 256, [None] * 256]
)
def test_what_is_no_vector_of_the_dimension_is_a_fault(server, embedder, values):
    server.will(raw(json.dumps({"embedding": values}).encode()))
    with pytest.raises(Internal, match="vector"):
        embedder.embed(["a"])
