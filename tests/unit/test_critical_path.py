from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slate.domain.critical_path import Basis, Outline, PathBy, critical_path, longest_chain
from slate.domain.tasks import HistoryEntry, TaskState
from slate.domain.timeline import Span, spans_of

NAMES = "abcdefg"
MINUTE = 60_000


@st.composite
def dags(draw):
    """Weights, and edges that lead from earlier ids to later ones under a random renaming."""
    size = draw(st.integers(0, 7))
    names = draw(st.permutations(NAMES[:size]))
    weights = {name: draw(st.integers(0, 3)) for name in names}
    parents = {name: [p for p in names[:i] if draw(st.booleans())] for i, name in enumerate(names)}
    return weights, parents


def chains(parents):
    """Every chain there is, by brute force."""
    found = [[name] for name in parents]
    for chain in found:
        found += [[*chain, child] for child in parents if chain[-1] in parents[child]]
    return found


@settings(max_examples=200, deadline=None)
@given(dags())
def test_no_chain_is_heavier_than_the_one_that_is_found(dag):
    weights, parents = dag
    chain = longest_chain(weights, parents)
    assert sum(weights[t] for t in chain) == max((sum(weights[t] for t in c) for c in chains(parents)), default=0)
    assert not weights or chain
    for parent, child in pairwise(chain):
        assert parent in parents[child], "each waits for the one before"


@settings(max_examples=100, deadline=None)
@given(dags(), st.randoms(use_true_random=False))
def test_the_order_in_which_tasks_are_given_changes_nothing(dag, rng):
    weights, parents = dag
    shuffled = list(weights.items())
    rng.shuffle(shuffled)
    mixed = {task: rng.sample(list(parents[task]), len(parents[task])) for task, _ in shuffled}
    assert longest_chain(dict(shuffled), mixed) == longest_chain(weights, parents)


@settings(max_examples=100, deadline=None)
@given(dags(), st.data())
def test_a_longer_task_never_makes_the_path_shorter(dag, data):
    weights, parents = dag
    if not weights:
        return
    task = data.draw(st.sampled_from(sorted(weights)))
    before = sum(weights[t] for t in longest_chain(weights, parents))
    after = weights | {task: weights[task] + 5}
    assert before <= sum(after[t] for t in longest_chain(after, parents)) <= before + 5


def test_of_equally_long_chains_the_first_by_ids_is_taken():
    for order in permutations("abc"):
        assert longest_chain(dict.fromkeys(order, 1), {"c": ["a", "b"]}) == ["a", "c"]


def outline(task_id, *parents, state=TaskState.DONE, role="w", spans=()):
    known = tuple(Span(agent="x", epoch=n, start=start, end=end, ended_by=None) for n, (start, end) in enumerate(spans))
    return Outline(task_id, role, state, parents, known)


def path(*tasks, by=PathBy.TOTAL, now=100 * MINUTE):
    return critical_path("g", tasks, by, now)


def ids(found):
    return [step.task_id for step in found.tasks]


def test_an_ended_task_weighs_what_was_worked_on_it_over_all_attempts_and_not_its_time_in_the_queue():
    found = path(
        outline("slow", spans=[(0, 10), (1_000, 1_040)]),
        outline("late", spans=[(5_000, 5_030)]),
        outline("end", "slow", "late", spans=[(6_000, 6_005)]),
    )
    assert ids(found) == ["slow", "end"]
    assert (found.worked_ms, found.remaining_ms) == (55, 0)
    assert {step.basis for step in found.tasks} == {Basis.MEASURED}


def test_an_open_task_is_estimated_by_its_role_then_by_all_then_by_a_minute():
    done = [outline(f"d{n}", role="quick", spans=[(0, n)]) for n in (10, 20, 90)]
    ahead = [outline(t, state=TaskState.READY, role=role) for t, role in (("known", "quick"), ("unknown", "other"))]
    more = outline("slow", role="slow", spans=[(0, 5_000)])
    steps = {t: path(*done, more, *(a for a in ahead if a.task_id == t)).tasks for t in ("known", "unknown")}
    assert [s.task_id for s in steps["known"]] == ["slow"]
    remaining = path(*done, more, *ahead, by=PathBy.REMAINING)
    assert (ids(remaining), remaining.remaining_ms) == (["known"], 20)
    assert path(*done, more, ahead[1], by=PathBy.REMAINING).remaining_ms == 20
    nothing = path(outline("a", state=TaskState.BLOCKED), by=PathBy.REMAINING)
    assert (nothing.remaining_ms, nothing.tasks[0].basis) == (MINUTE, Basis.ESTIMATED)


@pytest.mark.parametrize(("had", "remaining"), [(5, 15), (20, 0), (50, 0)])
def test_a_running_task_needs_at_least_what_it_has_had(had, remaining):
    running = outline("r", state=TaskState.RUNNING, spans=[(1_000 - had, None)])
    found = path(outline("d", spans=[(0, 20)]), running, by=PathBy.REMAINING, now=1_000)
    [step] = found.tasks
    assert (step.worked_ms, step.remaining_ms, step.basis) == (had, remaining, Basis.RUNNING)


def test_what_remains_leaves_out_what_has_ended_and_what_is_behind_it():
    tasks = [
        outline("long", spans=[(0, 900_000)]),
        outline("cancelled", "first", state=TaskState.CANCELLED),
        outline("first", state=TaskState.READY),
        outline("freed", "cancelled", state=TaskState.READY),
        outline("second", "first", "long", state=TaskState.BLOCKED),
    ]
    found = path(*tasks, by=PathBy.REMAINING)
    assert ids(found) == ["first", "second"]
    assert (found.worked_ms, found.remaining_ms) == (0, 1_800_000)
    assert ids(path(*tasks)) == ["first", "cancelled", "freed"], "as long as the other two, and first by its last id"


def test_a_graph_without_tasks_has_an_empty_path():
    assert path().tasks == ()
    assert path(outline("a"), by=PathBy.REMAINING).tasks == ()


def test_whatever_follows_a_claim_ends_its_span():
    events = ["created", "claimed", "lapsed", "claimed", "delayed", "ready", "claimed", "completed"]
    history = [HistoryEntry(at=10 * n, event=e, agent="ann", epoch=n) for n, e in enumerate(events)]
    spans = spans_of(history)
    assert [(s.start, s.end, s.ended_by, s.epoch) for s in spans] == [
        (10, 20, "lapsed", 1),
        (30, 40, "delayed", 3),
        (60, 70, "completed", 6),
    ]
    [running] = spans_of(history[:2])
    assert (running.end, running.ended_by, running.lasted(25)) == (None, None, 15)
    assert spans_of(history[:1]) == ()
