"""Fences: what moves behind one is never acknowledged, whoever was in the middle of it; and the price is counted."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from contract.talking import create, say
from contract.world import TENANT, World, task
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.table import TIMER, TIMER_PK, TIMER_SK
from slate.domain.errors import Conflict, SubjectErased, SubjectHeld
from slate.domain.fences import Fence, Intent
from slate.testing.meter import Meter

PERSON = "person-1"


class Fenced:
    """A world, the fence of one person in it, and her ref."""

    def __init__(self, w: World) -> None:
        self.w = w
        self.fences = DynamoFences(w.storage.calls)
        self.keyring = w.storage.codec.keyring
        self.ref = self.keyring.name(TENANT, PERSON)

    def fence(self) -> Fence:
        return self.fences.read(TENANT, self.ref)

    def close(self, by: str = "e-1") -> int:
        return self.fences.close(TENANT, self.ref, by)

    def open(self, by: str = "e-1") -> None:
        self.fences.open(TENANT, self.ref, by)

    def seal(self) -> None:
        self.keyring.sealing_key(TENANT, self.ref)


@pytest.fixture
def f(w: World) -> Fenced:
    return Fenced(w)


def test_a_person_of_whom_nothing_is_stored_has_an_open_fence(f: Fenced) -> None:
    assert f.fence() == Fence(epoch=0, closed=False, held=False)


def test_an_erasure_closes_it_once_and_opens_what_it_closed(f: Fenced) -> None:
    assert (f.close(), f.close()) == (1, 1)
    assert f.fence() == Fence(epoch=1, closed=True)
    with pytest.raises(Conflict):
        f.close("e-2")
    f.open("e-2")
    assert f.fence().closed, "another erasure's to open"
    f.open()
    f.open()
    assert f.fence() == Fence(epoch=1)
    assert f.close() == 1, "a late repeat closes nothing"
    assert not f.fence().closed
    assert f.close("e-2") == 2


def test_it_is_held_until_the_last_hold_is_off(f: Fenced) -> None:
    f.fences.release(TENANT, f.ref, "h-0")
    for hold in ("h-1", "h-2", "h-1"):
        f.fences.hold(TENANT, f.ref, hold)
    f.fences.release(TENANT, f.ref, "h-1")
    assert f.fence() == Fence(held=True)
    f.fences.release(TENANT, f.ref, "h-2")
    assert f.fence() == Fence()


@pytest.mark.parametrize("intent", list(Intent))
def test_what_begins_behind_a_closed_fence_is_refused_whatever_it_wants(f: Fenced, intent: Intent) -> None:
    f.seal()
    f.close()
    for use in (f.seal, lambda: f.keyring.ref(TENANT, PERSON), lambda: f.keyring.opening_key(TENANT, f.ref, 0)):
        with f.keyring.operation(intent), pytest.raises(SubjectErased):
            use()
    assert f.keyring.name(TENANT, PERSON) == f.ref


def test_under_a_hold_writes_go_on_and_nothing_is_served_or_deleted(f: Fenced) -> None:
    f.fences.hold(TENANT, f.ref, "h")
    with f.keyring.operation(Intent.WRITE):
        f.seal()
        f.keyring.opening_key(TENANT, f.ref, 0)
    for intent in (Intent.READ, Intent.DELETE):
        with f.keyring.operation(intent), pytest.raises(SubjectHeld):
            f.keyring.opening_key(TENANT, f.ref, 0)


def test_a_write_that_the_fence_overtook_is_not_acknowledged(f: Fenced) -> None:
    def written(*meanwhile: Callable[[], object]) -> None:
        with f.keyring.operation(Intent.WRITE):
            f.seal()
            for each in meanwhile:
                each()

    with pytest.raises(SubjectErased):
        written(f.close)
    f.open()
    with pytest.raises(SubjectErased):  # all of it, in the middle of one call
        written(lambda: f.close("e-2"), lambda: f.open("e-2"))


def test_a_read_that_the_fence_overtook_was_before_it(f: Fenced) -> None:
    f.seal()
    with f.keyring.operation(Intent.READ):
        f.keyring.opening_key(TENANT, f.ref, 0)
        f.close()
        f.keyring.opening_key(TENANT, f.ref, 0)
        with pytest.raises(SubjectErased):
            f.keyring.confirm(TENANT, f.ref)


def test_who_comes_back_is_sealed_under_another_key_and_what_was_left_does_not_open(f: Fenced) -> None:
    create(f.w, "s", subject=PERSON)
    say(f.w, "of before", session_id="s")
    left = {key: item for key, item in f.w.items().items() if item.get("subject_pk") == f"{TENANT}#{f.ref}"}
    old = f.keyring.sealing_key(TENANT, f.ref)
    f.close()
    assert f.keyring.shred(TENANT, f.ref, 1) == 1
    f.open()
    new = f.keyring.sealing_key(TENANT, f.ref)
    assert (old.epoch, new.epoch) == (0, 1)
    assert old.secret != new.secret
    assert left
    with pytest.raises(SubjectErased):
        f.w.slate.memory.sessions.get(f.w.me, "s")
    assert f.keyring.shred(TENANT, f.ref, 1) == 0, "the key that runs stays"
    assert f.keyring.opening_key(TENANT, f.ref, 1) == new


def test_a_queue_goes_on_past_a_person_who_is_being_erased(f: Fenced) -> None:
    f.w.graph(task("t", priority=9), graph_id="hers", subject=PERSON)
    f.w.graph(task("t"), graph_id="nobodys")
    f.close()
    assert f.w.claim().task.graph_id == "nobodys"
    assert f.w.claims() == ()


def test_two_hundred_writers_of_one_person_do_not_meet_at_the_fence_and_none_writes_behind_it(f: Fenced) -> None:
    """Each seals something of hers in a request of its own; the fence falls in the middle."""

    def write(i: int) -> bool:
        try:
            with f.keyring.operation(Intent.WRITE):
                f.seal()
                if i == 100:
                    f.close()
        except SubjectErased:
            return False
        return True

    f.seal()
    with Meter(f.w.dynamodb).measure() as cost, ThreadPoolExecutor(16) as executor:
        written = list(executor.map(write, range(200)))
    assert not written[100]
    assert not any(written[150:]), "whoever begins behind it is refused"
    assert cost.by_operation["UpdateItem"].calls == 1
    assert set(cost.by_operation) == {"GetItem", "UpdateItem"}, "no transaction, so no two writers conflict"
    assert cost.by_operation["GetItem"].calls <= 400


def test_the_fence_costs_a_read_to_serve_and_two_to_write(f: Fenced) -> None:
    f.seal()
    with Meter(f.w.dynamodb).measure() as cost, f.keyring.operation(Intent.READ):
        for _ in range(5):
            f.keyring.opening_key(TENANT, f.ref, 0)
    assert (cost.calls, cost.writes) == (1, 0)
    with Meter(f.w.dynamodb).measure() as cost, f.keyring.operation(Intent.WRITE):
        for _ in range(5):
            f.seal()
    assert (cost.calls, cost.writes) == (2, 0)


def test_an_operation_reaches_its_own_tenants_data_alone(f: Fenced) -> None:
    f.w.graph(task("t"))
    with f.w.slate.operate(Intent.READ, "globex"):
        for reach in (
            lambda: f.w.slate.planning.get(f.w.me, "g"),
            f.w.claims,
            lambda: f.w.storage.calls.query_index(TIMER, (TIMER_PK, "task#00"), (TIMER_SK, "<", "9"), 1),
            lambda: f.w.slate.operate(Intent.READ, TENANT).__enter__(),
        ):
            with pytest.raises(PermissionError):
                reach()
    with f.w.slate.operate(Intent.READ, TENANT):
        assert f.w.slate.planning.get(f.w.me, "g").graph_id == "g"
