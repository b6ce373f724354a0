"""A key bound to one person reaches that person's graphs alone, in every use case there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from contract import sharing
from contract.invariants import broken
from contract.sharing import GRAPH
from contract.world import TENANT, World, task
from slate.adapters.dynamodb.keys import ref_of
from slate.contract.access import CreateKey
from slate.contract.tasks import AddTasks, CreateGraph
from slate.contract.values import ChangeValues, PutValue
from slate.domain.access import Principal, Scope
from slate.domain.critical_path import PathBy
from slate.domain.errors import Conflict, Forbidden, NotFound
from slate.domain.leases import Claim
from slate.domain.values import Change, Op
from slate.service.tasks.planning import Planning
from slate.service.tasks.steering import Steering
from slate.service.tasks.viewing import Viewing
from slate.service.tasks.working import Working
from slate.service.values import Values

Call = Callable[[World, Principal, Claim], Any]
ONE_CHANGE: Final = ChangeValues(changes=(Change(key="v", op=Op.PUT, value=1),))

# What a key bound to Ann may try on Bob's graph, whose task it holds a token of.
HIDDEN: Final[dict[tuple[type, str], Call]] = {
    (Planning, "get"): lambda w, ann, _: w.slate.planning.get(ann, "bobs"),
    (Planning, "add"): lambda w, ann, _: w.add(task("x"), graph_id="bobs", by=ann),
    (Planning, "cancel"): lambda w, ann, _: w.slate.planning.cancel(ann, "bobs", None),
    (Planning, "delete"): lambda w, ann, _: w.slate.planning.delete(ann, "bobs", None),
    (Working, "heartbeat"): lambda w, ann, his: w.heartbeat(his, ann),
    (Working, "complete"): lambda w, ann, his: w.complete(his, by=ann),
    (Working, "fail"): lambda w, ann, his: w.fail(his, by=ann),
    (Working, "wait"): lambda w, ann, his: w.wait(his, by=ann),
    (Working, "release"): lambda w, ann, his: w.release(his, ann),
    (Viewing, "timeline"): lambda w, ann, _: w.slate.viewing.timeline(ann, "bobs", 10, None),
    (Viewing, "critical_path"): lambda w, ann, _: w.slate.viewing.critical_path(ann, "bobs", PathBy.TOTAL),
    (Steering, "get"): lambda w, ann, _: w.task("t", "bobs", ann),
    (Steering, "list"): lambda w, ann, _: w.slate.steering.list(ann, "bobs", None, None, 10, None),
    (Steering, "resume"): lambda w, ann, _: w.resume("t", by=ann, graph_id="bobs"),
    (Steering, "cancel"): lambda w, ann, _: w.cancel("t", ann, "bobs"),
    (Steering, "retry"): lambda w, ann, _: w.retry("t", ann, "bobs"),
    (Values, "get"): lambda w, ann, _: w.slate.values.get(ann, GRAPH, "bobs", "v"),
    (Values, "list"): lambda w, ann, _: w.slate.values.list(ann, GRAPH, "bobs", "", 10, None),
    (Values, "history"): lambda w, ann, _: w.slate.values.history(ann, GRAPH, "bobs", "v", 10, None),
    (Values, "put"): lambda w, ann, _: w.slate.values.put(ann, GRAPH, "bobs", "v", PutValue(value=1), None),
    (Values, "patch"): lambda w, ann, _: sharing.patch(w, "append", "v", 1, by=ann, graph_id="bobs"),
    (Values, "delete"): lambda w, ann, _: w.slate.values.delete(ann, GRAPH, "bobs", "v", None),
    (Values, "change"): lambda w, ann, _: w.slate.values.change(ann, GRAPH, "bobs", ONE_CHANGE, None),
}
TOLD_APART: Final = {(Planning, "create"), (Planning, "list"), (Working, "claim")}
"""They name no graph of another's: each has a test of its own below."""


