"""What a history must show, and what the picture makes of it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from proof import fault_of, stints, takeovers
from timeline import Kill, draw

from client_stub import task_json
from slate.domain.tasks import Task
from slate.domain.timeline import TaskTimeline, spans_of


def task(*history, state="DONE", task_id="refund"):
    entries = [{"at": at, "event": event, "agent": agent, "epoch": epoch} for at, event, agent, epoch in history]
    return Task.model_validate(task_json(task_id, state=state, history=entries))


def row(*history, **more):
    """The task as a row of its graph's timeline."""
    given = task(*history, **more)
    names = {name: getattr(given, name) for name in ("graph_id", "task_id", "role", "state")}
    return TaskTimeline(**names, spans=spans_of(given.history))


CREATED = (0, "created", "planner", 0)
ONCE = (CREATED, (10, "claimed", "ada", 1), (20, "completed", "ada", 1))
TAKEN = (
    CREATED,
    (10, "claimed", "ada", 1),
    (40, "lapsed", "", 1),
    (50, "claimed", "ben", 2),
    (60, "completed", "ben", 2),
)


@pytest.mark.parametrize(
    "history", [ONCE, TAKEN, (CREATED, (10, "claimed", "ada", 1), (40, "lapsed", "", 1), (50, "completed", "ada", 1))]
)
def test_one_completion_under_the_last_claim_is_proof(history):
    assert fault_of(task(*history)) is None


@pytest.mark.parametrize(
    ("history", "state"),
    [
        (ONCE[:2], "RUNNING"),
        (ONCE[:2], "DONE"),
        ((*ONCE, (30, "completed", "ada", 1)), "DONE"),
        ((CREATED, (20, "completed", "ada", 1)), "DONE"),
        ((*TAKEN[:4], (60, "completed", "ada", 1)), "DONE"),
        ((*TAKEN[:4], (60, "completed", "ada", 2)), "DONE"),
        ((CREATED, (10, "claimed", "ada", 1), (15, "claimed", "ben", 1), (20, "completed", "ben", 1)), "DONE"),
        ((), "DONE"),
    ],
)
def test_anything_else_is_a_fault_that_names_the_task(history, state):
    assert "g/refund" in fault_of(task(*history, state=state))


def test_a_takeover_is_a_lapsed_stint_and_the_next_one():
    found = stints([row(*TAKEN), row(*ONCE, task_id="reply")], now=100)
    (taken,) = takeovers(found)
    assert (taken.lost.agent, taken.lost.end, taken.won.agent, taken.won.start) == ("ada", 40, "ben", 50)
    assert len(found) == 3


def test_a_stint_that_has_not_ended_lasts_until_now():
    (stint,) = stints([row(*ONCE[:2], state="RUNNING")], now=100)
    assert (stint.end, stint.ended_by) == (100, "")


def picture(page):
    svg = re.search(r"<svg.*?</svg>", page, re.DOTALL)[0]
    return ET.fromstring(svg)  # noqa: S314  # our own page


def texts(root, tag):
    return ["".join(element.itertext()) for element in root.iter(f"{{http://www.w3.org/2000/svg}}{tag}")]


def test_the_picture_has_a_lane_a_worker_a_bar_a_stint_and_marks_the_kill_and_the_takeover():
    found = stints([row(*TAKEN), row(*ONCE, task_id="reply")], now=100)
    root = picture(draw(found, ["ada", "ben"], takeovers(found), Kill("ada", 25)))
    titles = texts(root, "title")
    assert len(titles) == 4
    assert any("ada, epoch 1" in title and "killed" in title for title in titles)
    assert any("ben took g/refund over under epoch 2" in title for title in titles)
    assert any("taken over" in title and "ben, epoch 2" in title for title in titles)
    words = texts(root, "text")
    assert {"ada", "ben", "\u2715 ada killed"} <= set(words)


def test_the_page_needs_nothing_from_elsewhere_and_no_text_of_a_stranger_becomes_markup():
    hostile = '<script>alert(1)</script>"&'
    found = stints([row(*TAKEN).model_copy(update={"graph_id": hostile})], now=100)
    page = draw(found, ["ada", "ben"], takeovers(found), None)
    assert "<script" not in page
    assert not re.findall(r"(?:src|href)\s*=|url\((?!#)|@import", page)
    assert any(hostile in title for title in texts(picture(page), "title"))


def test_a_run_without_a_task_can_be_drawn():
    assert texts(picture(draw([], ["ada"], [], None)), "title") == []
