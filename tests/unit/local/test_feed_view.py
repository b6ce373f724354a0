"""A change as a line on the terminal."""

from __future__ import annotations

import pytest

from slate.domain.events import EventType, FeedEntry
from slate_functions.local.feed_view import line_of

NOON = 1_796_040_000_000


def entry(**more):
    fields = {"seq": 7, "at": NOON, "type": EventType.TASK_CLAIMED, "graph_id": "g", "task_id": "refund", "version": 2}
    return FeedEntry(**{**fields, "state": "RUNNING", **more})


def test_a_line_says_number_time_what_of_whom_and_by_whom():
    assert line_of(entry(agent="worker-7")).plain == "    7  12:00:00.000  task.claimed     refund  by worker-7"


def test_a_graphs_own_change_says_its_state():
    line = line_of(entry(type=EventType.GRAPH_COMPLETED, task_id=None, state="FAILED"))
    assert line.plain.endswith("graph.completed  g  FAILED")


@pytest.mark.parametrize("kind", EventType)
def test_what_happened_and_to_what_are_two_words(kind):
    assert line_of(entry(type=kind)).plain.split()[2:4] == [kind, "refund"]


def test_a_gap_is_shown():
    assert line_of(entry(type=EventType.GAP, state=None)).plain.endswith("gap              refund")


def test_what_a_caller_chose_cannot_drive_the_terminal():
    assert "\x1b" not in line_of(entry(agent="a\x1b[2J")).plain
