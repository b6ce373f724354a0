"""The steps whose cost is stated: each prepares a world and answers the call to be counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from contract import sharing
from contract.world import TENANT, World, many, task
from slate.adapters.dynamodb.calls import Item, to_wire
from slate.adapters.dynamodb.feed_store import DynamoFeedStore
from slate.adapters.dynamodb.keys import task_key
from slate.adapters.dynamodb.table import READY_SK
from slate.domain.errors import ClaimLost
from slate.domain.events import Step
from slate.domain.tasks import TaskSpec

Act = Callable[[], Any]
Prepare = Callable[[World], Act]

INPUT: Final = "x" * 430
"""With it a task's item comes close to 1 KB at the end of its life, and stays below."""
BATCH: Final = 25


def spec(task_id: str, *parents: str, **more: Any) -> TaskSpec:
    """A task of the size that the table is about."""
    return task(task_id, *parents, **{"input": INPUT, **more})


def claimed(prepare: Callable[[World, Any], Act], *specs: TaskSpec) -> Prepare:
    """A step on the first task, once it is claimed."""

    def ready(w: World) -> Act:
        w.graph(*(specs or (spec("a"),)))
        return prepare(w, w.claim())

    return ready


def claim_among(count: int) -> Prepare:
    """A claim while so many tasks of the role are ready."""

    def prepare(w: World) -> Act:
        w.graph(*map(spec, many("t", 30)))
        for requests in _in_batches(_copies(w, "t000", count - 30)):
            w.dynamodb.batch_write_item(RequestItems={w.settings.table: requests})
        return w.claim

    return prepare


def _copies(w: World, task_id: str, count: int) -> Iterator[Any]:
    """The items of more tasks like one that is there: written straight, since only claiming among them counts."""
    like = w.item(task_id)
    for name in many("u", count):
        item: Item = {**like, **task_key(TENANT, "g", name).attributes, READY_SK: like[READY_SK].replace(task_id, name)}
        yield {"PutRequest": {"Item": to_wire(item)}}


