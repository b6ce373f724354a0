"""What rules find in a turn: right rather than complete, named, and never in a question, a quotation or code."""

import pytest

from slate.domain.marking import find, weigh
from slate.domain.sessions import Found, Mark, Speaker
from unit.marked_turns import HELD_OUT, LABELLED, labelled


def marks_of(text, role=Speaker.USER):
    return {each.mark.value for each in find(role, text) if each.mark}


@pytest.mark.parametrize(("lines", "precision", "recall"), [(LABELLED, 1.0, 1.0), (HELD_OUT, 0.9, 0.95)])
def test_precision_and_recall_on_labelled_turns(lines, precision, recall):
    found = [(mark, marks_of(text)) for mark, text in labelled(lines)]
    right = sum(mark in marks for mark, marks in found)
    wrong = sum(bool(marks) for mark, marks in found if mark == "-")
    assert right / (right + wrong) >= precision
    assert right / sum(mark != "-" for mark, _ in found) >= recall


@pytest.mark.parametrize(
    ("text", "rule", "least"),
    [
        ("I'm allergic to peanuts", "constraint.allergy", 9),
        ("btw im allergic to peanuts", "constraint.allergy", 9),
        ("The budget is $4,200, must be spent by March 15, except the printer.", "constraint.budget", 8),
        ("I already returned item 99.", "fact.done", 8),
        ("Hello, I am in Germany and need 25 seats with SSO.", "fact.place", 8),
    ],
)
def test_what_must_not_be_lost_is_above_seven_and_names_its_rule(text, rule, least):
    found = {each.rule: each for each in find(Speaker.USER, text)}
    assert found[rule].importance >= least
    assert weigh((), None, tuple(found.values())).importance >= least


def test_a_tool_marks_itself_and_a_system_turn_is_an_instruction():
    assert find(Speaker.TOOL, "I'm allergic to peanuts") == (Found(rule="role.tool", mark=Mark.TOOL),)
    assert marks_of("Be brief.", Speaker.SYSTEM) == {"instruction"}


@pytest.mark.parametrize("text", ["Hello!", "thanks a lot", "Good morning, team"])
def test_a_greeting_is_of_no_importance_and_has_no_mark(text):
    (found,) = find(Speaker.USER, text)
    assert (found.rule, found.mark) == ("greeting", None)
    assert found.importance < 4


@pytest.mark.parametrize("text", ["yes", "no", "ok", "I agree."])
def test_an_answer_to_a_question_is_no_greeting(text):
    assert find(Speaker.USER, text) == ()


def test_what_an_agent_recalls_of_a_person_is_not_marked():
    assert not marks_of("You told me that you're allergic to peanuts.", Speaker.ASSISTANT)
    assert marks_of("I have refunded the second charge.", Speaker.ASSISTANT) == {"decision"}


def test_a_document_code_and_a_quotation_say_nothing_for_their_speaker():
    rule = "Never deploy on a Friday. "
    assert marks_of(rule) == {"constraint"}
    assert not marks_of(rule * 100)
    assert not marks_of(f"```\n{rule}\n```")
    assert not marks_of(f"> {rule}")


def test_what_is_given_stands_before_what_is_found():
    found = find(Speaker.USER, "I'm allergic to peanuts")
    weighed = weigh((Mark.FACT,), 3, found)
    assert (weighed.marks, weighed.importance) == ((Mark.FACT, Mark.CONSTRAINT), 3)
    assert weigh((), None, ()).importance == 5
