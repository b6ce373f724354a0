"""Segments end, are digested and merged, through the routes and the queue; late, duplicate and stale work is dropped."""

import itertools
import json

import pytest

from slate.domain.segments import MAX_TURNS
from slate.domain.surviving import missing
from slate.ports.language_model import Answered, ModelRefused
from slate.service.summaries import FORGOTTEN_AFTER_SECONDS
from slate.wiring.parts import MEMORY
from slate_app import Api

BUDGET = "The budget is $4,200, must be spent by March 15, except the printer line item which is excluded."
RED = "I liked the red one you showed earlier."
_numbers = itertools.count()


@pytest.fixture
def api(service):
    return Api(service, service.keys["acme"])


@pytest.fixture
def session(api):
    name = f"s-{next(_numbers)}"
    api.post("/v1/sessions", {"session_id": name, "subject": f"u-{name}"}, expect=201)
    return f"/v1/sessions/{name}"


def say(api, session, *said):
    turns = [{"role": role, "content": content, **(more[0] if more else {})} for role, content, *more in said]
    return api.post(f"{session}/turns", {"turns": turns})["turns"]


def chatter(count, topic="the weather"):
    for n in range(count):
        yield "user", f"Tell me more about {topic}, part {n}."
        yield "assistant", f"Here is part {n} about {topic}. " + "It goes on. " * 10


def work_off(api):
    while api.service.local.queues.run_once():
        pass


def summaries(api, session):
    work_off(api)
    return api.get(f"{session}/summaries")["items"]


def merged(api, session):
    return api.get(session)["summary"]


def message(session, **more):
    return {"tenant": "acme", "session_id": session.rpartition("/")[2], **more}


def test_what_may_not_be_lost_reaches_the_merged_digest(api, session):
    say(api, session, ("user", "Hi, let us plan purchases."), ("user", BUDGET), ("user", RED), *chatter(40))
    made = summaries(api, session)
    assert [s["first_seq"] for s in made] == [1, *(s["last_seq"] + 1 for s in made[:-1])], "no turn falls between"
    text = json.dumps(merged(api, session), ensure_ascii=False)
    assert BUDGET in text
    assert RED in text
    assert merged(api, session)["last_seq"] == made[-1]["last_seq"]
    assert all(s["made_by"] == "rules-1 schema 1" and s["tokens"] <= 256 for s in made)


def test_turns_said_bit_by_bit_end_segments_where_a_batch_does(api, session):
    said = [
        *chatter(17),
        *chatter(4, "the database index and its slow queries"),
        *chatter(3, "train tickets to Vienna"),
    ]
    say(api, session, *said)
    at_once = [(s["first_seq"], s["last_seq"]) for s in summaries(api, session)]
    other = session + "-slow"
    api.post("/v1/sessions", {"session_id": other.rpartition("/")[2]}, expect=201)
    for place in range(0, len(said), 3):
        say(api, other, *said[place : place + 3])
        work_off(api)
    assert [(s["first_seq"], s["last_seq"]) for s in summaries(api, other)] == at_once
    assert at_once == [(1, 30), (31, 34), (35, 42)]


def test_no_turn_is_older_than_a_context_reads_and_in_no_digest(api, session):
    tools = [("assistant", "Looking.", {"tool_calls": [{"id": "c", "name": "f", "arguments": {}}]}), ("tool", "Row 7.")]
    say(api, session, ("user", "Do it."), *itertools.chain.from_iterable(itertools.repeat(tools, 45)))
    summaries(api, session)
    assert 91 - merged(api, session)["last_seq"] <= MAX_TURNS


def test_a_decision_ends_a_segment(api, session):
    say(api, session, ("user", "I need a laptop."), ("assistant", "I suggest the X1 for $900. Shall I order it?"))
    assert summaries(api, session) == []
    say(api, session, ("user", "Yes, go ahead."), ("assistant", "Ordered."))
    (made,) = summaries(api, session)
    assert made["last_seq"] == 4
    assert "X1 for $900" in json.dumps(made["fields"] | {"kept": made["kept"]})


