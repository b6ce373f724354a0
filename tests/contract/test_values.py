"""Shared values: no change is lost, together or not at all, and gone when they are to be."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from contract import faults, sharing
from contract.invariants import broken, unsettled
from contract.sharing import change, get, listed, patch, put, remove, versions
from contract.world import DAY, TENANT, World, task
from slate.adapters.dynamodb.changes import Change
from slate.adapters.dynamodb.keys import graph_pk, values_key
from slate.contract.values import PutValue
from slate.domain.errors import (
    AlreadyTerminal,
    Conflict,
    Invalid,
    LeaseLost,
    NotFound,
    TooLarge,
    Unavailable,
    VersionMismatch,
)
from slate.domain.values import KEPT_VERSIONS, MAX_VALUE_BYTES
from slate.testing.capacity import item_bytes
from slate.wiring.local import build_local

WEEK = 7 * DAY


@pytest.fixture
def g(w: World) -> World:
    """A world with a graph ``g`` of one task."""
    w.graph(task("a"))
    return w


def big(letter: str, size: int = 150_000) -> str:
    return letter * size


# ---- one value


def test_a_value_is_read_as_it_was_last_written(g: World) -> None:
    for value in (None, False, 0, -1.5, "", "é€", [], {}, {"a": [1, {"b": None}]}):
        put(g, "v", value)
        assert get(g, "v").value == value
    assert (get(g, "v").version, get(g, "v").updated_by, get(g, "v").updated_at) == (9, "ann", g.clock.now())
    assert not broken(g.items())


@pytest.mark.parametrize("size", [100_000, 102_398, 102_399, 500_000, MAX_VALUE_BYTES - 2])
def test_a_value_of_any_size_is_read_as_it_was_written_also_when_it_is_history(g: World, size: int) -> None:
    put(g, "v", big("x", size))
    put(g, "v", 1)
    assert versions(g, "v") == [(2, 1), (1, big("x", size))]
    assert not broken(g.items())


def test_a_value_over_its_bound_is_refused_however_it_came_to_be(g: World) -> None:
    put(g, "v", [big("x", MAX_VALUE_BYTES - 4)])
    before = g.items()
    for grow in (lambda: patch(g, "append", "v", 1), lambda: put(g, "v", big("x", MAX_VALUE_BYTES))):
        with pytest.raises(TooLarge, match="'v' would have"):
            grow()
    assert g.items() == before


def test_a_write_with_an_old_version_is_refused_with_the_value_as_it_is(g: World) -> None:
    put(g, "v", ["draft"])
    patch(g, "append", "v", "second")
    for write in (
        lambda: put(g, "v", [], 1),
        lambda: patch(g, "append", "v", "third", 1),
        lambda: remove(g, "v", 1),
        lambda: put(g, "v", [], 0),
    ):
        with pytest.raises(VersionMismatch) as refused:
            write()
        current = refused.value.data["current"]
        assert (current["key"], current["value"], current["version"]) == ("v", ["draft", "second"], 2)
    assert put(g, "v", [], 2).version == 3


def test_version_0_means_that_there_is_none(g: World) -> None:
    assert put(g, "v", 1, 0).version == 1
    remove(g, "v")
    assert put(g, "v", 2, 0).version == 3
    with pytest.raises(VersionMismatch) as refused:
        put(g, "new", 1, 4)
    assert refused.value.data["current"] == {"key": "new", "value": None, "version": 0}


def test_an_operation_that_does_not_fit_changes_nothing_and_shows_what_is_there(g: World) -> None:
    put(g, "v", {"n": 1})
    before = g.items()
    with pytest.raises(Conflict) as refused:
        patch(g, "increment", "v", 1)
    assert refused.value.data["current"]["value"] == {"n": 1}
    assert g.items() == before


def test_a_deleted_value_is_gone_with_its_history_and_its_versions_go_on(g: World) -> None:
    put(g, "v", big("x"))
    put(g, "v", big("y"))
    put(g, "v", "z")
    remove(g, "v")
    for read in (get, versions):
        with pytest.raises(NotFound):
            read(g, "v")
    assert (listed(g), g.objects()) == ({}, [])
    assert not [item for key, item in g.items().items() if key.sk.startswith("VH#") and "content" in item]
    with pytest.raises(NotFound):
        remove(g, "v")
    assert patch(g, "increment", "v", 5).version == 5
    assert versions(g, "v") == [(5, 5)]
    assert not broken(g.items())


def test_what_a_deleted_value_held_is_out_of_reach_though_a_crash_left_it_there(g: World) -> None:
    put(g, "v", 1)
    put(g, "v", 2)
    g.faults.kill_after(1)
    with pytest.raises(faults.Killed):
        remove(g, "v")
    g.faults.disarm()
    assert [key for key in g.items() if key.sk.startswith("VH#")]
    with pytest.raises(NotFound):
        versions(g, "v")
    put(g, "v", 3)
    assert versions(g, "v") == [(4, 3)]


def test_the_last_versions_can_be_read_and_no_older_ones(g: World) -> None:
    for i in range(KEPT_VERSIONS + 5):
        put(g, "v", big("x") + str(i) if i % 7 == 0 else i)
    kept = versions(g, "v", limit=7)
    assert [v for v, _ in kept] == list(range(KEPT_VERSIONS + 5, 4, -1))
    assert {v: value for v, value in kept if isinstance(value, int)} == {v: v - 1 for v, _ in kept if (v - 1) % 7}
    assert len(g.objects()) == sum((v - 1) % 7 == 0 for v, _ in kept), "an object goes when its version does"
    assert not broken(g.items())


# ---- lists


def test_values_are_listed_by_key_page_after_page(g: World) -> None:
    keys = ["a", "a.b", "a:1", "aa", "b", "B"]
    for i, key in enumerate(keys):
        put(g, key, i)
    put(g, "ab", "deleted")
    remove(g, "ab")
    for limit in (1, 2, 100):
        assert listed(g, limit=limit) == {key: i for i, key in enumerate(keys)}
        assert set(listed(g, "a", limit)) == {"a", "a.b", "a:1", "aa"}
    assert listed(g, "c") == {}


def test_a_page_ends_where_an_answer_would_be_too_large(g: World) -> None:
    for key in "abcd":
        put(g, key, big(key, 400_000))
    page = g.slate.values.list(g.me, sharing.GRAPH, "g", "", 100, None)
    assert ([v.key for v in page.items], page.next_cursor is None) == (["a", "b"], False)
    assert list(listed(g)) == list("abcd")


def test_a_cursor_belongs_to_its_list(g: World) -> None:
    for i in range(3):
        put(g, "v", i)
        put(g, f"k{i}", i)
    values = g.slate.values
    for_list = values.list(g.me, sharing.GRAPH, "g", "k", 1, None).next_cursor
    for_history = values.history(g.me, sharing.GRAPH, "g", "v", 1, None).next_cursor
    with pytest.raises(Invalid):
        values.list(g.me, sharing.GRAPH, "g", "", 1, for_list)
    with pytest.raises(Invalid):
        values.list(g.me, sharing.GRAPH, "g", "k", 1, for_history)
    with pytest.raises(Invalid):
        values.history(g.me, sharing.GRAPH, "g", "k1", 1, for_history)


# ---- several at once


def test_several_values_change_together_or_not_at_all(g: World) -> None:
    put(g, "left", 10)
    put(g, "right", 0)
    move = (
        {"key": "left", "op": "increment", "value": -4, "version": 1},
        {"key": "right", "op": "increment", "value": 4},
    )
    assert [(c.key, c.value, c.version) for c in change(g, *move).items] == [("left", 6, 2), ("right", 4, 2)]
    before = g.items()
    for bad in (
        {"key": "left", "op": "increment", "value": -4, "version": 1},
        {"key": "left", "op": "append", "value": 1},
        {"key": "none", "op": "delete"},
        {"key": "left", "op": "put", "value": big("x", MAX_VALUE_BYTES)},
    ):
        with pytest.raises((VersionMismatch, Conflict, NotFound, TooLarge)):
            change(g, {"key": "right", "op": "increment", "value": 4}, {"key": "new", "op": "put", "value": 1}, bad)
        assert g.items() == before


def test_25_values_of_any_size_fit_one_change(g: World) -> None:
    """25 that stand on their items, over 25 others, are more than the 4 MB that a transaction holds."""
    for letter in ("x", "y"):
        for i in range(25):
            put(g, f"k{i:02}", [big(letter, 95_000)])
    sizes: list[int] = []

    def weigh(_: str, arguments: Any, call: faults.Call) -> Any:
        sizes.append(sum(item_bytes(part["Put"]["Item"]) for part in arguments["TransactItems"]))
        return call()

    g.faults.arm(1, weigh)
    changed = change(g, *({"key": f"k{i:02}", "op": "append", "value": i} for i in range(25))).items
    assert 2_500_000 < sizes[0] < 4_000_000
    assert [c.version for c in changed] == [3] * 25
    assert [c.left_out for c in changed].count(True) == 15
    assert all(get(g, f"k{i:02}").value == [big("y", 95_000), i] for i in (0, 12, 24))
    assert not broken(g.items())


# ---- no lost update


def rival(w: World, times: int = 1, by: int = 1) -> faults.Fault:
    """Another writer is faster, right before this call's write."""

    def fault(name: str, arguments: Any, call: faults.Call) -> Any:
        for _ in range(times):
            patch(w, "increment", "n", by, by=w.principal("bob"))
        return faults.meanwhile(lambda: None)(name, arguments, call)

    return fault


