"""Who is claimed first: by priority among what came together, by waiting in the long run, and never a stranger's."""

from __future__ import annotations

import pytest

from contract.world import TENANT, World, many, task
from slate.adapters.dynamodb import task_store
from slate.adapters.dynamodb.calls import Item, to_wire
from slate.adapters.dynamodb.keys import graph_pk, task_key
from slate.adapters.dynamodb.table import READY_SK
from slate.domain.errors import Unavailable
from slate.ports.task_store import Candidate
from slate.service.tasks.working import equal_turns
from slate.testing.meter import Meter

MINUTE = 60


def crowd(w: World, count: int, subject: str) -> None:
    """So many READY tasks of the role about somebody: one made, the others written straight after it."""
    w.graph(task("t", priority=9), graph_id="crowd", subject=subject)
    like = w.item("t", "crowd")
    requests = []
    for name in many("u", count - 1):
        item: Item = {**like, **task_key(TENANT, "crowd", name).attributes}
        item[READY_SK] = like[READY_SK].replace("#t#", f"#{name}#")
        requests.append({"PutRequest": {"Item": to_wire(item)}})
    for start in range(0, len(requests), 25):
        w.dynamodb.batch_write_item(RequestItems={w.settings.table: requests[start : start + 25]})


def test_a_bound_keys_claim_among_a_thousand_tasks_of_others_tries_none_of_them(w: World) -> None:
    crowd(w, 1_000, "bob")
    w.graph(task("mine", priority=0), graph_id="anns", subject="ann")
    ann = w.principal("console", subject="ann")
    with Meter(w.dynamodb).measure() as cost:
        assert w.claim(ann).task.graph_id == "anns"
    assert (cost.calls, cost.by_operation["UpdateItem"].calls) == (3, 1), "and her fence"
    with Meter(w.dynamodb).measure() as cost:
        assert w.claims(ann) == ()
    assert (cost.calls, cost.writes) == (2, 0)


@pytest.mark.parametrize(
    "how", ["created", "freed", "approved", "retried", "released", "lapsed", "held", "added", "answered"]
)
def test_however_a_task_becomes_ready_a_bound_key_finds_it(w: World, how: str) -> None:
    ann = w.principal("console", subject="ann")
    more = {"needs_approval": True} if how == "approved" else {}
    if how == "held":
        w.graph(graph_id="g", subject="ann", more=True)
        w.add(task("t"))
    else:
        w.graph(*([task("p")] if how in ("freed", "added") else [task("t", **more)]), subject="ann")
    if how == "freed":
        w.add(task("t", "p"))
        w.complete(w.claim())
    elif how == "added":
        w.complete(w.claim())
        w.add(task("t", "p"))
    elif how == "approved":
        w.resume("t")
    elif how == "retried":
        w.fail(w.claim(), retryable=False)
        w.retry("t")
    elif how == "released":
        w.release(w.claim())
    elif how == "answered":
        w.wait(w.claim())
        w.resume("t")
    elif how == "lapsed":
        w.claim()
        w.clock.advance(61)
        w.sweep()
    assert w.claim(ann).task.task_id == "t"


def test_too_many_tasks_of_others_are_an_error_and_no_empty_answer(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_store, "PASSED_OVER", 3)
    ann = w.principal("console", subject="ann")
    w.graph(*(task(t) for t in many("t", 3)), graph_id="bobs", subject="bob")
    assert w.claims(ann) == ()
    w.graph(*(task(t) for t in many("t", 1)), graph_id="nobodys")
    with pytest.raises(Unavailable, match="queue"):
        w.claims(ann)


def test_priority_goes_first_among_what_became_ready_about_together(w: World) -> None:
    for priority in (0, 3, 5, 9):
        w.graph(task("t", priority=priority), graph_id=f"p{priority}")
        w.clock.advance(3 * MINUTE)
    assert [w.claim().task.priority for _ in range(4)] == [9, 5, 3, 0]


def test_a_task_waits_behind_urgent_ones_only_as_long_as_the_rule_says(w: World) -> None:
    """Priority 9 comes all the time: 0 stands behind what came up to 9 levels, 90 minutes, after it."""
    w.graph(task("old", priority=0), graph_id="old")
    served = []
    for minute in range(0, 100, 5):
        w.graph(*(task(t, priority=9) for t in many("t", 2)), graph_id=f"at{minute}")
        served.append(w.claim().task.task_id)  # one of two: the urgent ones pile up
        w.clock.advance(5 * MINUTE)
    assert "old" not in served
    waiting = {f"at{minute}" for minute in range(0, 90, 5)}
    while (claim := w.claim()).task.graph_id != "old":
        assert claim.task.graph_id in waiting, "what came later than 90 minutes after it goes before it"
    assert {c.task.graph_id for c in w.claims(max=100)} == {"at90", "at95"}


def test_chance_does_not_keep_a_task_waiting_behind_what_came_a_level_later(w: World) -> None:
    w.graph(task("t"), graph_id="old")
    w.clock.advance(10 * MINUTE)
    w.graph(*(task(t) for t in many("t", 30)), graph_id="new")
    assert w.claim().task.graph_id == "old"


def test_equals_are_claimed_in_random_order(w: World) -> None:
    w.graph(*(task(t) for t in many("t", 10)))
    order = [w.claim().task.task_id for _ in range(10)]
    assert order != sorted(order)


def test_a_task_given_back_has_its_old_place(w: World) -> None:
    w.graph(task("old"), graph_id="old")
    claim = w.claim()
    before = w.item("old", "old")["home_sk"]
    w.clock.advance(10 * MINUTE)
    w.graph(*(task(t) for t in many("t", 12)), graph_id="new")
    w.heartbeat(claim, lease_seconds=3_600)
    w.release(claim)
    assert w.item("old", "old")["ready_sk"] == before
    assert w.claim().task.graph_id == "old"


def test_the_level_is_a_setting(worlds) -> None:
    w = worlds(ready_level_seconds=1)
    w.graph(task("t", priority=4), graph_id="old")
    w.clock.advance(2)
    w.graph(task("t", priority=5), graph_id="new")
    assert w.claim().task.graph_id == "old"


def test_turns_are_cut_by_priority_and_by_a_levels_wait() -> None:
    def at(rank: int, priority: int) -> Candidate:
        return Candidate("g", f"{rank}-{priority}", rank, priority, 60)

    candidates = [at(0, 9), at(9, 9), at(9, 5), at(10, 9), at(19, 9), at(20, 9)]
    turns = [[c.task_id for c in turn] for turn in equal_turns(candidates, 10)]
    assert turns == [["0-9", "9-9"], ["9-5"], ["10-9", "19-9"], ["20-9"]]
    assert list(equal_turns([], 10)) == []


def test_several_roles_share_by_urgency_and_a_call_takes_from_all_of_them(w: World) -> None:
    w.graph(*(task(t, role="writer") for t in many("t", 20)), graph_id="writers")
    w.graph(task("urgent", role="checker", priority=9), task("usual", role="checker"), graph_id="checkers")
    roles = ["writer", "checker"]
    assert w.claim(roles=roles).task.task_id == "urgent"
    taken = w.claims(roles=roles, max=21)
    assert sum(c.task.role == "checker" for c in taken) == 1
    assert len(taken) == 21
    assert not any(graph_pk(TENANT, "writers") in key.pk and "ready_pk" in item for key, item in w.items().items())