def test_deleting_a_turn_takes_it_out_of_every_digest(api, session):
    say(api, session, ("user", "My budget is $4,200."), ("user", BUDGET), *chatter(20))
    assert BUDGET in json.dumps(summaries(api, session))
    assert api.ask("DELETE", f"{session}/turns/2").status == 204
    assert BUDGET not in json.dumps([api.get(f"{session}/summaries"), merged(api, session)]), "withdrawn at once"
    again = summaries(api, session)
    assert BUDGET not in json.dumps([again, merged(api, session)])
    assert again[0]["version"] > 1
    assert "My budget is $4,200." in json.dumps([again, merged(api, session)])
    assert merged(api, session)["last_seq"] == again[-1]["last_seq"]


def test_a_turn_marked_down_later_leaves_the_digest_that_it_was_in(api, session):
    say(api, session, ("user", "My code word is 77 apples."), *chatter(16))
    assert "77" in json.dumps(summaries(api, session))
    assert api.ask("PATCH", f"{session}/turns/1", {"importance": 2}).status == 200
    (made, *_) = summaries(api, session)
    assert made["left_out"] == [1]
    assert "77" not in json.dumps([made, merged(api, session)])


def test_turns_of_little_importance_are_left_out_and_listed(api, session):
    say(
        api,
        session,
        ("user", "The code word is 77 apples.", {"importance": 3}),
        ("user", "I need a desk."),
        *chatter(16),
    )
    (made, *_) = summaries(api, session)
    assert made["left_out"] == [1]
    assert "77" not in json.dumps(made["fields"]) + json.dumps(made["kept"])


def test_a_closed_session_is_digested_to_its_end(api, session):
    say(api, session, ("user", BUDGET), ("assistant", "Noted."))
    assert summaries(api, session) == []
    api.post(f"{session}/close", expect=202)
    assert [(s["first_seq"], s["last_seq"]) for s in summaries(api, session)] == [(1, 2)]
    say(api, session, ("user", "One more thing, order 12 chairs."))
    assert merged(api, session)["last_seq"] == 2


def test_a_message_that_comes_twice_changes_nothing(api, session):
    say(api, session, ("user", BUDGET), *chatter(16))
    made = summaries(api, session)
    before = api.get(session)["summary"]
    for again in (message(session, kind="summary", last_seq=made[0]["last_seq"]), message(session, kind="segments")):
        api.service.local.queues(MEMORY).send(again)
    assert summaries(api, session) == made
    assert api.get(session)["summary"] == before


def test_what_was_forgotten_by_a_crash_is_found_by_the_next_look(api, session):
    say(api, session, ("user", BUDGET), *chatter(16))
    queue = api.service.slate.memory.summaries
    lost = Swallowing(queue._queue)
    queue._queue = lost
    try:
        work_off(api)  # segments end, and nothing is told of it
    finally:
        queue._queue = lost.inner
    assert summaries(api, session) == []
    say(api, session, ("user", "And what about tomorrow?"), ("assistant", "Rain."))
    assert summaries(api, session) == [], "who works on it may not have ended"
    api.service.local.clock.advance(FORGOTTEN_AFTER_SECONDS)
    assert BUDGET in json.dumps(summaries(api, session))


class Swallowing:
    def __init__(self, inner):
        self.inner = inner

    def send(self, message, *, delay_seconds=0):
        pass


def test_a_segment_asks_its_model_once_however_often_it_is_looked_at(api, session, model):
    asked = model(*[GOOD] * 3).asked
    say(api, session, ("user", BUDGET), *chatter(16))
    for n in range(4):
        say(api, session, *chatter(1, f"rain and wind of day {n}"))
        api.service.local.queues.run_once()
    work_off(api)
    api.service.local.clock.advance(FORGOTTEN_AFTER_SECONDS)
    made = summaries(api, session)
    assert len(made) == len(asked)


def test_messages_for_what_is_not_there_are_dropped(api, session):
    for gone in (
        message(session, kind="summary", last_seq=5),
        message("/nowhere", kind="segments"),
        message("/nowhere", kind="summary", last_seq=5),
    ):
        api.service.local.queues(MEMORY).send(gone)
    work_off(api)
    assert api.service.local.queues.waiting(MEMORY) == []
    assert api.service.local.queues.dead_letters(MEMORY) == []


def test_a_digest_that_comes_after_its_session_went_is_dropped(api, session):
    say(api, session, ("user", BUDGET), *chatter(16))
    assert api.ask("DELETE", session).status == 202
    work_off(api)
    assert api.ask("GET", f"{session}/summaries").status == 404