def test_a_change_that_meets_another_one_is_computed_anew(g: World) -> None:
    put(g, "n", 0)
    g.faults.arm(1, rival(g, by=10))
    assert patch(g, "increment", "n", 1).value == 11
    assert not broken(g.items())


@pytest.mark.parametrize("others", [1, 3, KEPT_VERSIONS - 1])
def test_a_change_whose_reply_is_lost_is_made_once_whoever_comes_after_it(g: World, others: int) -> None:
    """Its own version is history by then, and the history tells whose it was."""
    put(g, "n", 0)

    def lost_then_overtaken(_: str, __: Any, call: faults.Call) -> Any:
        call()
        for _i in range(others):
            patch(g, "increment", "n", 10, by=g.principal("bob"))
        raise faults.ConnectionClosedError(endpoint_url="https://dynamodb")

    g.faults.arm(1, lost_then_overtaken)
    assert patch(g, "increment", "n", 1).value == 1
    assert get(g, "n").value == 1 + 10 * others


def test_a_delete_whose_reply_is_lost_takes_nothing_that_came_after_it(g: World) -> None:
    put(g, "n", 7)

    def lost_then_made_again(_: str, __: Any, call: faults.Call) -> Any:
        call()
        put(g, "n", 100)
        raise faults.ConnectionClosedError(endpoint_url="https://dynamodb")

    g.faults.arm(1, lost_then_made_again)
    remove(g, "n")
    assert (get(g, "n").value, get(g, "n").version) == (100, 3)


