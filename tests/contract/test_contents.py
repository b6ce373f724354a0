"""Content of any size is read as it was written, by whoever writes last, and goes with its graph."""

from __future__ import annotations

import pytest

from contract.invariants import broken
from contract.world import World, task
from slate.domain.errors import AlreadyTerminal, Conflict, LeaseLost, NotFound, TooLarge
from slate.service.tasks.bounds import SAID_BYTES

SIZES = (0, 2_000, 2_100, 8_100, 8_300, 102_000, 103_000, 900_000)


def text(size: int) -> str:
    return "€" * (size // 3)


@pytest.mark.parametrize("size", SIZES)
def test_inputs_and_results_of_any_size_are_read_as_they_were_written(w: World, size: int) -> None:
    given, made = {"order": text(size)}, {"refund": text(size)}
    w.graph(task("a", input=given), task("b", "a"))
    claim = w.claim()
    assert claim.task.input == given
    done = w.complete(claim, made, artifacts=[text(size // 2)])
    assert (done.result, done.artifacts, done.unlocked) == (made, (text(size // 2),), ("b",))
    assert w.complete(claim, made).result == made
    assert (w.task("a").input, w.task("a").result) == (given, made)
    assert not broken(w.items())


def test_a_task_stays_small_whatever_is_said_about_it(w: World) -> None:
    w.graph(task("a", input=text(300_000)))
    w.complete(w.claim(), text(300_000))
    stored = sum(len(value) for value in w.item("a").values() if isinstance(value, bytes | str))
    assert stored < 4_000


def test_asking_for_the_same_graph_again_leaves_its_large_content_readable(w: World) -> None:
    specs = (task("a", input=text(200_000)), task("b", "a"))
    w.graph(*specs)
    w.graph(*specs)
    assert w.task("a").input == text(200_000)


def test_a_refused_graph_of_the_same_id_leaves_the_large_content_readable(w: World) -> None:
    w.graph(task("a", input=text(200_000)))
    with pytest.raises(Conflict):
        w.graph(task("a", input="X" * 200_000))
    assert w.task("a").input == text(200_000)


def test_completing_again_with_another_large_result_changes_nothing(w: World) -> None:
    w.graph(task("a"))
    claim = w.claim()
    w.complete(claim, text(200_000))
    assert w.complete(claim, "X" * 200_000).result == text(200_000)
    assert w.task("a").result == text(200_000)


def test_a_zombies_large_result_replaces_nothing(w: World) -> None:
    w.graph(task("a"))
    zombie, bob = w.claim(), w.principal("bob")
    w.clock.advance(61)
    w.sweep()
    w.complete(w.claim(bob), text(200_000), by=bob)
    before = w.objects()
    with pytest.raises(LeaseLost):
        w.complete(zombie, "X" * 200_000)
    assert w.task("a").result == text(200_000)
    assert w.objects() == before


def test_a_deleted_graphs_content_goes_with_it_and_none_comes_after(w: World) -> None:
    w.graph(task("a", input=text(200_000)), task("b", input=text(5_000)))
    claims = {c.task.task_id: c for c in w.claims(max=2)}
    w.complete(claims["a"], text(200_000))
    assert w.objects()
    w.delete_graph()
    w.settle()
    assert not w.items()
    with pytest.raises(NotFound):
        w.complete(claims["b"], text(200_000))
    assert not w.objects()


def test_a_cancelled_tasks_large_result_is_refused_before_it_is_stored(w: World) -> None:
    w.graph(task("a"))
    claim = w.claim()
    w.cancel("a")
    with pytest.raises(AlreadyTerminal):
        w.complete(claim, text(200_000))
    assert not w.objects()


def test_what_is_said_beside_the_result_is_bounded_and_the_refusal_changes_nothing(w: World) -> None:
    w.graph(task("a"), task("q"))
    claims = {c.task.task_id: c for c in w.claims(max=2)}
    w.wait(claims["q"])
    before, long = w.items(), "x" * SAID_BYTES
    for say in (
        lambda: w.fail(claims["a"], long),
        lambda: w.wait(claims["a"], long),
        lambda: w.heartbeat(claims["a"], progress=long),
        lambda: w.resume("q", long),
    ):
        with pytest.raises(TooLarge):
            say()
    assert w.items() == before


def test_a_task_holds_all_that_may_be_said_about_it_at_once(w: World) -> None:
    """The longest of everything still fits the 400 KB of an item."""
    most, parents = "x" * (SAID_BYTES - 2), [f"p{i:0127}" for i in range(96)]
    w.graph(*(task(p, role="other") for p in parents), task("a", *parents, title="€" * 2_000, input="x" * 2_000))
    for claim in w.claims(roles=("other",), max=96):
        w.complete(claim)
    for _ in range(2):
        asked = w.claim()
        w.heartbeat(asked, progress=most)
        w.wait(asked, most)
        w.resume("a", most)
    claim = w.claim()
    w.heartbeat(claim, progress=most)
    assert w.fail(claim, most).state == "DELAYED"
    w.settle()
    assert w.complete(w.claim(), "x" * 8_000).state == "DONE"