class Scripted:
    """A model that answers in turn."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def answer(self, asked):
        self.asked.append(asked)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            answer = answer()
        return Answered(answer, "small-1", 100, 20)


GOOD = {
    "intent": "Plan purchases.",
    "entities": {},
    "confirmed": [],
    "outstanding": [],
    "decisions": [],
    "sentiment": "neutral",
}


@pytest.fixture
def model(api):
    """Puts a model in place of the rules."""
    watching = api.service.slate.memory.summaries

    def use(*answers):
        watching._model = Scripted(*answers)
        return watching._model

    yield use
    watching._model = None


def test_what_a_model_leaves_out_is_kept_and_its_calls_are_counted(api, session, model):
    asked = model(GOOD).asked
    say(api, session, ("user", BUDGET), ("assistant", "Shall I note it?"), ("user", "Yes."), ("assistant", "Noted."))
    (made,) = summaries(api, session)
    assert made["fields"] == GOOD
    assert made["made_by"] == "small-1 schema 1"
    assert BUDGET in made["kept"]
    assert BUDGET in asked[0].text
    assert api.get(session)["model_usage"] == {"calls": 1, "input_tokens": 100, "output_tokens": 20}


def test_an_answer_against_the_schema_is_asked_for_once_more_then_rules_do_it(api, session, model, caplog):
    scripted = model({**GOOD, "intent": 5}, {**GOOD, "sentiment": "furious"})
    say(api, session, ("user", BUDGET), ("assistant", "Shall I note it?"), ("user", "Yes."), ("assistant", "Noted."))
    (made,) = summaries(api, session)
    assert made["made_by"] == "rules-1 schema 1"
    assert "the answer.intent must be of type string" in scripted.asked[1].correction
    assert api.get(session)["model_usage"]["calls"] == 2
    assert "falls back to rules" in caplog.text
    assert "4,200" not in caplog.text


def test_a_model_that_refuses_stops_nothing(api, session, model):
    model(ModelRefused("no access"))
    say(api, session, ("user", BUDGET), ("assistant", "Shall I note it?"), ("user", "Yes."), ("assistant", "Noted."))
    assert summaries(api, session)[0]["made_by"] == "rules-1 schema 1"
    assert api.get(session)["model_usage"]["calls"] == 0


def test_a_digest_of_turns_of_which_one_was_deleted_meanwhile_is_dropped(api, session, model):
    def delete_meanwhile():
        assert api.ask("DELETE", f"{session}/turns/1").status == 204
        return {**GOOD, "confirmed": [BUDGET]}

    scripted = model(delete_meanwhile, GOOD)
    say(api, session, ("user", BUDGET), ("assistant", "Shall I note it?"), ("user", "Yes."), ("assistant", "Noted."))
    made = summaries(api, session)
    assert len(scripted.asked) == 2
    assert BUDGET not in json.dumps([made, merged(api, session)])
    assert made[0]["version"] == 2


def test_a_tenants_own_schema_is_asked_for(api, session, model):
    schema = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
    version = api.get("/v1/tenant")["version"]
    assert api.ask("PUT", "/v1/tenant", {"summary_schema": schema}, headers={"If-Match": f'"{version}"'}).status == 200
    try:
        asked = model({"order": "12 chairs"}).asked
        say(api, session, ("user", "Hi."), ("assistant", "Shall I order?"), ("user", "Yes."), ("assistant", "Done."))
        (made,) = summaries(api, session)
        assert made["fields"] == {"order": "12 chairs"}
        assert asked[0].form == schema
        assert made["made_by"].endswith(f"schema {api.get('/v1/tenant')['summary_schema_version']}")
    finally:
        api.ask("PUT", "/v1/tenant", {})


def test_every_digest_of_generated_numbers_says_them_all(api, session):
    said = [("user", f"Order {n * 37} costs ${n * 11}.99, except on March {n}.") for n in range(1, 20)]
    say(api, session, *said)
    api.post(f"{session}/close", expect=202)
    made = summaries(api, session)
    text = "\n".join(line for s in made for line in [*s["kept"], *map(str, s["fields"].get("confirmed", []))])
    assert missing(text, [content for _, content in said]) == []


def test_summaries_of_another_tenant_are_not_found(service, session):
    assert Api(service, service.keys["globex"]).ask("GET", f"{session}/summaries").status == 404
