"""A table comes back from a backup: it is not served before the ledger has been replayed over it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contract.faults import Killed
from contract.talking import create, say
from contract.world import SEALED, TENANT, World
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.hold_store import LOOK_MS
from slate.contract.erasures import AskErasure
from slate.contract.facts import PostFacts
from slate.contract.holds import CreateHold
from slate.domain.access import Principal
from slate.domain.erasing.steps import Step
from slate.domain.errors import SlateError, SubjectErased, SubjectHeld, Unavailable
from slate.domain.fences import Fence, Intent
from slate.service.erasing.replaying import Replayed
from slate.service.facts.remembering import FactFilter
from slate.wiring.assembling import assemble
from slate.wiring.parts import Slate

ANN, BOB = "u-ann", "u-bob"
MARK = "xyzzy-marker"
DAY = 86_400


class Backups:
    """A world whose tables are taken down and brought back, and whose processes start anew."""

    def __init__(self, w: World) -> None:
        self.w = w
        self.me = w.me
        self.slate = w.slate
        self.fences = DynamoFences(w.storage.calls)

    def start(self) -> None:
        """New processes: nothing is in anybody's memory."""
        self.slate = assemble(self.w.settings, self.w.parts)

    def replay(self) -> Replayed:
        """As the operator does."""
        operator = assemble(self.w.settings, replace(self.w.parts, quarantine=False))
        return operator.privacy.replaying.replay(TENANT)

    def backup(self, table: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.w.dynamodb.scan(TableName=table)["Items"]
        return items

    def restore(self, table: str, items: list[dict[str, Any]]) -> None:
        for item in self.backup(table):
            self.w.dynamodb.delete_item(TableName=table, Key={name: item[name] for name in ("pk", "sk")})
        for item in items:
            self.w.dynamodb.put_item(TableName=table, Item=item)
        self.start()

    @property
    def main(self) -> str:
        return self.w.settings.table

    @property
    def keys(self) -> str:
        return self.w.settings.keys_table

    # ---- people

    def ref(self, subject: str) -> str:
        return self.w.storage.codec.keyring.name(TENANT, subject)

    def fill(self, subject: str) -> None:
        post(self.slate, self.me, subject, f"Collects {MARK} {subject}")
        create(self.w, f"s-{subject}", subject=subject)
        say(self.w, f"I like {MARK}", session_id=f"s-{subject}")

    def erase(self, subject: str) -> str:
        """All the way to the receipt."""
        erasing = self.slate.privacy.erasing
        asked = erasing.ask(self.me, AskErasure(subject=subject, reason="asked for"), None)
        self.finish(asked.erasure_id)
        return asked.erasure_id

    def finish(self, erasure_id: str) -> None:
        for _ in range(12):
            self.slate.privacy.eraser.run_once()
            if self.slate.privacy.erasing.get(self.me, erasure_id).state is Step.RECEIPTED:
                return
            self.w.clock.advance(DAY)
        raise AssertionError(self.slate.privacy.erasing.get(self.me, erasure_id))

    def known(self, subject: str) -> list[str]:
        page = self.slate.memory.facts.find(self.me, subject, FactFilter(), 50, None)
        return [fact.statement for fact in page.items]

    def items_of(self, subject: str) -> list[str]:
        """What the main table has of somebody's words; the root of what is being removed stands for a while."""
        ref = f"{TENANT}#{self.ref(subject)}"
        return [
            item["sk"]["S"]
            for item in self.backup(self.main)
            if item.get("subject_pk", {}).get("S") == ref
            and not item.keys().isdisjoint(SEALED)
            and item.get("state", {}).get("S") != "DELETING"
        ]


def post(slate: Slate, me: Principal, subject: str, statement: str) -> None:
    body = PostFacts.model_validate({"facts": [{"statement": statement, "category": "other"}]})
    slate.memory.facts.post(me, subject, body, None)


@pytest.fixture
def b(w: World) -> Backups:
    made = Backups(w)
    for subject in (ANN, BOB):
        made.fill(subject)
    return made


def test_a_table_that_misses_an_erasure_is_served_to_nobody_of_the_tenant(b: Backups) -> None:
    before = b.backup(b.main)
    b.erase(ANN)
    assert b.known(BOB), "a table that is no copy is served"
    b.restore(b.main, before)
    for use in (lambda: b.known(BOB), lambda: b.known(ANN), lambda: post(b.slate, b.me, BOB, "Plays the tuba")):
        with pytest.raises(Unavailable, match="slate ledger replay"):
            use()
    other = b.w.principal(tenant="globex")
    post(b.slate, other, ANN, "Another tenant's person")


def test_the_replay_erases_who_was_erased_and_lets_the_others_be(b: Backups) -> None:
    before = b.backup(b.main)
    erasure_id = b.erase(ANN)
    receipt = b.slate.privacy.proving.receipt(b.me, erasure_id)
    b.restore(b.main, before)
    bob = b.items_of(BOB)
    assert b.items_of(ANN)
    assert b.replay() == Replayed(erasures=1, persons=1, missed=1)
    b.start()
    assert (b.items_of(ANN), b.items_of(BOB)) == ([], bob)
    assert b.known(BOB) == [f"Collects {MARK} {BOB}"]
    with pytest.raises(SubjectErased):
        b.known(ANN)
    b.finish(erasure_id)
    assert b.slate.privacy.proving.receipt(b.me, erasure_id) == receipt, "the receipt of the first time stands"
    post(b.slate, b.me, ANN, "Is back")
    assert b.replay().missed == 0
    b.start()
    assert b.known(ANN) == ["Is back"], "who came back is not erased by another replay"


def test_a_person_who_was_erased_twice_is_erased_once_and_may_come_back(b: Backups) -> None:
    before = b.backup(b.main)
    b.erase(ANN)
    post(b.slate, b.me, ANN, "Is back")
    second = b.erase(ANN)
    b.restore(b.main, before)
    assert b.replay() == Replayed(erasures=2, persons=1, missed=1)
    assert b.fences.read(TENANT, b.ref(ANN)) == Fence(epoch=2, closed=True)
    b.start()
    b.finish(second)
    post(b.slate, b.me, ANN, "Is back")
    assert b.replay().missed == 0
    assert b.known(ANN) == ["Is back"]


def test_keys_that_came_back_are_shredded_whether_or_not_the_data_did(b: Backups) -> None:
    """With the keys and the data of before, what was erased would open again."""
    main, keys = b.backup(b.main), b.backup(b.keys)
    b.erase(ANN)
    b.restore(b.keys, keys)
    assert b.replay() == Replayed(erasures=1, persons=1, shredded=1)
    b.restore(b.keys, keys)
    b.restore(b.main, main)
    done = b.replay()
    assert (done.missed, done.shredded) == (1, 1)
    assert b.items_of(ANN) == []
    assert not [item for item in b.backup(b.keys) if b.ref(ANN) in item["pk"]["S"]]


def test_a_table_from_the_middle_of_an_erasure_ends_it(b: Backups) -> None:
    asked = b.slate.privacy.erasing.ask(b.me, AskErasure(subject=ANN, reason="asked for"), None)
    middle = b.backup(b.main)
    b.finish(asked.erasure_id)
    second = b.erase(ANN)
    b.restore(b.main, middle)
    assert b.replay() == Replayed(erasures=2, persons=1, missed=1)
    b.start()
    b.finish(asked.erasure_id)
    assert b.items_of(ANN) == []
    assert b.fences.read(TENANT, b.ref(ANN)) == Fence(epoch=2)
    assert second


def test_holds_are_as_the_ledger_has_them(b: Backups) -> None:
    """One was lifted since the backup, and would hold up the erasure; one came since, and is not to be lost."""
    lifted = b.slate.privacy.holding.create(b.me, CreateHold(subject=ANN, reason="over"), None)
    before = b.backup(b.main)
    b.slate.privacy.holding.lift(b.me, lifted.hold_id)
    erasure_id = b.erase(ANN)
    until = b.w.clock.now() + 40 * 86_400_000
    for subject in (ANN, BOB):
        b.slate.privacy.holding.create(b.me, CreateHold(subject=subject, reason="in court", until=until), None)
    b.restore(b.main, before)
    assert b.replay() == Replayed(erasures=1, persons=1, missed=1, held=2, waiting=1)
    b.start()
    with pytest.raises(SubjectHeld), b.slate.operate(Intent.READ):
        b.known(BOB)
    assert b.items_of(ANN) == []
    b.finish(erasure_id)
    assert b.replay().held == 1
    assert b.fences.read(TENANT, b.ref(ANN)).held
    b.w.clock.advance(41 * DAY + LOOK_MS / 1000)
    b.slate.privacy.holds.run_once()
    assert not b.fences.read(TENANT, b.ref(ANN)).held


def test_killed_anywhere_the_replay_is_begun_again_and_ends_the_same(b: Backups) -> None:
    before = b.backup(b.main)
    b.erase(ANN)
    for writes in range(0, 60, 5):
        b.restore(b.main, before)
        b.w.faults.kill_after(writes)
        try:
            done = b.replay()
        except Killed:
            done = None
        b.w.faults.disarm()
        served = _served(b)
        assert done is None or served
        if served:
            assert b.fences.read(TENANT, b.ref(ANN)).closed, "served before anybody is safe"
        b.replay()
        b.start()
        assert b.items_of(ANN) == []
        assert b.known(BOB)
        if done is not None:
            return
    raise AssertionError("it was never let live")


def _served(b: Backups) -> bool:
    b.start()
    try:
        b.known(BOB)
    except SlateError:
        return False
    return True
