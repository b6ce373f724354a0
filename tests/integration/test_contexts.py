"""Contexts through the real handlers: what an agent sees of a session and of a graph, what it costs, what is kept."""

import json

import pytest

from slate.domain.errors import Forbidden, Invalid, NotFound
from slate.testing.in_process import InProcessSlate

FORMS = ("sections", "text", "openai", "anthropic", "converse")
PINNED = {"goal": "quote a plan", "constraints": ["based in Germany"], "entities": {}, "decisions": [], "plan": []}


@pytest.fixture(scope="module")
def running():
    with InProcessSlate() as slate:
        yield slate


@pytest.fixture(scope="module")
def client(running):
    return running.client("agent")


@pytest.fixture(scope="module")
def http(running):
    return running.http("agent")


@pytest.fixture
def talk(running, http, request):
    return Talk(running, http, f"s-{abs(hash(request.node.nodeid)):x}")


class Talk:
    """One session, and those who speak in it."""

    def __init__(self, running, http, session_id):
        self.running, self.http, self.id = running, http, session_id

    def begin(self, **more):
        answer = self.http.post("/v1/sessions", json={"session_id": self.id, **more})
        assert answer.status_code == 201, answer.text
        return self

    def say(self, *turns):
        said = [turn if isinstance(turn, dict) else {"role": turn[0], "content": turn[1]} for turn in turns]
        for start in range(0, len(said), 100):
            answer = self.http.post(f"/v1/sessions/{self.id}/turns", json={"turns": said[start : start + 100]})
            assert answer.status_code == 200, answer.text
        return self

    def chat(self, exchanges, about="the weather"):
        said = []
        for i in range(exchanges):
            said.append(("user", f"Tell me more about {about}, part {i}."))
            said.append(("assistant", f"Here is part {i} about {about}. " + "It goes on. " * 10))
        self.say(*said)
        self.running.drain()
        return self

    def context(self, **more):
        answer = self.http.post("/v1/context", json={"session": self.id, **more})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def seen(self, **more):
        return seen(self.context(**more))


def seen(context):
    return "\n".join(item["text"] for section in context["sections"] for item in section["items"])


def section(context, name):
    return next((s for s in context["sections"] if s["name"] == name), {"items": [], "tokens": 0})


# ---- what an agent sees of a session


def test_what_was_said_long_ago_is_still_there(talk):
    talk.begin().say(("user", "I'm in Germany, and I need a quote."))
    talk.chat(1).say(("user", "By the way, I'm allergic to peanuts."), ("assistant", "Noted."))
    talk.say({"role": "tool", "content": "def calculate_total(items: List[OrderItem]) -> Decimal"})
    talk.chat(30)
    seen_now = talk.seen(budget={"total": 1_500})
    assert "I'm in Germany, and I need a quote." in seen_now
    assert "allergic to peanuts" in seen_now
    assert "def calculate_total(items: List[OrderItem]) -> Decimal" in seen_now


@pytest.mark.parametrize("at", [9, 10, 11, 15, 16])
def test_a_question_across_the_edge_of_a_digest(talk, at):
    question = f"Which port does the service K-{at} use?"
    talk.begin().chat(at - 1, "services").say(("user", question))
    talk.running.drain()
    assert question in talk.seen(budget={"total": 1_500})
    talk.say(("assistant", "Port 8443."), ("user", "And then?"))
    talk.running.drain()
    seen_now = talk.seen(budget={"total": 1_500})
    assert question in seen_now
    assert "Port 8443." in seen_now


def test_three_topics_in_three_turns_are_all_seen_now_and_later(talk):
    asked = [
        "What is the capital of France?",
        "My printer HP-2200 jams on tray 2.",
        "Book a table for four on Friday at 7pm.",
    ]
    talk.begin()
    for question in asked:
        talk.say(("user", question), ("assistant", "Let me see."))
    talk.running.drain()
    seen_now = talk.seen(budget={"total": 1_000})
    assert all(question in seen_now for question in asked)
    talk.chat(8, "dinner")
    later = talk.seen(budget={"total": 1_500})
    assert all(words in later for words in ("France", "HP-2200", "tray 2", "table for four", "Friday", "7pm"))


def test_the_return_of_a_goldfish(talk):
    talk.begin().chat(20).say(("user", "I'd like to return the fish tank."), ("assistant", "Why is that?"))
    talk.say(("user", "The fish forgot me."), ("assistant", "Oh."), ("user", "So what now?"))
    assert "return the fish tank" in talk.seen(budget={"total": 700})