def test_two_first_values_at_once_are_both_there(g: World) -> None:
    g.faults.arm(1, faults.meanwhile(lambda: put(g, "b", 2)))
    put(g, "a", 1)
    assert listed(g) == {"a": 1, "b": 2}
    assert not broken(g.items())


def test_an_object_that_was_written_for_nothing_goes(g: World) -> None:
    put(g, "n", 0)
    put(g, "l", [])
    g.faults.arm(1, rival(g))
    change(g, {"key": "n", "op": "increment", "value": 1}, {"key": "l", "op": "append", "value": big("x")})
    assert len(g.objects()) == 1
    g.faults.arm(1, faults.meanwhile(lambda: put(g, "n", "text")))
    with pytest.raises(Conflict):
        change(g, {"key": "n", "op": "increment", "value": 1}, {"key": "l", "op": "put", "value": big("y")})
    assert len(g.objects()) == 1


def test_who_is_never_fast_enough_is_told_that_nothing_was_changed(g: World) -> None:
    put(g, "n", 0)
    g.faults.arm_every(rival(g))
    with pytest.raises(Unavailable, match="nothing was changed"):
        patch(g, "increment", "n", 1000)
    g.faults.disarm()
    assert 0 < get(g, "n").value < 1000


@pytest.mark.parametrize(("writers", "each"), [(2, 500), pytest.param(8, 125, marks=pytest.mark.race)])
def test_writers_at_once_lose_no_update(writers: int, each: int) -> None:
    with build_local() as local:
        values, w = local.slate.values, _Threads(local.slate)
        values.put(w.me, sharing.GRAPH, "g", "log", PutValue(value=[]), None)

        def write(writer: int) -> None:
            for i in range(each):
                patch(w, "increment", "n", 1)  # type: ignore[arg-type]
                if i % 10 == 0:
                    patch(w, "append", "log", [writer, i])  # type: ignore[arg-type]

        with ThreadPoolExecutor(writers) as pool:
            list(pool.map(write, range(writers)))
        n, log = (values.get(w.me, sharing.GRAPH, "g", key) for key in ("n", "log"))
    assert (n.value, n.version) == (writers * each, writers * each)
    assert sorted(log.value) == [[writer, i] for writer in range(writers) for i in range(0, each, 10)]


