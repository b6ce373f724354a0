"""The numbering of a feed, whatever comes in whatever order, as often as it likes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from slate.domain.events import EventType, FeedEntry, Step
from slate.domain.feed import CHECKED_EVERY, PARKED_MOST, SKEW_MS, WAIT_MS, FeedHead, FeedView, Mark, Numbering

NOW = 1_800_000_000_000
BORN = NOW - 60_000
CREATED = Step(task_id=None, version=1, state="ACTIVE", at=NOW, born=BORN)
LIFE = ("BLOCKED", "READY", "RUNNING", "READY", "RUNNING", "WAITING", "READY", "RUNNING", "DONE")


def step(task_id: str, version: int, state: str | None, *, at: int = NOW, born: int = BORN) -> Step:
    return Step(task_id=task_id, version=version, state=state, at=at, born=born)


def life(task_id: str, states: Sequence[str] = LIFE) -> list[Step]:
    return [step(task_id, version, state) for version, state in enumerate(states, 1)]


class Feed:
    """A feed that lives in memory: read, numbered, committed."""

    def __init__(self) -> None:
        self.head = FeedHead()
        self.marks: dict[str | None, Mark] = {}
        self.entries: list[FeedEntry] = []
        self.now = NOW

    def take(self, *steps: Step, room: int = 50, completing: bool = True) -> list[FeedEntry]:
        """What these steps make, in as many transactions as it takes."""
        made: list[FeedEntry] = []
        while True:
            feed = self.opened(room=room, completing=completing)
            feed.take(steps)
            made += self.commit(feed)
            if not feed.full:
                return made

    def opened(self, *, room: int = 50, completing: bool = True) -> Numbering:
        view = FeedView(graph_id="g", born=BORN, subject_ref=None, head=self.head, marks=dict(self.marks))
        return Numbering(view, self.now, room=room, completing=completing)

    def commit(self, feed: Numbering) -> list[FeedEntry]:
        if feed.changed:
            self.marks |= feed.changed
            self.head = feed.head
            self.entries += feed.entries
        return feed.entries

    def give_up(self, *task_ids: str) -> list[FeedEntry]:
        feed = self.opened()
        feed.give_up_overdue(task_ids)
        return self.commit(feed)

    @property
    def told(self) -> list[tuple[str | None, str | None]]:
        return [(entry.task_id, entry.state) for entry in self.entries]


def types(entries: Iterable[FeedEntry]) -> list[str]:
    return [entry.type.value for entry in entries]


@given(st.randoms(use_true_random=False), st.integers(1, 5), st.integers(4, 12))
def test_every_change_is_told_once_in_order_however_the_steps_come(rng: random.Random, tasks: int, room: int):
    steps = [CREATED, *(s for i in range(tasks) for s in life(f"t{i}"))]
    coming = [*steps, *rng.choices(steps, k=len(steps))]
    rng.shuffle(coming)
    feed = Feed()
    while coming:
        n = rng.randint(1, 7)
        feed.take(*coming[:n], room=room)
        coming = coming[n:]
    assert [entry.seq for entry in feed.entries] == list(range(1, len(feed.entries) + 1))
    for i in range(tasks):
        assert tuple(state for task_id, state in feed.told if task_id == f"t{i}") == LIFE
    assert feed.head.counts == {"DONE": tasks}
    assert not any(mark.parked for mark in feed.marks.values())
    assert types(feed.entries).count("graph.created") == 1
    assert types(feed.entries)[-1] == "graph.completed"


def test_a_step_waits_for_the_version_before_it():
    feed = Feed()
    first, second, third = life("a", ("READY", "RUNNING", "DONE"))
    assert feed.take(third) == []
    assert feed.take(first) != []
    assert feed.told == [("a", "READY")]
    assert feed.head.due == NOW + WAIT_MS
    feed.take(second)
    assert feed.told == [("a", "READY"), ("a", "RUNNING"), ("a", "DONE")]
    assert feed.marks["a"].since is None


def test_a_version_without_a_new_state_makes_no_entry_and_lets_the_next_one_through():
    feed = Feed()
    feed.take(*life("a", ("BLOCKED", "BLOCKED", "BLOCKED", "READY")))
    assert feed.told == [("a", "BLOCKED"), ("a", "READY")]


def test_what_comes_again_changes_nothing():
    feed = Feed()
    feed.take(*life("a"))
    again = feed.opened()
    again.take(life("a"))
    assert not again.changed
    assert not again.entries


def test_a_step_that_waits_is_not_parked_twice():
    feed = Feed()
    feed.take(step("a", 3, "DONE"))
    again = feed.opened()
    again.take([step("a", 3, "DONE")])
    assert not again.changed


def test_a_missing_version_is_given_up_after_its_time_and_not_before():
    feed = Feed()
    feed.take(step("a", 1, "READY"), step("a", 4, "DONE"))
    feed.now += WAIT_MS - 1
    assert feed.give_up("a") == []
    feed.now += 1
    assert types(feed.give_up("a")) == ["gap", "gap", "task.completed"]
    assert [(e.version, e.state, e.at) for e in feed.entries[1:3]] == [(2, None, feed.now), (3, None, feed.now)]
    assert feed.take(step("a", 2, "RUNNING")) == [], "too late: every follower has seen the gap"
    assert feed.head.counts == {"DONE": 1}


def test_a_gap_is_numbered_in_its_place():
    feed = Feed()
    feed.take(step("a", 3, "DONE"), step("a", 2, None), step("a", 1, "READY"))
    assert types(feed.entries) == ["task.ready", "gap", "task.completed"]


def test_a_state_that_a_gap_hid_is_told_even_if_it_is_the_one_before():
    feed = Feed()
    feed.take(step("a", 1, "READY"), step("a", 2, None), step("a", 3, "READY"))
    assert types(feed.entries) == ["task.ready", "gap", "task.ready"]


def test_after_a_gap_at_the_end_the_counts_are_learned_from_the_task_itself():
    feed = Feed()
    feed.take(CREATED, step("a", 1, "READY"), step("a", 2, None))
    assert feed.head.counts == {"READY": 1}
    assert feed.head.due == NOW, "the table is to be looked at"
    made = feed.take(step("a", 2, "DONE"))
    assert feed.head.counts == {"DONE": 1}
    assert types(made) == ["graph.completed"]


def test_a_task_whose_steps_pile_up_waits_no_longer():
    feed = Feed()
    feed.take(step("a", 1, "READY"))
    pile = [step("a", 3 + i, ("READY", "RUNNING")[i % 2]) for i in range(PARKED_MOST + 1)]
    assert feed.take(*pile[:-1]) == []
    assert types(feed.take(pile[-1]))[0] == "gap"
    assert feed.marks["a"].version == PARKED_MOST + 3


def test_what_belongs_to_an_earlier_graph_of_the_same_id_is_dropped():
    feed = Feed()
    assert feed.take(step("a", 1, "DONE", born=BORN - SKEW_MS - 1)) == []
    assert feed.marks == {}
    assert feed.take(step("a", 1, "READY", born=BORN - SKEW_MS)) != [], "clocks differ a little"


def test_a_graph_ends_with_its_last_task_and_goes_on_with_a_new_one():
    feed = Feed()
    feed.take(CREATED, step("a", 1, "READY"), step("b", 1, "READY"))
    feed.take(step("a", 2, "DONE"))
    assert types(feed.take(step("b", 2, "DONE"))) == ["task.completed", "graph.completed"]
    assert feed.entries[-1].state == "DONE"
    assert types(feed.take(step("c", 1, "READY"))) == ["task.ready", "graph.reopened"]
    assert types(feed.take(step("c", 2, "FAILED"))) == ["task.failed", "graph.completed"]
    assert feed.entries[-1].state == "FAILED"
    assert [e.seq for e in feed.entries] == list(range(1, len(feed.entries) + 1))


def test_an_end_that_the_table_does_not_confirm_is_not_told_yet():
    feed = Feed()
    feed.take(CREATED)
    assert types(feed.take(step("a", 1, "READY"), step("a", 2, "DONE"), completing=False)) == [
        "task.ready",
        "task.completed",
    ]
    assert feed.head.shown == "ACTIVE"
    assert types(feed.take(step("b", 1, "CANCELLED"))) == ["task.cancelled", "graph.completed"]


def test_a_graph_that_is_cancelled_does_not_complete():
    feed = Feed()
    feed.take(CREATED, step("a", 1, "READY"), replace(CREATED, version=2, state="CANCELLING"))
    assert types(feed.take(step("a", 2, "CANCELLED"))) == ["task.cancelled"]
    assert types(feed.take(replace(CREATED, version=3, state="CANCELLED"))) == ["graph.cancelled"]


def test_tasks_that_come_before_their_graph_complete_it_when_it_is_seen():
    feed = Feed()
    assert types(feed.take(step("a", 1, "CANCELLED"))) == ["task.cancelled"]
    assert types(feed.take(CREATED)) == ["graph.created", "graph.completed"]


def test_a_long_feed_is_compared_with_its_table_now_and_then():
    feed = Feed()
    feed.head = FeedHead(seq=CHECKED_EVERY - 2, turn=7)
    feed.take(step("a", 1, "READY"))
    assert feed.head.due is None
    feed.take(step("a", 2, "RUNNING"))
    assert feed.head.due == NOW


def test_every_state_has_its_type():
    entries = [s.entry("g", 1) for s in life("a", ("BLOCKED", "READY", "RUNNING", "DELAYED", "WAITING"))]
    entries += [s.entry("g", 1) for s in life("a", ("DONE", "FAILED", "CANCELLED"))]
    graphs = ("CREATING", "ACTIVE", "CANCELLING", "CANCELLED")
    entries += [replace(CREATED, state=state).entry("g", 1) for state in graphs]
    derived = {EventType.GRAPH_COMPLETED, EventType.GRAPH_REOPENED, EventType.GAP}
    assert Counter(e.type for e in entries) == Counter(set(EventType) - derived)