def test_nothing_falls_between_the_digest_and_the_window(talk):
    talk.begin()
    colours = [
        "amber",
        "beige",
        "coral",
        "denim",
        "ebony",
        "fawn",
        "gold",
        "honey",
        "ivory",
        "jade",
        "khaki",
        "lilac",
        "mauve",
        "navy",
        "olive",
        "pearl",
    ]
    for number, colour in enumerate(colours, start=1):
        talk.say(("user", f"Room {number} gets painted {colour}, at {number * 37} euros."), ("assistant", "Noted."))
        talk.running.drain()
        seen_now = talk.seen(budget={"total": 4_096})
        assert [c for c in colours[:number] if c not in seen_now] == []


def test_one_huge_tool_output_does_not_push_out_the_rest(talk):
    talk.begin(pinned={**PINNED, "constraints": ["never email"]})
    talk.say(("user", "First."), ("user", "I already returned item 99."))
    talk.say({"role": "tool", "content": "row " * 12_000}, ("user", "So, what now?"))
    made = talk.context(budget={"total": 1_200})
    (tool,) = [item for s in made["sections"] for item in s["items"] if item["role"] == "tool"]
    assert "turn 3 is shortened" in tool["text"]
    assert f"GET /v1/sessions/{talk.id}/turns/3" in tool["text"]
    assert made["breakdown"]["tool"] == tool["tokens"]
    assert all(needle in seen(made) for needle in ("never email", "First.", "returned item 99", "So, what now?"))
    assert made["total_tokens"] == sum(made["breakdown"].values()) <= 1_200


def test_a_first_message_too_large_for_one_item_is_whole_or_refused_by_name(talk):
    first = "The contract says this. " * 3_000
    talk.begin().say(("user", first), ("assistant", "I have read it."))
    assert section(talk.context(budget={"total": 40_000}), "first_message")["items"][0]["text"] == first
    refused = talk.http.post("/v1/context", json={"session": talk.id, "budget": {"total": 4_096}})
    assert refused.status_code == 422
    assert "first_message" in refused.text


def test_a_topic_that_jumps_shows_more_of_what_was_said(talk, running, http):
    steady = Talk(running, http, f"{talk.id}-steady").begin().chat(12)
    talk.begin()
    for about in ("ferns", "taxes", "violins", "glaciers", "python code", "soup", "rockets", "chess", "bees", "opera"):
        talk.say(("user", f"Please explain {about} {about} {about} to me"), ("assistant", f"About {about}."))
    users = [
        sum(i["role"] == "user" for i in section(t.context(budget={"total": 900, "recent": 800}), "recent")["items"])
        for t in (steady, talk)
    ]
    assert users[1] >= 7
    assert users[0] >= 3


def test_a_window_that_fills_is_warned_of_by_the_sessions_own_figure(talk):
    talk.begin(window=1_000, system="Always be brief. " * 230).say(("user", "Hello."))
    made = talk.context(budget={"total": 2_000})
    assert made["window_share"] >= 0.6
    assert made["warnings"]
    assert not talk.context(budget={"total": 2_000}, window=100_000)["warnings"]


# ---- forms


@pytest.mark.parametrize("form", FORMS[1:])
def test_two_calls_share_a_byte_identical_prefix(talk, form):
    talk.begin(system="You quote prices.", pinned=PINNED).say(("user", "Hello, I need 25 seats.")).chat(30)
    one = talk.context(format=form)
    talk.say(("assistant", "Here it is."), ("user", "Thank you. And the price?"))
    two = talk.context(format=form)
    assert section(one, "summary")["items"]
    assert one["stable_prefix_tokens"] == two["stable_prefix_tokens"] > 40
    sent = [json.dumps({k: c[k] for k in ("system", "text", "converse", "messages")}) for c in (one, two)]
    last_stable = section(one, "summary")["items"][-1]["text"]
    up_to = sent[0].index(json.dumps(last_stable)[1:-1]) + len(last_stable)
    assert sent[0][:up_to] == sent[1][:up_to]


@pytest.mark.parametrize("form", FORMS)
def test_a_receipt_is_given_again_byte_for_byte(talk, form):
    talk.begin(system="Be brief.", pinned=PINNED).say(("user", "one"), ("assistant", "two"), ("user", "three"))
    given = talk.context(format=form)
    talk.say(("assistant", "four"), ("user", "five"))
    again = talk.http.get(f"/v1/contexts/{given['context_id']}", params={"format": form})
    assert again.json() == given