class _Threads:
    """As much of a world as threads may share."""

    def __init__(self, slate: Any) -> None:
        self.slate = slate
        self.me = World.principal(self)  # type: ignore[arg-type]
        World.graph(self, task("a"))  # type: ignore[arg-type]


# ---- under an Idempotency-Key


def test_an_increment_under_a_key_happens_once(g: World) -> None:
    first = patch(g, "increment", "n", 2, once="k")
    patch(g, "increment", "n", 10)
    assert patch(g, "increment", "n", 2, once="k") == first
    assert get(g, "n").value == 12
    with pytest.raises(Invalid, match="another request"):
        patch(g, "increment", "n", 3, once="k")


def test_an_increment_under_a_key_happens_once_though_the_first_process_died(g: World) -> None:
    """It died after the change and before it could be remembered; many others have written since."""
    put(g, "n", 0)
    g.faults.kill_after(2)
    with pytest.raises(faults.Killed):
        patch(g, "increment", "n", 1, once="k")
    g.faults.disarm()
    for _ in range(3 * KEPT_VERSIONS):
        patch(g, "increment", "n", 100)
    g.clock.advance(31)
    again = patch(g, "increment", "n", 1, once="k")
    assert (again.version, again.left_out) == (2, True), "the version that it made is not kept any more"
    assert get(g, "n").value == 1 + 100 * 3 * KEPT_VERSIONS


@pytest.mark.parametrize(
    "once",
    [
        {"key": "n", "op": "put", "value": 1, "version": 1},
        {"key": "n", "op": "delete"},
        {"key": "n", "op": "put", "value": "no number"},
    ],
)
def test_a_change_under_a_key_is_known_again_though_it_does_not_fit_what_it_made(
    g: World, once: dict[str, Any]
) -> None:
    put(g, "n", 0)
    changes = (once, {"key": "m", "op": "increment", "value": 1, "version": 0})
    g.faults.kill_after(2)
    with pytest.raises(faults.Killed):
        change(g, *changes, once="k")
    g.faults.disarm()
    g.clock.advance(31)
    again = change(g, *changes, once="k").items
    assert [(c.key, c.version, c.deleted) for c in again] == [("n", 2, once["op"] == "delete"), ("m", 1, False)]
    assert get(g, "m").value == 1


# ---- with a completion

COUNT = {"key": "n", "op": "increment", "value": 1}


def test_a_completion_and_its_values_are_made_together_and_once(g: World) -> None:
    put(g, "n", 1)
    claim = g.claim()
    done = g.complete(claim, values=(COUNT, {"key": "new", "op": "put", "value": big("x")}))
    assert (done.state, get(g, "n").value, get(g, "new").value) == ("DONE", 2, big("x"))
    assert (get(g, "n").updated_by, get(g, "n").version) == ("ann", 2)
    put(g, "n", "no number any more")
    assert g.complete(claim, values=(COUNT,)) == done
    assert get(g, "n").value == "no number any more"
    assert not broken(g.items())


@pytest.mark.parametrize(
    "bad",
    [
        {"key": "n", "op": "put", "value": 9, "version": 77},
        {"key": "n", "op": "append", "value": 9},
        {"key": "none", "op": "delete"},
        {"key": "n", "op": "put", "value": big("x", MAX_VALUE_BYTES)},
    ],
)
@pytest.mark.parametrize("result", ["ok", big("r", 10_000)])
def test_values_that_cannot_be_changed_leave_the_task_running(g: World, bad: dict[str, Any], result: str) -> None:
    put(g, "n", 1)
    claim = g.claim()
    before = g.items()
    with pytest.raises((VersionMismatch, Conflict, NotFound, TooLarge)):
        g.complete(claim, result, values=({"key": "other", "op": "put", "value": 1}, bad))
    assert g.items() == before
    assert g.complete(claim, result).state == "DONE"


