from slate.domain.repeats import answered_in, asked_again, asked_earlier, asks, called_again, in_order
from slate.domain.sessions import Speaker, ToolCall, Turn


def turns(*said):
    made = []
    for seq, (role, content, *more) in enumerate(said, 1):
        fields = more[0] if more else {}
        made.append(Turn(seq=seq, role=Speaker(role), content=content, tokens=1, at=seq, **fields))
    return made


def call(call_id, **arguments):
    return {"tool_calls": (ToolCall(id=call_id, name="lookup", arguments=arguments),)}


def test_a_question_that_the_user_answered_is_named_with_its_answer():
    told = turns(
        ("user", "I need a refund."),
        ("assistant", "Of course. What is your order number?"),
        ("user", "4711"),
        ("assistant", "Thanks! Which colour did you order?"),
        ("user", "Red."),
        ("assistant", "One more thing: what's your order number?"),
    )
    (again,) = asked_again(told)
    assert (again.seq, again.first, again.answer) == (6, 2, 3)
    assert "4711" not in again.warning


def test_what_was_not_answered_or_is_another_question_is_no_repeat():
    asked = ("assistant", "What is your order number?")
    assert asked_again(turns(asked, asked)) == []
    other = ("assistant", "What is your phone number at work, please?")
    assert asked_again(turns(asked, ("user", "4711"), other)) == []
    assert asked_again(turns(("assistant", "Ready?"), ("user", "Yes"), ("assistant", "Ready?"))) == []


def test_what_new_turns_answer_is_kept_with_where_it_stands():
    told = turns(
        ("assistant", "What is your order number? And which colour is it?"),
        ("assistant", "Take your time."),
        ("user", "4711, red"),
        ("assistant", "Which size did you order?"),
        ("user", " "),
        ("user", "M"),
    )
    kept = answered_in(told, 1, "s1", 99)
    assert [(each.seq, each.answer, len(each.terms)) for each in kept] == [(1, 3, 2), (4, 6, 2)]
    assert answered_in(told, 4, "s1", 99) == kept[1:], "what was answered before is not told again"
    assert answered_in(told[:2], 1, "s1", 99) == []


def test_a_question_of_an_earlier_session_is_named_the_latest_of_them():
    once = answered_in(turns(("assistant", "What is your order number?"), ("user", "4711")), 1, "s1", 99)
    later = answered_in(turns(("assistant", "Your order number, please?"), ("user", "4712")), 1, "s2", 99)
    now = turns(("user", "Hi"), ("assistant", "Hi! What's your order number?"), ("assistant", "Which size?"))
    assert asks(now)
    assert not asks(now[:1])
    (again,) = asked_earlier(now, [*once, *later])
    assert (again.seq, again.before) == (2, later[0])
    assert again.warning == "turn 2 asks what turn 1 of session s2 had asked; the answer is its turn 2"
    assert asked_earlier(now, []) == []


def test_a_tool_called_twice_with_the_same_arguments_is_named_with_its_earlier_result():
    told = turns(
        ("assistant", "", call("c1", order=4711, full=True)),
        ("tool", "shipped", {"tool_call_id": "c1"}),
        ("assistant", "", call("c2", order=4712, full=True)),
        ("assistant", "", call("c3", full=True, order=4711)),
    )
    (again,) = called_again(told)
    assert (again.seq, again.first, again.result) == (4, 1, 2)
    assert "turn 2" in again.warning


def test_turns_of_several_places_are_looked_at_once_and_in_order():
    one, two, three = turns(("user", "a"), ("user", "b"), ("user", "c"))
    assert in_order((three, two), (one, two)) == [one, two, three]
