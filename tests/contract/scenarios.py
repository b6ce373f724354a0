"""Every call Slate offers, each set up so that nothing but the call itself is left to do.

A scenario prepares a world and answers the call under test; tests make that call go wrong at each of its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from contract import sharing
from contract.faults import Killed
from contract.world import DAY, TENANT, World, after, task
from slate.contract.access import CreateKey
from slate.contract.tasks import AddTasks, CreateGraph
from slate.domain.access import Scope
from slate.domain.errors import SlateError

Act = Callable[[], Any]
Scenario = Callable[[World], Act]
SCENARIOS: Final[dict[str, Scenario]] = {}
SWEEPS: Final[dict[str, Scenario]] = {}
"""What only the sweeper does: it answers nobody."""
NOT_REPEATED: Final = {
    "claim",
    "claim_for_a_subject",
    "claim_several",
    "delete",
    "key_create",
    "key_create_under_a_key",
    "lock_acquire",
    "lock_take_over",
    "value_delete",
    "value_first",
    "value_increment",
    "value_over_another",
    "values_together",
}
"""A second call of these is another call: nothing tells it from the first, or (a new key) its secret was lost."""


def scenario(prepare: Scenario) -> Scenario:
    (SWEEPS if prepare.__name__.startswith("sweep_") else SCENARIOS)[prepare.__name__] = prepare
    return prepare


# ---- planners


@scenario
def create(w: World) -> Act:
    return lambda: w.graph(task("a", input="x" * 3_000), task("b", "a"), task("c", "a", "b"))


@scenario
def create_about_somebody(w: World) -> Act:
    return lambda: w.graph(task("a"), task("b", "a"), subject="maria")


@scenario
def create_again(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    return lambda: w.graph(task("a"), task("b", "a"))


@scenario
def create_under_a_key(w: World) -> Act:
    body = CreateGraph(graph_id="g", goal="a goal", tasks=(task("a"), task("b", "a")))
    return lambda: w.slate.planning.create(w.me, body, "key-1")[0]


@scenario
def create_taken_over_under_a_key(w: World) -> Act:
    """The first to try died half a minute ago."""
    body = CreateGraph(graph_id="g", goal="a goal", tasks=(task("a"), task("b", "a")))
    die(w, 1, lambda: w.slate.planning.create(w.me, body, "key-1"))
    w.clock.advance(31)
    return lambda: w.slate.planning.create(w.me, body, "key-1")[0]


@scenario
def create_first_part(w: World) -> Act:
    return lambda: w.graph(task("a"), task("b", "a"), more=True)


@scenario
def create_in_parts(w: World) -> Act:
    w.graph(task("a"), task("b", "a"), more=True)
    return lambda: w.add(task("c"), task("d", "a", "b"), task("e", "d", input="x" * 3_000))


@scenario
def create_large(w: World) -> Act:
    return lambda: w.graph(task("a", input="x" * 150_000), task("b", "a"))


@scenario
def add(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    w.complete(w.claim())
    return lambda: w.add(task("c", "a", "b"), task("d", "c"), task("e", after("b"), input="x" * 3_000))


@scenario
def add_under_a_key(w: World) -> Act:
    w.graph(task("a"))
    body = AddTasks(tasks=(task("b", "a"),))
    return lambda: w.slate.planning.add(w.me, "g", body, "key-2")


@scenario
def add_under_the_failed(w: World) -> Act:
    w.graph(task("a"))
    w.fail(w.claim(), retryable=False)
    return lambda: w.add(task("b", "a"), task("c", "b"), task("d", after("b")), task("e", after("a")))


@scenario
def add_with_many_parents(w: World) -> Act:
    """Through the port, which takes a task of any size; the service takes this way above 48 parents."""
    w.graph(*(task(p) for p in "abcd"))
    for claim in w.claims(max=3):
        if claim.task.task_id == "a":
            w.complete(claim)
        elif claim.task.task_id == "b":
            w.fail(claim, retryable=False)
    spec = task("z", "a", after("b"), "c", "d", input="x" * 3_000)
    return lambda: w.graphs.add_in_parts(TENANT, w.graphs.head(TENANT, "g"), spec)


@scenario
def add_with_many_parents_one_failed(w: World) -> Act:
    w.graph(*(task(p) for p in "abc"))
    for claim in w.claims(max=3):
        if claim.task.task_id == "b":
            w.fail(claim, retryable=False)
    return lambda: w.graphs.add_in_parts(TENANT, w.graphs.head(TENANT, "g"), task("z", "a", "b", "c"))


@scenario
def graph_cancel(w: World) -> Act:
    w.graph(task("a"), task("b", "a"), task("c", after("b")), task("d"))
    w.claims(max=1)
    return w.cancel_graph


@scenario
def graph_cancel_while_creating(w: World) -> Act:
    w.graph(task("a"), task("b", "a"), more=True)
    return w.cancel_graph


@scenario
def delete(w: World) -> Act:
    w.graph(task("a", input="x" * 3_000), task("b", "a"))
    w.complete(w.claim(), "x" * 10_000)
    return w.delete_graph


# ---- workers


@scenario
def claim(w: World) -> Act:
    w.graph(task("a"))
    return w.claim


@scenario
def claim_for_a_subject(w: World) -> Act:
    w.graph(task("a"), graph_id="other")
    w.graph(task("b"), subject="maria")
    return lambda: w.claim(w.principal(subject="maria"))


@scenario
def claim_several(w: World) -> Act:
    w.graph(task("a"), task("b"), task("c", priority=9))
    return lambda: w.claims(max=2)


@scenario
def claim_under_a_key(w: World) -> Act:
    w.graph(task("a"), task("b"))
    return lambda: w.claims(key="key-3")


@scenario
def heartbeat(w: World) -> Act:
    w.graph(task("a"))
    claim = w.claim()
    w.clock.advance(10)
    return lambda: w.heartbeat(claim, progress="half way")


@scenario
def heartbeat_shorter(w: World) -> Act:
    w.graph(task("a", lease_seconds=600))
    claim = w.claim()
    return lambda: w.heartbeat(claim, progress="half way", lease_seconds=5)


@scenario
def heartbeat_after_cancel(w: World) -> Act:
    w.graph(task("a"))
    claim = w.claim()
    w.cancel("a")
    return lambda: w.heartbeat(claim)


@scenario
def complete(w: World) -> Act:
    w.graph(task("a"))
    claim = w.claim()
    return lambda: w.complete(claim)


@scenario
def complete_and_free(w: World) -> Act:
    w.graph(task("a"), task("b", "a"), task("c", "a", "b"), task("d", after("a")))
    claim = w.claim()
    return lambda: w.complete(claim)


@scenario
def complete_wrongly_guessed(w: World) -> Act:
    """Somebody came to wait for it after the claim, so the token's guess is wrong."""
    w.graph(task("a"))
    claim = w.claim()
    w.add(task("b", "a"))
    return lambda: w.complete(claim)


