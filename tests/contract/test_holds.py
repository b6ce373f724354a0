"""Holds: whoever is killed while putting, lifting or ending one, ledger and fence agree in the end."""

from __future__ import annotations

from typing import Any

import pytest

from contract.faults import Killed
from contract.world import TENANT, World, task
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.hold_store import LOOK_MS
from slate.contract.holds import CreateHold
from slate.domain.errors import Conflict, Forbidden, Invalid, NotFound, SubjectErased, SubjectHeld
from slate.domain.fences import Fence
from slate.domain.holds import Hold

PERSON = "u-17"
DAY_MS = 86_400_000


class Holds:
    def __init__(self, w: World) -> None:
        self.w = w
        self.fences = DynamoFences(w.storage.calls)
        self.ref = w.storage.codec.keyring.name(TENANT, PERSON)
        self.holding, self.work = w.slate.privacy.holding, w.slate.privacy.holds

    def fence(self) -> Fence:
        return self.fences.read(TENANT, self.ref)

    def create(self, key: str | None = None, **more: Any) -> Hold:
        return self.holding.create(self.w.me, CreateHold(subject=PERSON, reason="in court", **more), key)

    def listed(self) -> tuple[Hold, ...]:
        return self.holding.list(self.w.me, 50, None).items

    def left(self) -> list[str]:
        """The person's items, and the ledger's, that a hold has left."""
        tables = (self.w.settings.table, self.w.settings.ledger_table)
        items = [item for table in tables for item in self.w.dynamodb.scan(TableName=table)["Items"]]
        return [item["pk"]["S"] for item in items if item["sk"]["S"].startswith("HOLD#")]


@pytest.fixture
def h(w: World) -> Holds:
    return Holds(w)


def test_a_hold_says_whom_and_why_while_it_stands_and_leaves_nothing(h: Holds) -> None:
    made = h.create()
    assert h.fence().held
    assert h.listed() == (made,)
    assert (made.subject, made.reason, made.until) == (PERSON, "in court", None)
    h.holding.lift(h.w.me, made.hold_id)
    assert not h.fence().held
    assert (h.listed(), h.left()) == ((), [])
    with pytest.raises(NotFound):
        h.holding.lift(h.w.me, made.hold_id)


def test_what_is_kept_of_it_in_the_ledger_names_nobody(h: Holds) -> None:
    h.create()
    (item,) = h.w.dynamodb.scan(TableName=h.w.settings.ledger_table)["Items"]
    assert set(item) == {"pk", "sk", "ref", "hold_id", "created_at", "created_by"}


def test_it_ends_by_itself_and_of_two_the_last_one_counts(h: Holds) -> None:
    h.create(until=h.w.clock.now() + DAY_MS)
    second = h.create()
    h.w.clock.advance(86_400)
    assert h.work.run_once() == 1
    assert [hold.hold_id for hold in h.listed()] == [second.hold_id]
    assert h.fence().held
    h.holding.lift(h.w.me, second.hold_id)
    assert h.fence() == Fence()


def test_one_that_stands_is_not_looked_at_again_and_again(h: Holds) -> None:
    h.create()
    h.create(until=h.w.clock.now() + DAY_MS)
    h.w.clock.advance(LOOK_MS / 1000)
    assert h.work.run_once() == 0


def test_the_same_key_makes_one_hold(h: Holds) -> None:
    made = h.create("once")
    assert h.create("once") == made
    assert len(h.listed()) == 1
    h.holding.lift(h.w.me, made.hold_id)
    with pytest.raises(Conflict):
        h.create("once")


def test_pages_go_on_where_the_one_before_ended(h: Holds) -> None:
    made = {h.create().hold_id for _ in range(3)}
    page = h.holding.list(h.w.me, 2, None)
    rest = h.holding.list(h.w.me, 2, page.next_cursor)
    assert {hold.hold_id for hold in (*page.items, *rest.items)} == made
    assert (len(page.items), rest.next_cursor) == (2, None)


def test_a_queue_goes_on_past_a_person_who_is_held(h: Holds) -> None:
    h.w.graph(task("t", priority=9), graph_id="hers", subject=PERSON)
    h.w.graph(task("t"), graph_id="nobodys")
    made = h.create()
    assert h.w.claim().task.graph_id == "nobodys"
    assert h.w.claims() == ()
    h.holding.lift(h.w.me, made.hold_id)
    assert h.w.claim().task.graph_id == "hers"


