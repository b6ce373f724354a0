"""What each API is strict about, one by one."""

import pytest

from slate.domain.context import Format
from slate.domain.messages import render
from slate.domain.rendering import as_text
from slate.domain.sessions import Merged, ToolCall
from unit.context.conversations import chat, context, snapshot, turn

TWO_FORMS = pytest.mark.parametrize("form", [Format.ANTHROPIC, Format.CONVERSE])


def messages(said, form, **more):
    rendered = render(context(snapshot(said, **more)), form)
    return rendered["converse"]["messages"] if form is Format.CONVERSE else rendered["messages"]


def texts(message):
    return [part.get("text") for part in message["content"]]


@TWO_FORMS
def test_no_text_is_blank_and_the_last_answer_has_no_blanks_at_its_end(form):
    said = [
        turn(1, "user", "Hello."),
        turn(2, "assistant", " \n"),
        turn(3, "user", "Well?"),
        turn(4, "assistant", "Yes. \n"),
    ]
    _, blank, _, last = messages(said, form)
    assert texts(blank) == ["(empty)"]
    assert texts(last) == ["Yes."]


@TWO_FORMS
def test_where_the_assistant_opens_the_user_is_said_to_let_it(form):
    first, second, *_ = messages([turn(1, "assistant", "Red or blue?"), turn(2, "user", "Blue.")], form)
    assert texts(first) == ["(the assistant opens the conversation)"]
    assert texts(second) == ["Red or blue?"]


@TWO_FORMS
def test_a_system_turn_within_the_conversation_says_what_it_is(form):
    said = [turn(1, "user", "Hello."), turn(2, "system", "Be brief."), turn(3, "user", "Well?")]
    (only,) = messages(said, form)
    assert texts(only) == ["Hello.", "[system] Be brief.", "Well?"]


@TWO_FORMS
def test_what_is_known_stands_after_the_first_message_as_the_users(form):
    digest = Merged(fields={"intent": "a quote"}, segments=(1,), last_seq=20)
    first, *_ = messages(chat(1, 20), form, merged=digest)
    assert texts(first)[1].startswith("# Summary of the conversation so far\nintent: a quote")


def test_ids_that_calls_share_are_told_apart_and_put_into_every_apis_alphabet():
    call = ToolCall(id="call 1", name="shop.find/all", arguments="shoes")
    said = [turn(1, "user", "Find shoes.")]
    for i in range(2):
        said += [
            turn(2 + 2 * i, "assistant", "", calls=(call,)),
            turn(3 + 2 * i, "tool", f"pair {i}", answers="call 1"),
        ]
    shown = messages(said, Format.ANTHROPIC)
    asked = [part for message in shown for part in message["content"] if part["type"] == "tool_use"]
    found = [part for message in shown for part in message["content"] if part["type"] == "tool_result"]
    assert [part["id"] for part in asked] == ["call_1", "call_1-2"] == [part["tool_use_id"] for part in found]
    assert [part["content"] for part in found] == ["pair 0", "pair 1"]
    assert asked[0]["name"] == "shop_find_all"
    assert asked[0]["input"] == {"arguments": "shoes"}


def test_a_call_without_its_result_and_a_result_without_its_call_are_said_in_words():
    call = ToolCall(id="c1", name="find", arguments={"q": 1})
    said = [turn(1, "user", "Hello."), turn(2, "tool", "unasked", answers="c0", name="find")]
    said += [turn(3, "assistant", "Let me look.", calls=(call,)), turn(4, "user", "Well?")]
    shown = messages(said, Format.OPENAI)
    assert [message["role"] for message in shown] == ["user", "user", "assistant", "user"]
    assert shown[1]["content"] == "[tool find] unasked"
    assert shown[2]["content"] == 'Let me look.\n[called find({"q":1}): no result]'


def test_as_text_each_turn_says_whose_it_is():
    call = ToolCall(id="c1", name="find", arguments={"q": 1})
    said = [turn(1, "user", "Hello.", name="Ann"), turn(2, "assistant", "", calls=(call,))]
    said += [turn(3, "tool", "found", answers="c1", name="find"), turn(4, "user", "Good.")]
    text = as_text(context(snapshot(said)))
    for line in ("user Ann: Hello.", 'assistant: calls find({"q":1}) (c1)', "tool find (c1): found", "user: Good."):
        assert line in text.splitlines()
