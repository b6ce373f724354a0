"""The transcript's rules, one by one."""

import pytest

from slate.domain.sessions import Merged, Pinned, ToolCall
from slate.domain.transcript import Window, blocks, exchanges, shorten_text
from unit.context.conversations import COUNT, chat, context, section, seen, snapshot, turn

CALL = ToolCall(id="c1", name="find", arguments={})


def recent(made):
    return [item.seq for item in section(made, "recent").items]


def test_an_exchange_is_a_user_turn_up_to_the_next_however_many_tools_it_takes():
    said = [turn(1, "assistant", "Welcome."), turn(2, "user", "Find shoes.")]
    for i in range(6):
        said += [turn(3 + 2 * i, "assistant", "", calls=(CALL,)), turn(4 + 2 * i, "tool", "none", answers="c1")]
    said += [turn(15, "assistant", "Nothing."), turn(16, "user", "Pity.")]
    assert [len(exchange) for exchange in exchanges(said)] == [1, 14, 1]
    assert [len(block) for block in blocks(said)] == [1, 1, 2, 2, 2, 2, 2, 2, 1, 1]


def test_a_result_of_another_call_stands_by_itself():
    said = [
        turn(1, "assistant", "", calls=(CALL,)),
        turn(2, "tool", "x", answers="c9"),
        turn(3, "tool", "y", answers="c1"),
    ]
    assert [len(block) for block in blocks(said)] == [1, 1, 1]


@pytest.mark.parametrize(("jumps", "shown"), [(0, 3), (1, 4), (4, 7), (9, 7)])
def test_three_exchanges_while_the_topic_is_stable_up_to_seven_when_it_jumps(jumps, shown):
    said = chat(1, 20)
    digested = Merged(fields={"intent": "chat"}, segments=(1,), last_seq=40)
    made = context(snapshot(said, merged=digested), jumps=jumps)
    assert recent(made) == list(range(41 - 2 * shown, 41))


@pytest.mark.parametrize(("least", "most", "shown"), [(2, 2, 2), (1, 5, 5), (6, 4, 6)])
def test_the_bounds_of_the_window_are_settings(least, most, shown):
    assert Window(least, most).exchanges(9) == shown


def test_what_no_digest_holds_yet_is_shown_before_the_window():
    said = chat(1, 20)
    digested = Merged(fields={"intent": "chat"}, segments=(1,), last_seq=20)
    assert recent(context(snapshot(said, merged=digested)))[0] == 21


def test_long_tool_output_is_shortened_before_anything_is_dropped():
    said = [turn(1, "user", "Hello.")]
    for i in range(6):
        said += [turn(2 + 2 * i, "assistant", "", calls=(CALL,)), turn(3 + 2 * i, "tool", "row " * 3_000, answers="c1")]
    said += [turn(14, "assistant", "Done."), turn(15, "user", "So?")]
    made = context(snapshot(said, pinned=Pinned(constraints=("never email",))), total=1_500)
    tools = [item for item in section(made, "recent").items if item.of_tool]
    assert recent(made) == list(range(2, 16))
    assert all("is shortened here; all 3,0" in item.text for item in tools)
    assert not made.dropped


def test_marked_turns_are_never_shortened_others_are_where_the_last_exchange_does_not_fit():
    rule = turn(2, "user", "never do this " * 60, marks=("constraint",))
    essay = turn(3, "assistant", "and so on " * 900)
    read = snapshot([turn(1, "user", "Hello."), rule, essay])
    made = context(read, total=600)
    shown = {item.seq: item for item in section(made, "recent").items}
    assert shown[2].text == rule.content
    assert "turn 3 is shortened here" in shown[3].text
    tight = context(read, total=150)
    assert all(item.text != essay.content for s in tight.sections for item in s.items)
    assert "turn 2 is shortened" not in seen(tight)
    assert "turn:2" in {dropped.id for dropped in tight.dropped}


def test_the_oldest_exchange_goes_first_and_what_the_user_just_asked_goes_last():
    said = [
        *chat(1, 6),
        turn(13, "user", "And now?"),
        turn(14, "assistant", "word " * 300),
        turn(15, "assistant", "Well."),
    ]
    made = context(snapshot(said), total=300)
    shown = recent(made)
    assert 13 in shown
    assert shown == sorted(shown)
    assert {item.seq for item in section(made, "recent").items} >= {13, 15}