def test_a_claim_that_is_sent_again_serves_who_is_not_held_and_no_other(h: Holds) -> None:
    h.w.graph(task("t"), graph_id="hers", subject=PERSON)
    h.w.graph(task("t"), graph_id="nobodys")
    first = h.w.claims(key="once", max=2)
    assert {each.task.graph_id for each in first} == {"hers", "nobodys"}
    made = h.create()
    assert [each.task.graph_id for each in h.w.claims(key="once", max=2)] == ["nobodys"]
    h.holding.lift(h.w.me, made.hold_id)
    assert {each.token for each in h.w.claims(key="once", max=2)} == {each.token for each in first}


def test_an_end_that_is_past_and_a_key_of_one_person_are_refused(h: Holds) -> None:
    with pytest.raises(Invalid, match="until"):
        h.create(until=h.w.clock.now())
    bound = h.w.principal(subject=PERSON)
    for call in (
        lambda: h.holding.create(bound, CreateHold(subject=PERSON, reason="mine"), None),
        lambda: h.holding.list(bound, 50, None),
        lambda: h.holding.lift(bound, "h-1"),
    ):
        with pytest.raises(Forbidden):
            call()
    assert h.left() == []


def test_a_hold_and_an_erasure_exclude_each_other(h: Holds) -> None:
    made = h.create()
    with pytest.raises(SubjectHeld):
        h.fences.close(TENANT, h.ref, "e-1")
    h.holding.lift(h.w.me, made.hold_id)
    assert h.fences.close(TENANT, h.ref, "e-1") == 1
    with pytest.raises(SubjectErased):
        h.create()
    with pytest.raises(SubjectErased):
        h.fences.hold(TENANT, h.ref, "h-9")
    assert h.left() == []


def test_a_hold_that_an_erasure_overtook_does_not_stand(h: Holds, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fence closes after the hold was noted, and before it came to the fence."""
    hold = h.fences.hold
    monkeypatch.setattr(DynamoFences, "hold", lambda _, *a: (h.fences.close(TENANT, h.ref, "e-1"), hold(*a)))  # type: ignore[func-returns-value]
    monkeypatch.setattr(h.fences, "hold", hold)
    with pytest.raises(SubjectErased):
        h.create()
    assert (h.left(), h.fence()) == ([], Fence(epoch=1, closed=True))


def settled(h: Holds) -> bool:
    """What is left once all that is due was done, by processes that nobody kills; whether a hold stands."""
    h.w.faults.disarm()
    h.w.clock.advance(LOOK_MS / 1000)
    h.work.run_once()
    stands = h.fence().held
    assert len(h.left()) == 2 * stands, "both tables and the fence agree"
    return stands


def test_killed_at_any_write_a_hold_stands_or_does_not(h: Holds) -> None:
    """Put, lifted and ended; killed before each write in turn, the first time and again."""
    outcomes: dict[str, set[bool]] = {"put": set(), "lifted": set(), "ended": set()}
    for writes in range(12):
        h.w.faults.kill_after(writes)
        survived = attempt(h.create)
        outcomes["put"].add(settled(h))
        assert h.fence().held or not survived, "what was acknowledged stands"
        for hold in h.listed():
            h.holding.lift(h.w.me, hold.hold_id)

        made = h.create()
        h.w.faults.kill_after(writes)
        survived = attempt(lambda made=made: h.holding.lift(h.w.me, made.hold_id))
        outcomes["lifted"].add(settled(h))
        assert not (survived and h.fence().held), "what was lifted stands no more"
        for hold in h.listed():
            h.holding.lift(h.w.me, hold.hold_id)

        h.create(until=h.w.clock.now() + DAY_MS)
        h.w.clock.advance(86_400)
        h.w.faults.kill_after(writes)
        attempt(h.work.run_once)
        outcomes["ended"].add(settled(h))
    assert outcomes == {"put": {True, False}, "lifted": {True, False}, "ended": {False}}


def attempt(call: Any) -> bool:
    try:
        call()
    except Killed:
        return False
    return True