def test_calls_of_tools_go_to_each_api_in_its_own_words(talk):
    call = {"id": "call 1", "name": "shop.find", "arguments": {"q": "shoes"}}
    talk.begin().say(("user", "Find shoes."), {"role": "assistant", "tool_calls": [call], "content": ""})
    talk.say({"role": "tool", "content": "two pairs", "tool_call_id": "call 1", "name": "shop.find"})
    talk.say(("assistant", "Two pairs."), ("user", "Good."))
    _, asked, found, *_ = talk.context(format="openai")["messages"]
    assert asked["tool_calls"][0]["function"] == {"name": "shop_find", "arguments": '{"q": "shoes"}'}
    assert found == {"role": "tool", "tool_call_id": asked["tool_calls"][0]["id"], "content": "two pairs"}
    _, asked, found, *_ = talk.context(format="anthropic")["messages"]
    assert asked["content"] == [{"type": "tool_use", "id": "call_1", "name": "shop_find", "input": {"q": "shoes"}}]
    assert found["content"][0] == {"type": "tool_result", "tool_use_id": "call_1", "content": "two pairs"}
    _, asked, found, *_ = talk.context(format="converse")["converse"]["messages"]
    assert asked["content"][0]["toolUse"]["input"] == {"q": "shoes"}
    assert found["content"][0]["toolResult"]["content"] == [{"text": "two pairs"}]


# ---- budgets


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        ({"budget": {"total": -5}}, "budget.total"),
        ({"budget": {"total": 0}}, "budget.total"),
        ({"budget": {"total": "many"}}, "budget.total"),
        ({"budget": {"total": 1_000_000_000}}, "budget.total"),
        ({"budget": {"nonsense": 10}}, "budget.nonsense"),
        ({"budget": {"recent": -1}}, "budget.recent"),
        ({"format": "xml"}, "format"),
        ({"window": 0}, "window"),
        ({"query": ""}, "query"),
        ({"task": "t"}, "graph"),
        ({"session": "../x"}, "session"),
    ],
)
def test_a_wrong_request_names_the_field(talk, ask, field):
    talk.begin()
    answer = talk.http.post("/v1/context", json={"session": talk.id, **ask})
    assert answer.status_code == 422
    assert field in [error["field"] for error in answer.json()["errors"]]


def test_a_total_below_what_is_never_dropped_names_what_is_too_large(talk):
    talk.begin(pinned={**PINNED, "goal": "g " * 300}).say(("user", "Hello."))
    answer = talk.http.post("/v1/context", json={"session": talk.id, "budget": {"total": 50}})
    assert answer.status_code == 422
    assert "pinned 3" in answer.text
    own = talk.http.post("/v1/context", json={"session": talk.id, "budget": {"total": 4_096, "pinned": 20}})
    assert own.json()["errors"][0]["field"] == "budget.pinned"


def test_a_section_with_a_budget_of_nothing_is_left_out_and_what_it_had_is_named(talk):
    talk.begin(system="Be brief.").say(("user", "Hello."), ("user", "Never call me before nine.")).chat(20)
    for name in ("summary", "marked", "recent"):
        assert section(talk.context(), name)["items"], "there is something to leave out"
        made = talk.context(budget={"total": 2_000, name: 0})
        assert not section(made, name)["items"]
        assert name not in made["breakdown"]
        assert name in {each["section"] for each in made["dropped"]}
    never = talk.http.post("/v1/context", json={"session": talk.id, "budget": {"system": 0}})
    assert never.json()["errors"][0]["field"] == "budget.system"


def test_what_is_asked_for_must_be_named(http):
    assert http.post("/v1/context", json={}).status_code == 422


# ---- who may see it


def test_an_agent_asks_for_itself_unless_its_key_is_an_admins(talk, running):
    talk.begin().say(("user", "Hello."))
    plain = running.client("reader", scopes=["memory:read"])
    assert plain.contexts.ask(session=talk.id).agent == "reader"
    with pytest.raises(Forbidden):
        plain.contexts.ask(session=talk.id, agent="another")
    assert running.client("boss").contexts.ask(session=talk.id, agent="another").agent == "another"


def test_another_tenants_another_persons_and_another_readers_session_is_not_found(talk, running):
    talk.begin(subject="u-1", readers=["billing", "auditor"]).say(("user", "Hello."))
    billing = running.client("billing", scopes=["memory:read"])
    made = billing.contexts.ask(session=talk.id)
    assert billing.contexts.get(made.context_id).context_id == made.context_id
    assert running.client("x", scopes=["memory:read"], roles=["auditor"]).contexts.ask(session=talk.id)
    admin = running.client("boss")
    assert admin.contexts.ask(session=talk.id)
    others = [
        running.client("billing", tenant="globex"),
        running.client("sales", scopes=["memory:read"]),
        running.client("billing", scopes=["memory:read"], subject="u-2"),
    ]
    for other in others:
        with pytest.raises(NotFound):
            other.contexts.ask(session=talk.id)
        with pytest.raises(NotFound):
            other.contexts.get(made.context_id)
    with pytest.raises(NotFound):
        admin.contexts.ask(session=talk.id, agent="sales")
    assert admin.contexts.ask(session=talk.id, agent="sales", role="auditor").agent == "sales"


def test_a_context_is_about_one_person(talk, client):
    talk.begin(subject="u-1")
    with pytest.raises(Invalid, match="about one person"):
        client.contexts.ask(session=talk.id, subject="u-2")