@pytest.mark.parametrize("total", [300, 400, 500, 600, 700])
def test_where_even_short_tool_output_does_not_fit_calls_go_with_their_results(total):
    said = [turn(1, "user", "Hello."), turn(2, "user", "Find shoes.")]
    for i in range(8):
        said += [turn(3 + 2 * i, "assistant", "", calls=(CALL,)), turn(4 + 2 * i, "tool", "row " * 500, answers="c1")]
    shown = recent(context(snapshot(said), total=total))
    assert 2 in shown
    assert 0 < len(shown) - 1 < 16
    assert shown[1:] == list(range(19 - (len(shown) - 1), 19)), "the last ones, without a hole"
    assert (len(shown) - 1) % 2 == 0


def test_marked_turns_that_are_recent_are_shown_once_and_old_ones_word_for_word():
    said = [turn(1, "user", "Hello."), turn(2, "user", "I'm allergic to peanuts."), *chat(3, 40)]
    digested = Merged(fields={"intent": "chat"}, segments=(1,), last_seq=70)
    made = context(snapshot(said, merged=digested))
    (marked,) = section(made, "marked").items
    assert (marked.text, marked.marks) == ("I'm allergic to peanuts.", ("constraint",))
    young = context(snapshot(said[:6], merged=None))
    assert section(young, "marked") is None
    assert 2 in recent(young)


def test_what_the_user_said_matters_more_than_what_tools_said():
    tools = [turn(2 + i, "tool", f"result {i} " + "x y z " * 30) for i in range(60)]
    rules = [turn(62 + i, "user", f"Rule {i}: never do thing {i}.") for i in range(8)]
    said = [turn(1, "user", "Hello."), *tools, *rules, *chat(70, 40)]
    digested = Merged(fields={"intent": "chat"}, segments=(1,), last_seq=140)
    made = context(snapshot(said, merged=digested), total=1_500)
    marked = section(made, "marked").items
    assert {item.seq for item in marked} >= {rule.seq for rule in rules}


def test_an_assistants_greeting_is_shown_before_the_first_message_while_it_is_recent():
    said = [
        turn(1, "assistant", "Which one: red or blue?"),
        turn(2, "user", "The second."),
        turn(3, "assistant", "Blue."),
    ]
    made = context(snapshot(said))
    assert recent(made) == [1, 3]


def test_a_system_message_that_came_as_a_turn_is_the_system_message():
    said = [turn(1, "system", "Be brief."), turn(2, "user", "Hello."), *chat(3, 40)]
    made = context(snapshot(said), total=400)
    assert [item.text for item in section(made, "system").items] == ["Be brief."]
    assert 1 not in recent(made)


def test_a_turn_that_was_read_in_part_says_so():
    said = [turn(1, "user", "Hello."), turn(2, "tool", "beginning ... end"), turn(3, "user", "So?")]
    read = snapshot(said).model_copy(update={"shortened": frozenset({2})})
    assert "turn 2 is shortened here" in seen(context(read))


@pytest.mark.parametrize("most", [10, 40, 100])
def test_a_shortened_text_keeps_its_beginning_and_its_end(most):
    text = "Start. " + "middle " * 500 + "End."
    short = shorten_text(text, most, COUNT, " [cut] ")
    assert COUNT(short) <= most
    assert " [cut] " in short
    if most > 20:
        assert short.startswith("Start.")
        assert short.endswith("End.")


def test_a_marked_turn_of_middling_importance_gives_way_with_the_exchanges_what_matters_does_not():
    old = turn(2, "user", "We chose blue for the cover of it. " + "Blue it is. " * 40, marks=["decision"], importance=7)
    vital = turn(3, "user", "Never post to my old address. " + "Never do. " * 40, marks=["constraint"], importance=9)
    new = turn(60, "user", "We chose oak for the desk in it. " + "Oak it is. " * 40, marks=["decision"], importance=5)
    said = [turn(1, "user", "Hello."), old, vital, *chat(4, 28), new, *chat(61, 40)]
    read = snapshot(said, merged=Merged(fields={"intent": "chat"}, segments=(1,), last_seq=130))
    lasted = read.session.model_copy(update={"turns": 140, "exchanges": 70})
    made = context(read.model_copy(update={"session": lasted}), total=2_000, marked=350)
    assert {item.seq for item in section(made, "marked").items} == {3, 60}
    at_once = context(read, total=2_000, marked=350)
    assert {item.seq for item in section(at_once, "marked").items} == {2, 3}