def test_a_task_that_is_no_longer_held_changes_no_value(g: World) -> None:
    put(g, "n", 1)
    claim = g.claim()
    g.clock.advance(61)
    g.sweep()
    bobs = g.claim(g.principal("bob"))
    with pytest.raises(LeaseLost):
        g.complete(claim, values=(COUNT, {"key": "new", "op": "put", "value": big("x")}))
    g.cancel("a")
    with pytest.raises(AlreadyTerminal):
        g.complete(bobs, by=g.principal("bob"), values=(COUNT,))
    assert (listed(g), g.objects()) == ({"n": 1}, [])


def test_a_completion_whose_value_moves_meanwhile_is_made_on_the_new_one(g: World) -> None:
    put(g, "n", 1)
    claim = g.claim()
    g.faults.arm(1, rival(g, by=10))
    assert g.complete(claim, values=(COUNT, {"key": "new", "op": "put", "value": big("x")})).state == "DONE"
    assert (get(g, "n").value, get(g, "new").value) == (12, big("x"))
    assert len(g.objects()) == 1, "the first try's object went"


def test_a_task_that_is_lost_meanwhile_takes_its_values_with_it(g: World) -> None:
    put(g, "n", 1)
    claim = g.claim()
    g.faults.arm(1, faults.meanwhile(lambda: g.cancel("a")))
    with pytest.raises(AlreadyTerminal):
        g.complete(claim, values=(COUNT, {"key": "new", "op": "put", "value": big("x")}))
    assert listed(g) == {"n": 1}


def test_a_completion_guessed_wrongly_changes_its_values_once(g: World) -> None:
    claim = g.claim()
    g.add(task("b", "a"))
    assert g.complete(claim, values=(COUNT,)).unlocked == ("b",)
    assert get(g, "n").value == 1


# ---- the graph's end


def test_values_of_a_cancelled_graph_can_be_read_and_no_longer_be_changed(g: World) -> None:
    put(g, "n", 1)
    g.cancel_graph()
    assert get(g, "n").value == 1
    for write in (
        lambda: put(g, "n", 2),
        lambda: patch(g, "increment", "n", 1),
        lambda: remove(g, "n"),
        lambda: change(g, COUNT),
    ):
        with pytest.raises(Conflict, match="CANCELL"):
            write()


def test_a_planner_may_write_values_before_the_graph_is_whole(w: World) -> None:
    w.graph(task("a"), more=True)
    put(w, "n", 1)
    w.add(task("b"))
    assert get(w, "n").value == 1


def test_a_deleted_graphs_values_go_with_it_and_none_comes_after(g: World) -> None:
    claim = g.claim()
    for i in range(3):
        put(g, "v", big("x") + str(i))
    g.delete_graph()
    for use in (lambda: get(g, "v"), lambda: put(g, "v", 1), lambda: listed(g)):
        with pytest.raises(NotFound):
            use()
    g.settle()
    assert not g.items()
    assert not g.objects()
    with pytest.raises(NotFound):
        g.complete(claim, values=({"key": "v", "op": "put", "value": big("x")},))
    assert not g.objects()


@pytest.mark.parametrize("there", [["v"], ["other"], []])
@pytest.mark.parametrize("when", ["deleted", "removed"])
def test_a_write_that_meets_the_graphs_deletion_leaves_nothing(g: World, there: list[str], when: str) -> None:
    """Another process saw the graph a moment ago, and its write arrives while it is deleted, or long after."""
    for key in there:
        put(g, key, 1)

    def delete() -> None:
        g.delete_graph()
        if when == "removed":
            g.settle()

    g.faults.arm(1, faults.meanwhile(delete))
    with pytest.raises(NotFound):
        put(g, "v", 2)
    g.faults.disarm()
    g.settle()
    assert not g.items()


def test_a_large_value_that_is_refused_for_the_graphs_sake_leaves_no_object(g: World) -> None:
    claim = g.claim()
    g.faults.arm(1, faults.meanwhile(g.cancel_graph), among=frozenset({"batch_get_item"}))
    with pytest.raises(Conflict, match="CANCELL"):
        put(g, "v", big("x"))
    g.faults.disarm()
    with pytest.raises(AlreadyTerminal):
        g.complete(claim, values=({"key": "v", "op": "put", "value": big("x")},))
    assert not g.objects()