def use_cases() -> set[tuple[type, str]]:
    classes = (Planning, Working, Viewing, Steering, Values)
    return {(cls, name) for cls in classes for name, value in vars(cls).items() if callable(value) and name[0] != "_"}


@pytest.fixture
def ann(w: World) -> Principal:
    w.graph(task("t"), graph_id="anns", subject="ann")
    w.graph(task("t"), graph_id="bobs", subject="bob")
    sharing.put(w, "v", ["bob's"], graph_id="bobs")
    w.graph(task("t"), graph_id="nobodys")
    return w.principal("console", subject="ann")


def test_every_use_case_is_looked_at() -> None:
    assert use_cases() == HIDDEN.keys() | TOLD_APART


@pytest.mark.parametrize("case", HIDDEN, ids=lambda case: f"{case[0].__name__}.{case[1]}")
def test_another_persons_graph_reads_as_unknown_and_nothing_happens_to_it(
    w: World, ann: Principal, case: tuple[type, str]
) -> None:
    his = next(claim for claim in w.claims(max=3) if claim.task.graph_id == "bobs")
    before = w.items()
    with pytest.raises(NotFound) as hidden:
        HIDDEN[case](w, ann, his)
    assert w.items() == before
    w.delete_graph("bobs")
    w.settle()
    with pytest.raises(NotFound) as missing:
        HIDDEN[case](w, ann, his)
    assert hidden.value.detail == missing.value.detail, "a graph that is hidden reads as one that is not there"
    assert not missing.value.data


def test_only_ones_own_tasks_are_claimed(w: World, ann: Principal) -> None:
    assert [claim.task.graph_id for claim in w.claims(ann, max=10)] == ["anns"]
    assert w.claims(ann) == ()
    assert len(w.claims(max=10)) == 2


def test_ones_own_task_is_found_behind_many_of_others(w: World, ann: Principal) -> None:
    w.graph(*(task(f"t{i}", priority=9) for i in range(60)), graph_id="crowd")
    assert w.claim(ann).task.graph_id == "anns"


def test_only_ones_own_graphs_are_listed(w: World, ann: Principal) -> None:
    assert [graph.graph_id for graph in w.slate.planning.list(ann, 10, None, None).items] == ["anns"]
    with pytest.raises(Forbidden):
        w.slate.planning.list(ann, 10, None, "bob")


def test_a_new_graph_is_about_the_person_the_key_is_bound_to(w: World, ann: Principal) -> None:
    assert w.graph(task("t"), graph_id="new", by=ann).subject == "ann"
    with pytest.raises(Forbidden):
        w.slate.planning.create(ann, CreateGraph(goal="x", subject="bob", tasks=()), None)
    w.complete(w.claims(ann)[0], by=ann)
    assert not broken(w.items())


def test_what_is_kept_of_a_repeatable_call_goes_with_the_person_it_is_about(w: World) -> None:
    w.slate.planning.create(w.me, CreateGraph(graph_id="g", goal="x", subject="ann", tasks=(task("a"),)), "once")
    w.slate.planning.add(w.me, "g", AddTasks(tasks=(task("b"),)), "twice")
    made = w.slate.access.create(w.me, CreateKey(agent="console", scopes=(Scope.TASKS_READ,), subject="ann"), "thrice")
    assert (
        w.slate.access.create(w.me, CreateKey(agent="console", scopes=(Scope.TASKS_READ,), subject="ann"), "thrice")
        == made
    )
    records = [item for key, item in w.items().items() if key.sk == "CALL"]
    assert [ref_of(record) for record in records] == [w.storage.codec.keyring.ref(TENANT, "ann")] * 3


def test_a_taken_id_says_nothing_of_another_persons_graph(w: World) -> None:
    w.graph(task("t"), graph_id="bobs", subject="bob")
    with pytest.raises(Conflict) as refused:
        w.graph(task("x"), graph_id="bobs", by=w.principal("console", subject="ann"))
    assert refused.value.data == {}
