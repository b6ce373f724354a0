"""Small graphs under random workers, people, faults, deaths and clocks: the laws hold at every step, every task ends.

A step may be hit by trouble: its reply is lost, it meets a conflict, its process dies, or another step happens whole
between two of its calls. ``make race`` runs many more of these than the ordinary tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contract import faults
from contract.faults import Killed
from contract.invariants import broken, unsettled
from contract.world import DAY, TENANT, World, all_ended, task
from slate.adapters.dynamodb.calls import Item
from slate.domain.errors import SlateError
from slate.domain.leases import Claim
from slate.domain.tasks import TaskSpec

ANY_CALL: Final = faults.READS | faults.WRITES


class Step(NamedTuple):
    """Something somebody does, to whatever ``pick`` points at when its turn comes."""

    do: str
    pick: int


class Trouble(NamedTuple):
    """What goes wrong with a step, and at which of its calls."""

    kind: str
    at: int
    other: Step


class Crowd:
    """Everybody who works on one graph, and what must be true of it whatever they do."""

    def __init__(self, w: World, specs: list[TaskSpec], *, parts: bool) -> None:
        self.w = w
        self.specs = specs
        self.claims: list[Claim] = []
        self.seen: dict[str, Item] = {}
        w.graph(*specs, more=parts)

    def run(self, step: Step, trouble: Trouble | None) -> None:
        """One step under its trouble; a refusal is as good as an answer, any other error is not."""
        fault = None if trouble is None else self._fault(trouble)
        if trouble is not None and fault is not None:
            among = ANY_CALL if trouble.kind == "meanwhile" else faults.WRITES
            self.w.faults.arm(trouble.at, fault, among=among)
        elif trouble is not None:
            self.w.faults.kill_after(trouble.at - 1)
        try:
            self._act(step)
        except Killed:
            pass
        finally:
            self.w.faults.disarm()
        retried = "retry" in step.do or (trouble is not None and "retry" in trouble.other.do)
        self.check(retried=retried)

    def _fault(self, trouble: Trouble) -> faults.Fault | None:
        plain = {"reply lost": faults.reply_lost, "conflict": faults.conflict, "throttled": faults.throttled}
        if trouble.kind == "meanwhile":
            return faults.meanwhile(lambda: self._act(trouble.other))
        return plain.get(trouble.kind)

    def _act(self, step: Step) -> None:
        try:
            DOES[step.do](self, step.pick)
        except SlateError:
            return

    def check(self, *, retried: bool) -> None:
        """The laws of the items as they stand, and of how they came here from where they stood."""
        items = self.w.items()
        assert not broken(items)
        tasks = {key.sk: item for key, item in items.items() if key.sk.startswith("T#")}
        for sk, item in tasks.items():
            before = self.seen.get(sk, item)
            assert item["epoch"] >= before["epoch"], f"{sk}: its epoch went back"
            if before["state"] == "DONE":
                assert (item["state"], item["outcome"]) == ("DONE", before["outcome"]), f"{sk}: DONE was left"
            if before["state"] in ("FAILED", "CANCELLED") and item["state"] != before["state"]:
                assert retried, f"{sk}: {before['state']} was left without a retry"
            if item["state"] == "DONE":
                assert self.w.task(sk[2:]).result == item["epoch"], f"{sk}: the result is another epoch's"
        self.seen = tasks
        held = [(c.task.task_id, c.epoch) for c in self.claims]
        assert len(held) == len(set(held)), "two hold one task under one epoch"

    # ---- what anybody may do

    def claim(self, pick: int) -> None:
        self.claims += self.w.claims(self.w.principal("ann" if pick % 2 else "bob"), max=1 + pick % 2)

    def with_claim(self, pick: int, do: Callable[[Claim], object]) -> None:
        """Any claim there ever was: most of them are zombies'."""
        if self.claims:
            do(self.claims[-1 - pick % len(self.claims)])

    def with_task(self, pick: int, do: Callable[[str], object]) -> None:
        do(self.specs[pick % len(self.specs)].task_id)

    def add(self, pick: int, *, in_parts: bool = False) -> None:
        parents = {spec.task_id for i, spec in enumerate(self.specs) if i % 3 == pick % 3}
        edges: list[Any] = [{"task_id": p, "kind": ("success", "completion")[pick % 2]} for p in sorted(parents)]
        spec = task(f"n{len(self.specs)}", *edges, max_attempts=1, lease_seconds=10)
        self.specs.append(spec)
        if in_parts:
            self.w.graphs.add_in_parts(TENANT, self.w.graphs.head(TENANT, "g"), spec)
        else:
            self.w.add(spec)

    def again(self, _: int) -> None:
        """The same add once more, as after an error."""
        self.w.add(self.specs[-1])

    def pass_time(self, pick: int) -> None:
        self.w.clock.advance((1, 11, 100, DAY + 1)[pick % 4])