# ---- receipts


def test_a_receipt_is_sealed_belongs_to_its_person_and_ends_with_its_session(talk, running, client):
    talk.begin(subject="u-7", retention_days=2).say(("user", "A very particular sentence."))
    made = client.contexts.ask(session=talk.id)
    table = running.service.slate.settings.table
    found = running.service.local.dynamodb.query(
        TableName=table,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": f"acme#C#{made.context_id}"}},
    )["Items"]
    (item,) = found
    assert "subject_pk" in item
    assert b"particular" not in str(item).encode()
    assert int(item["ttl"]["N"]) == (made.created_at + 2 * 86_400_000) // 1000
    http_gone = talk.http.delete(f"/v1/sessions/{talk.id}")
    assert http_gone.status_code in (202, 204)
    with pytest.raises(NotFound):
        client.contexts.get(made.context_id)


def test_a_receipt_is_kept_for_its_time(running, client):
    made = client.contexts.ask(subject="u-9")
    assert client.contexts.get(made.context_id).total_tokens == 0
    running.advance(30 * 86_400 + 1)
    with pytest.raises(NotFound):
        client.contexts.get(made.context_id)


def test_a_very_large_context_is_kept_in_parts(talk, client):
    talk.begin(pinned=PINNED)
    lines = [f"{i * 7919 % 104729:x}-{i * 31 % 9973:x}-{i:x}" for i in range(36_000)]
    talk.say({"role": "user", "content": " ".join(lines)})
    made = client.contexts.ask(session=talk.id, budget=400_000)
    assert client.contexts.get(made.context_id).sections == made.sections


# ---- what it costs


def cost_of(talk, turns):
    talk.begin().say(
        *[("user" if i % 2 == 0 else "assistant", f"Turn number {i} says something.") for i in range(turns)]
    )
    talk.running.drain()
    talk.context()
    with talk.running.meter() as cost:
        talk.context()
    return {name: usage.calls for name, usage in cost.by_operation.items()}, cost


def test_a_context_takes_at_most_three_reads_and_two_writes_whatever_the_length(talk, running, http):
    calls, short = cost_of(talk, 60)
    assert calls["PutItem"] == 2, "the receipt, and the audit's entry"
    assert sum(calls.values()) <= 5
    again, long = cost_of(Talk(running, http, f"{talk.id}-long"), 300)
    assert again == calls
    assert long.reads <= short.reads + 2


@pytest.mark.race
def test_a_context_of_ten_thousand_turns_costs_the_same(talk):
    calls, cost = cost_of(talk, 10_000)
    assert calls["PutItem"] == 2, "the receipt, and the audit's entry"
    assert sum(calls.values()) <= 5
    assert cost.reads < 40


# ---- the task


def test_the_task_section_says_all_that_an_agent_needs_of_its_graph(running, client):
    tasks = [
        {"task_id": "look", "title": "look up the order", "role": "r"},
        {"task_id": "ask", "title": "ask the warehouse", "role": "r"},
        {"task_id": "wrap", "title": "wrap it", "role": "r"},
        {
            "task_id": "pay",
            "title": "refund the order by the policy",
            "role": "r",
            "depends_on": ["look"],
            "input": {"by": "policy"},
        },
    ]
    client.create_graph("ship order", tasks, graph_id="g-1", queue="q-1", subject="u-1")
    client.values.put("g-1", "policy", {"days": 30})
    client.values.put("g-1", "unrelated", "not for this task")
    claims = {claim.task.task_id: claim for claim in client.claim(["r"], queue="q-1", max_tasks=3)}
    client.complete(claims["look"], "looked", {"order": "ORD-20240115"})
    client.complete(claims["wrap"], "wrapped it in paper", {"paper": "red"})
    made = client.contexts.ask(graph="g-1", task="pay", form="text")
    told = {item.id: item.text for item in made.sections[0].items}
    assert "ship order" in told["graph:g-1"]
    assert "2 done" in told["graph:g-1"]
    assert "refund the order" in told["task:pay"]
    assert "ORD-20240115" in told["task:look"]
    assert told["task:ask"].startswith("RUNNING ask")
    assert "wrapped it in paper" in told["task:wrap"]
    assert "red" not in told["task:wrap"]
    assert told["value:policy"].endswith('{"days": 30}')
    assert "not for this task" not in made.text
    assert made.subject == "u-1"
    with pytest.raises(NotFound):
        running.client("x", subject="u-2").contexts.ask(graph="g-1", task="pay")
    with pytest.raises(NotFound):
        client.contexts.ask(graph="g-1", task="nobody")
    small = client.contexts.ask(graph="g-1", task="pay", budget=150)
    assert small.total_tokens <= 150
    assert "refund the order" in small.sections[0].items[-2].text + small.sections[0].items[-1].text