def test_values_go_a_retention_after_the_last_task_has_ended(w: World) -> None:
    w.graph(task("a"), task("b", "a"), retention_days=3)
    put(w, "v", big("x"))
    put(w, "v", 2)
    w.complete(w.claim())
    w.clock.advance(5 * DAY)
    w.sweep()
    assert get(w, "v").value == 2, "a graph that runs keeps them"
    w.complete(w.claim())
    w.clock.advance(3 * DAY - 1)
    w.sweep()
    assert get(w, "v").value == 2
    w.clock.advance(2)
    w.sweep()
    assert (listed(w), w.objects()) == ({}, [])
    assert not [key for key in w.items() if key.sk.startswith("V")]
    assert not unsettled(w.items())
    assert w.states() == {"a": "DONE", "b": "DONE"}


def test_a_look_that_comes_too_soon_after_the_end_is_put_off(w: World) -> None:
    w.graph(task("a"), task("b"), retention_days=3)
    put(w, "v", 1)
    first, last = w.claims(max=2, lease_seconds=DAY)
    w.complete(first)
    w.clock.advance(DAY // 2)
    w.complete(last)
    w.clock.advance(3 * DAY - 1)
    w.sweep()
    assert listed(w) == {"v": 1}
    w.clock.advance(2)
    w.sweep()
    assert listed(w) == {}


def test_a_graph_that_goes_on_keeps_its_values(g: World) -> None:
    put(g, "v", 1)
    g.complete(g.claim())
    g.clock.advance(WEEK - 10)
    g.sweep()
    g.add(task("b"))
    g.clock.advance(WEEK)
    g.sweep()
    assert get(g, "v").value == 1
    g.complete(g.claim())
    g.clock.advance(WEEK + 1)
    g.sweep()
    assert listed(g) == {}


def test_values_of_a_cancelled_graph_go_a_retention_later(g: World) -> None:
    put(g, "v", 1)
    g.cancel_graph()
    g.sweep()
    g.clock.advance(120)
    g.sweep()
    g.clock.advance(WEEK - 1)
    g.sweep()
    assert listed(g) == {"v": 1}
    g.clock.advance(2)
    g.sweep()
    assert listed(g) == {}


def test_a_value_first_written_after_the_end_is_kept_as_long(g: World) -> None:
    g.complete(g.claim())
    g.clock.advance(30 * DAY)
    put(g, "v", 1)
    g.clock.advance(WEEK - 1)
    g.sweep()
    assert listed(g) == {"v": 1}
    g.clock.advance(2)
    g.sweep()
    assert listed(g) == {}
    assert put(g, "v", 2).version == 1, "nothing remembers it"


def test_a_value_that_is_new_while_the_others_go_is_refused_and_not_forgotten(g: World) -> None:
    put(g, "v", 1)
    g.complete(g.claim())
    g.clock.advance(WEEK + 1)
    refused: list[Exception] = []

    def write() -> None:
        try:
            put(g, "new", 2)
        except Unavailable as error:
            refused.append(error)

    g.faults.arm(2, faults.meanwhile(write))
    g.sweep()
    g.faults.disarm()
    assert len(refused) == 1
    assert listed(g) == {}
    put(g, "new", 2)
    assert not broken(g.items())


def test_a_new_value_whose_write_meets_the_others_going_is_refused(g: World) -> None:
    """It was read a moment before they went."""
    put(g, "v", 1)
    mark = Change().set(going=True).on(values_key(graph_pk(TENANT, "g")), "attribute_exists(#pk)")
    g.faults.arm(1, faults.meanwhile(lambda: g.storage.calls.write(TENANT, mark)))
    with pytest.raises(Unavailable):
        put(g, "new", 2)
    assert listed(g) == {"v": 1}


# ---- who


def test_another_tenants_graph_of_the_same_name_has_values_of_its_own(g: World) -> None:
    eve = g.principal("eve", tenant="globex")
    put(g, "v", 1)
    with pytest.raises(NotFound):
        get(g, "v", eve)
    g.graph(task("a"), by=eve)
    with pytest.raises(NotFound):
        get(g, "v", eve)


def test_every_item_of_a_persons_values_is_found_by_the_person(worlds: Callable[..., World]) -> None:
    w = worlds()
    w.graph(task("a"), subject="maria")
    for i in range(3):
        patch(w, "append", "v", big("x") + str(i), once=f"k{i}")
    remove(w, "v")
    put(w, "v", 1)
    ref = w.storage.codec.keyring.ref(TENANT, "maria")
    items = [item for key, item in w.items().items() if key.sk.startswith("V")]
    assert len(items) > 5
    assert {item.get("subject_pk") for item in items} == {f"{TENANT}#{ref}"}
    assert not broken(w.items())