def _in_batches(requests: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := [request for request, _ in zip(requests, range(BATCH), strict=False)]:
        yield batch


def complete_over(count: int) -> Prepare:
    """A completion that makes so many children ready."""
    return claimed(lambda w, claim: lambda: w.complete(claim), spec("a"), *(spec(c, "a") for c in many("c", count)))


def _one_of_two_parents(w: World) -> Act:
    w.graph(spec("a"), spec("b"), *(spec(c, "a", "b") for c in many("c", 5)))
    claim = w.claim()
    return lambda: w.complete(claim)


def _last_of_two_parents(w: World) -> Act:
    _one_of_two_parents(w)()
    claim = w.claim()
    return lambda: w.complete(claim)


def _over_a_child_added_since(w: World) -> Act:
    w.graph(spec("a"))
    claim = w.claim()
    w.add(spec("b", "a"))
    return lambda: w.complete(claim)


def _late(w: World) -> Act:
    w.graph(spec("a"))
    claim = w.claim()
    w.clock.advance(61)
    w.sweep()
    return lambda: w.complete(claim)


def _answer(w: World) -> Act:
    w.graph(spec("a"))
    w.wait(w.claim())
    return lambda: w.resume("a")


def _approve(w: World) -> Act:
    w.graph(spec("a", needs_approval=True))
    return lambda: w.resume("a")


def _retry(w: World) -> Act:
    w.graph(spec("a"))
    w.fail(w.claim(), retryable=False)
    return lambda: w.retry("a")


def _cancel(w: World) -> Act:
    w.graph(spec("a"))
    return lambda: w.cancel("a")


def _fail_over_a_child(w: World) -> Act:
    w.graph(spec("a"), spec("b", "a"))
    claim = w.claim()
    return lambda: w.fail(claim, retryable=False)


def _add(w: World) -> Act:
    w.graph(spec("a"))
    return lambda: w.add(spec("b", "a"))


def create(count: int, parents: int = 0) -> Prepare:
    """A graph of so many roots and, where it has parents, one more task that waits for so many of them."""
    roots = many("t", count)
    specs = [*map(spec, roots), *([spec("join", *roots[:parents])] if parents else [])]
    return lambda w: lambda: w.graph(*specs)


def _look_at_graph(w: World) -> Act:
    w.graph(*map(spec, many("t", 90)))
    return lambda: w.slate.planning.get(w.me, "g")


def _look_at_task(w: World) -> Act:
    w.graph(spec("a"))
    return lambda: w.task("a")


def _rest_is_over(w: World) -> Act:
    w.graph(spec("a"))
    w.fail(w.claim())
    w.clock.advance(61)
    return w.sweep


def _lapse(w: World) -> Act:
    w.graph(spec("a"))
    w.claim()
    w.clock.advance(61)
    return w.sweep


def _lapse_after_heartbeat(w: World) -> Act:
    w.graph(spec("a"))
    claim = w.claim()
    w.clock.advance(30)
    w.heartbeat(claim)
    w.clock.advance(31)
    return w.sweep


def valued(change: Callable[[World], Any], *there: str) -> Prepare:
    """A step on values of a graph in which these are there already."""

    def prepare(w: World) -> Act:
        w.graph(spec("a"))
        for key in there:
            sharing.put(w, key, 1)
        return lambda: change(w)

    return prepare


def _complete_with_a_value(w: World) -> Act:
    w.graph(spec("a"))
    sharing.put(w, "n", 1)
    claim = w.claim()
    return lambda: w.complete(claim, values=({"key": "n", "op": "increment", "value": 1},))


def held(step: Callable[[World, Any], Any]) -> Prepare:
    """A step on a lock that is held."""

    def prepare(w: World) -> Act:
        lock = sharing.acquire(w)
        return lambda: step(w, lock)

    return prepare


def _acquire_in_vain(w: World) -> Act:
    sharing.acquire(w)

    def act() -> None:
        with suppress(ClaimLost):
            sharing.acquire(w)

    return act


def _fed(w: World, count: int) -> list[Step]:
    """A graph that its feed is up with, and what the stream then tells of so many claims."""
    w.graph(*map(spec, many("t", count)))
    _catch_up(w)
    w.claims(max=count)
    return _behind(w)


def _behind(w: World) -> list[Step]:
    seen = DynamoFeedStore(w.storage).overview(TENANT, "g")
    return [] if seen is None else list(seen.behind)


def _catch_up(w: World) -> None:
    w.slate.feeds.number(TENANT, "g", _behind(w))


def numbered(count: int) -> Prepare:
    """So many changes of as many tasks, in one batch."""

    def prepare(w: World) -> Act:
        steps = _fed(w, count)
        return lambda: w.slate.feeds.number(TENANT, "g", steps)

    return prepare


def _numbered_before(w: World) -> Act:
    steps = _fed(w, 1)
    _catch_up(w)
    return lambda: w.slate.feeds.number(TENANT, "g", steps)


def followed(after: int) -> Prepare:
    """A follower's call."""

    def prepare(w: World) -> Act:
        _fed(w, 49)
        _catch_up(w)
        return lambda: w.slate.following.read(w.me, "g", after, 1_000, 0)

    return prepare


TEN: Final = [f"k{i}" for i in range(10)]

STEPS: Final[Mapping[str, Prepare]] = {
    "read a value": valued(lambda w: sharing.get(w, "n"), "n"),
    "list 10 values": valued(lambda w: sharing.listed(w, limit=100), *TEN),
    "first value of a graph": valued(lambda w: sharing.put(w, "n", 1)),
    "new value": valued(lambda w: sharing.put(w, "n", 1), "other"),
    "put over a value, increment, append or merge": valued(lambda w: sharing.patch(w, "increment", "n", 1), "n"),
    "increment with Idempotency-Key": valued(lambda w: sharing.patch(w, "increment", "n", 1, once="k"), "n"),
    "change 10 values together": valued(
        lambda w: sharing.change(w, *({"key": key, "op": "increment", "value": 1} for key in TEN)), *TEN
    ),
    "delete a value": valued(lambda w: sharing.remove(w, "n"), "n"),
    "complete with a value, nobody waits": _complete_with_a_value,
    "acquire a lock": lambda w: lambda: sharing.acquire(w),
    "acquire a lock that another holds": _acquire_in_vain,
    "heartbeat of a lock": held(sharing.beat),
    "release a lock": held(sharing.free),
    "look at a lock": held(lambda w, _: sharing.look(w)),
    "number a change": numbered(1),
    "number 40 changes of one batch": numbered(40),
    "number a change that was numbered": _numbered_before,
    "follow, nothing new": followed(99),
    "follow, 99 entries": followed(0),
    "claim, 100 ready": claim_among(100),
    "claim, 10,000 ready": claim_among(10_000),
    "claim, none ready": lambda w: w.claims,
    "claim with Idempotency-Key": lambda w: (w.graph(spec("a")), lambda: w.claims(key="k"))[1],
    "heartbeat": claimed(lambda w, claim: lambda: w.heartbeat(claim)),
    "heartbeat with progress": claimed(lambda w, claim: lambda: w.heartbeat(claim, progress={"page": 3})),
    "complete, nobody waits": claimed(lambda w, claim: lambda: w.complete(claim)),
    "complete, 1 child": complete_over(1),
    "complete, 5 children": complete_over(5),
    "complete, 20 children": complete_over(20),
    "complete, 5 children that wait for more": _one_of_two_parents,
    "complete, 5 children, last of 2 parents": _last_of_two_parents,
    "complete, child added since the claim": _over_a_child_added_since,
    "complete, late and nobody reclaimed": _late,
    "complete, result of 10 KB": claimed(lambda w, claim: lambda: w.complete(claim, "x" * 10_000)),
    "fail, to be tried again": claimed(lambda w, claim: lambda: w.fail(claim)),
    "fail for good, nobody waits": claimed(lambda w, claim: lambda: w.fail(claim, retryable=False)),
    "fail for good, 1 child cancelled": _fail_over_a_child,
    "wait": claimed(lambda w, claim: lambda: w.wait(claim)),
    "release": claimed(lambda w, claim: lambda: w.release(claim)),
    "resume": _answer,
    "resume, an approval": _approve,
    "retry": _retry,
    "cancel": _cancel,
    "get a task": _look_at_task,
    "get a graph, 90 tasks": _look_at_graph,
    "add a task with 1 parent": _add,
    "create, 1 task": create(1),
    "create, 11 tasks": create(11),
    "create, 10 tasks and a join of 2": create(10, 2),
    "create, 10 tasks and a join of 10": create(10, 10),
    "create in parts, 200 tasks": create(200),
    "create in parts, 300 tasks": create(300),
    "poll, nothing due": lambda w: w.sweep,
    "poll, a lapsed lease": _lapse,
    "poll, a lease extended by heartbeat": _lapse_after_heartbeat,
    "poll, a rest over": _rest_is_over,
}