@scenario
def complete_large(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    claim = w.claim()
    return lambda: w.complete(claim, "x" * 10_000)


@scenario
def complete_huge(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    claim = w.claim()
    return lambda: w.complete(claim, "x" * 200_000)


@scenario
def salvage(w: World) -> Act:
    w.graph(task("a"))
    claim = w.claim()
    w.clock.advance(61)
    w.sweep()
    return lambda: w.complete(claim)


@scenario
def salvage_and_free(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    claim = w.claim()
    w.clock.advance(61)
    w.sweep()
    return lambda: w.complete(claim)


@scenario
def fail(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    claim = w.claim()
    return lambda: w.fail(claim)


@scenario
def fail_for_good(w: World) -> Act:
    w.graph(task("a"), task("b", "a"), task("c", "b"), task("d", after("a")), task("e", after("b")))
    claim = w.claim()
    return lambda: w.fail(claim, retryable=False)


@scenario
def fail_wrongly_guessed(w: World) -> Act:
    w.graph(task("a"))
    claim = w.claim()
    w.add(task("b", "a"), task("c", after("a")))
    return lambda: w.fail(claim, retryable=False)


@scenario
def wait(w: World) -> Act:
    w.graph(task("a"))
    claim = w.claim()
    return lambda: w.wait(claim)


@scenario
def release(w: World) -> Act:
    w.graph(task("a"))
    claim = w.claim()
    return lambda: w.release(claim)


@scenario
def release_with_long_history(w: World) -> Act:
    w.graph(task("a"))
    for _ in range(22):
        w.release(w.claim())
    claim = w.claim()
    return lambda: w.release(claim)


# ---- people


@scenario
def resume(w: World) -> Act:
    w.graph(task("a"))
    asked = w.wait(w.claim())
    return lambda: w.resume("a", "yes", asked.epoch)


@scenario
def approve(w: World) -> Act:
    w.graph(task("a", needs_approval=True))
    return lambda: w.resume("a", "yes", 0)


@scenario
def approve_before_the_parents(w: World) -> Act:
    w.graph(task("a"), task("b", "a", needs_approval=True))
    return lambda: w.resume("b", "yes", 0)


@scenario
def cancel(w: World) -> Act:
    w.graph(task("a"), task("b", "a"), task("c", "b"), task("d", after("b")))
    w.claim()
    return lambda: w.cancel("a")


@scenario
def retry(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    w.fail(w.claim(), retryable=False)
    return lambda: w.retry("a")


@scenario
def retry_blocked(w: World) -> Act:
    w.graph(task("a"), task("b", "a", needs_approval=True), task("c", "b"))
    w.cancel("b")
    return lambda: w.retry("b")


@scenario
def retry_with_cascade(w: World) -> Act:
    w.graph(task("a"), task("b", "a"), task("c", "a", "b"), task("d", "b", "c"), task("e", after("b")))
    w.fail(w.claim(), retryable=False)
    return lambda: w.retry("a", cascade=True)


@scenario
def retry_in_parts(w: World) -> Act:
    """Of a task whose add was never finished: its edges are still to be written."""
    w.graph(*(task(p, max_attempts=1) for p in "abc"))
    claims = {c.task.task_id: c for c in w.claims(max=3, lease_seconds=DAY)}
    w.complete(claims["a"])
    die(w, 3, lambda: w.graphs.add_in_parts(TENANT, w.graphs.head(TENANT, "g"), task("z", "a", "b", after("c"))))
    w.cancel("z")
    w.fail(claims["c"], retryable=False)
    return lambda: w.retry("z")


# ---- the sweeper


@scenario
def sweep_lapsed(w: World) -> Act:
    w.graph(task("a"), task("b"))
    w.claims(max=2)
    w.clock.advance(61)
    return w.sweep


@scenario
def sweep_exhausted(w: World) -> Act:
    w.graph(task("a", max_attempts=1), task("b", "a"), task("c", "b"), task("d", after("a")))
    w.claim()
    w.clock.advance(61)
    return w.sweep


@scenario
def sweep_extended(w: World) -> Act:
    w.graph(task("a"))
    claim = w.claim()
    w.clock.advance(50)
    w.heartbeat(claim)
    w.clock.advance(20)
    return w.sweep


@scenario
def sweep_delayed(w: World) -> Act:
    w.graph(task("a"))
    w.fail(w.claim())
    w.clock.advance(60)
    return w.sweep


@scenario
def sweep_untold(w: World) -> Act:
    """Only the task's own end was written: none of its children was told."""
    w.graph(task("a"), task("b", "a"), task("c", "a"))
    claim = w.claim()
    die(w, 1, lambda: w.complete(claim))
    w.clock.advance(61)
    return w.sweep


@scenario
def sweep_unreleased(w: World) -> Act:
    """The graph was whole and ACTIVE, and its roots still on their hold."""
    w.graph(task("a"), task("b", "a"), more=True)
    head = w.graphs.head(TENANT, "g")
    w.graphs.activate(TENANT, head)
    return w.sweep


@scenario
def sweep_given_up(w: World) -> Act:
    w.graph(task("a"), task("b", "a"), more=True)
    w.clock.advance(DAY + 1)
    return w.sweep


@scenario
def sweep_last_of_cancel(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    w.cancel_graph()
    w.sweep()
    w.clock.advance(120)
    return w.sweep


@scenario
def sweep_last_of_delete(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    w.delete_graph()
    w.sweep()
    w.clock.advance(120)
    return w.sweep


# ---- keys


@scenario
def key_create(w: World) -> Act:
    body = CreateKey(agent="bob", scopes=(Scope.TASKS_READ,), subject="maria")
    return lambda: w.slate.access.create(w.me, body, None)


@scenario
def key_create_under_a_key(w: World) -> Act:
    body = CreateKey(agent="bob", scopes=(Scope.TASKS_READ,))
    return lambda: w.slate.access.create(w.me, body, "key-4")


@scenario
def key_revoke(w: World) -> Act:
    made = w.slate.access.create(w.me, CreateKey(agent="bob", scopes=(Scope.TASKS_READ,)), None)
    return lambda: w.slate.access.revoke(w.me, made.key_id)


# ---- values and locks


@scenario
def value_first(w: World) -> Act:
    w.graph(task("a"))
    return lambda: sharing.put(w, "v", {"n": 1})


@scenario
def value_over_another(w: World) -> Act:
    w.graph(task("a"))
    sharing.put(w, "v", "x" * 150_000)
    return lambda: sharing.put(w, "v", "y" * 150_000, 1)


@scenario
def value_increment(w: World) -> Act:
    w.graph(task("a"))
    sharing.put(w, "n", 1)
    return lambda: sharing.patch(w, "increment", "n", 2)


@scenario
def value_increment_under_a_key(w: World) -> Act:
    w.graph(task("a"))
    sharing.put(w, "n", 1)
    return lambda: sharing.patch(w, "increment", "n", 2, once="key-5")


@scenario
def value_delete(w: World) -> Act:
    w.graph(task("a"))
    for i in range(3):
        sharing.put(w, "v", [i])
    return lambda: sharing.remove(w, "v")


@scenario
def values_together(w: World) -> Act:
    w.graph(task("a"))
    sharing.put(w, "a", 1)
    sharing.put(w, "b", ["x"])
    return lambda: sharing.change(
        w,
        {"key": "a", "op": "increment", "value": 2, "version": 1},
        {"key": "b", "op": "delete"},
        {"key": "c", "op": "merge", "value": {"x": 1}},
    )


@scenario
def complete_with_values(w: World) -> Act:
    w.graph(task("a"), task("b", "a"))
    sharing.put(w, "n", 1)
    claim = w.claim()
    changes = ({"key": "n", "op": "increment", "value": 2}, {"key": "new", "op": "append", "value": "x" * 150_000})
    return lambda: w.complete(claim, "x" * 10_000, values=changes)


@scenario
def sweep_values_away(w: World) -> Act:
    w.graph(task("a"))
    sharing.put(w, "v", "x" * 150_000)
    sharing.put(w, "v", 2)
    w.complete(w.claim())
    w.clock.advance(7 * DAY + 1)
    return w.sweep


@scenario
def lock_acquire(w: World) -> Act:
    return lambda: sharing.acquire(w)


@scenario
def lock_take_over(w: World) -> Act:
    sharing.acquire(w)
    w.clock.advance(31)
    return lambda: sharing.acquire(w, by=w.principal("bob"))


@scenario
def lock_acquire_under_a_key(w: World) -> Act:
    return lambda: sharing.acquire(w, once="key-6")


@scenario
def lock_heartbeat(w: World) -> Act:
    held = sharing.acquire(w)
    w.clock.advance(10)
    return lambda: sharing.beat(w, held)


@scenario
def lock_release(w: World) -> Act:
    held = sharing.acquire(w)
    return lambda: sharing.free(w, held)


def die(w: World, writes: int, act: Act) -> None:
    """Run a call in a process that dies after so many writes, if it comes so far."""
    w.faults.kill_after(writes)
    with suppress(Killed, SlateError):
        act()
    w.faults.disarm()