DOES: Final[dict[str, Callable[[Crowd, int], object]]] = {
    "claim": Crowd.claim,
    "heartbeat": lambda c, n: c.with_claim(n, lambda claim: c.w.heartbeat(claim, progress=n)),
    "complete": lambda c, n: c.with_claim(n, lambda claim: c.w.complete(claim, claim.epoch)),
    "fail": lambda c, n: c.with_claim(n, c.w.fail),
    "fail for good": lambda c, n: c.with_claim(n, lambda claim: c.w.fail(claim, retryable=False)),
    "wait": lambda c, n: c.with_claim(n, c.w.wait),
    "release": lambda c, n: c.with_claim(n, c.w.release),
    "resume": lambda c, n: c.with_task(n, c.w.resume),
    "cancel": lambda c, n: c.with_task(n, c.w.cancel),
    "retry": lambda c, n: c.with_task(n, c.w.retry),
    "retry with cascade": lambda c, n: c.with_task(n, lambda t: c.w.retry(t, cascade=True)),
    "last part": lambda c, _: c.w.add(),
    "add": Crowd.add,
    "add in parts": lambda c, n: c.add(n, in_parts=True),
    "add again": Crowd.again,
    "pass time": Crowd.pass_time,
    "sweep": lambda c, _: c.w.sweep(),
    "cancel the graph": lambda c, _: c.w.cancel_graph(),
    "delete the graph": lambda c, _: c.w.delete_graph(),
}
# Work is commoner than its end: most graphs should live long enough for something to happen to them.
OFTEN: Final = [*DOES, *(["claim", "complete", "fail", "sweep", "pass time", "retry"] * 3)]
TROUBLES: Final = ("reply lost", "conflict", "throttled", "death", "meanwhile", "meanwhile", "meanwhile")

steps: Final = st.builds(Step, st.sampled_from(OFTEN), st.integers(0, 11))
troubles: Final = st.builds(Trouble, st.sampled_from(TROUBLES), st.integers(1, 7), steps)


@st.composite
def graphs(draw: st.DrawFn) -> list[TaskSpec]:
    """Up to five tasks, each after any of those before it."""
    specs: list[TaskSpec] = []
    for i in range(draw(st.integers(2, 5))):
        parents = draw(st.sets(st.sampled_from(range(i)), max_size=3)) if i else set()
        kinds = [draw(st.sampled_from(["success", "success", "completion"])) for _ in parents]
        edges: list[Any] = [{"task_id": f"t{p}", "kind": k} for p, k in zip(sorted(parents), kinds, strict=True)]
        approval = draw(st.integers(0, 4)) == 0
        attempts = draw(st.integers(1, 2))
        specs.append(task(f"t{i}", *edges, max_attempts=attempts, lease_seconds=10, needs_approval=approval))
    return specs


def live(w: World, specs: list[TaskSpec], days: list[tuple[Step, Trouble | None]], *, parts: bool) -> None:
    crowd = Crowd(w, list(specs), parts=parts)
    for step, trouble in days:
        crowd.run(step, trouble)
    w.settle()
    crowd.check(retried=False)
    assert not unsettled(w.items())
    w.work_off(result_of=lambda claim: claim.epoch)
    w.settle()
    assert not unsettled(w.items())
    assert all_ended(item["state"] for key, item in w.items().items() if key.sk.startswith("T#"))


lives: Final = st.lists(st.tuples(steps, st.none() | troubles), min_size=4, max_size=14)
QUICK: Final = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,  # the same every time; `make race` looks further
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.generate, Phase.shrink],
)


def property_test(options: settings) -> Callable[..., None]:
    @options
    @given(specs=graphs(), days=lives, parts=st.sampled_from([False, False, True]))
    def run(worlds: Any, specs: Any, days: Any, parts: bool) -> None:
        w = worlds()
        try:
            live(w, specs, days, parts=parts)
        finally:
            w.close()

    return run


def test_whatever_happens_the_laws_hold_and_every_task_ends(clients: tuple[Any, Any]) -> None:
    property_test(QUICK)(lambda: World(*clients))


@pytest.mark.race
@pytest.mark.timeout(1_800)
def test_whatever_else_happens_the_laws_hold_and_every_task_ends(clients: tuple[Any, Any]) -> None:
    property_test(settings(QUICK, max_examples=5_000, derandomize=False))(lambda: World(*clients))
