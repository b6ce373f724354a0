"""The wrapping key is changed: every data key is wrapped anew, none is lost, none that was shredded comes back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest

from slate.adapters.dynamodb.calls import Calls
from slate.adapters.dynamodb.fence_store import DynamoFences
from slate.adapters.dynamodb.key_rewrapping import KeyRewrapping
from slate.adapters.dynamodb.keyring import DynamoKeyring
from slate.adapters.dynamodb.table import KEYS, MAIN
from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.master_key import MasterKeyWrapper
from slate.adapters.inprocess.moto_engine import MotoEngine
from slate.adapters.kms.wrapper import KmsKeyWrapper
from slate.domain.errors import SubjectErased, Unavailable
from slate.ports.keyring import KeyWrapper

PEOPLE = (None, *(f"r{n}" for n in range(12)))


class Wrappers(NamedTuple):
    old: KeyWrapper
    both: KeyWrapper
    new: KeyWrapper


@pytest.fixture(scope="module")
def engine() -> Iterator[MotoEngine]:
    with MotoEngine(region="eu-central-1") as engine:
        yield engine


def in_files(_: MotoEngine) -> Wrappers:
    old, new = os.urandom(32), os.urandom(32)
    return Wrappers(MasterKeyWrapper(old), MasterKeyWrapper(new, [old]), MasterKeyWrapper(new))


def in_kms(engine: MotoEngine) -> Wrappers:
    client: Any = engine.client("kms")
    old, new = (client.create_key()["KeyMetadata"]["KeyId"] for _ in range(2))
    return Wrappers(KmsKeyWrapper(client, old), KmsKeyWrapper(client, new, [old]), KmsKeyWrapper(client, new))


class Keys:
    """A keys table, and those who work with it."""

    def __init__(self, engine: MotoEngine) -> None:
        self.client: Any = engine.client("dynamodb")
        self.table = f"keys-{os.urandom(4).hex()}"
        self.client.create_table(**KEYS.create_arguments(self.table))
        self.client.create_table(**MAIN.create_arguments(f"{self.table}-main"))
        self.calls = Calls(self.client, self.table, None, None)  # type: ignore[arg-type]
        self.fences = DynamoFences(Calls(self.client, f"{self.table}-main", None, None))  # type: ignore[arg-type]

    def keyring(self, wrapper: KeyWrapper) -> DynamoKeyring:
        """One that has nothing in its memory."""
        return DynamoKeyring(self.calls, wrapper, ManualClock(0), self.fences, cache_seconds=300)

    def rewrapping(self, wrapper: KeyWrapper) -> KeyRewrapping:
        return KeyRewrapping(self.client, self.table, self.calls, wrapper, ThreadPoolExecutor(4))


@pytest.fixture
def keys(engine: MotoEngine) -> Keys:
    return Keys(engine)


@pytest.mark.parametrize("wrappers", [in_files, in_kms])
def test_what_was_sealed_opens_by_the_new_key_alone(
    engine: MotoEngine, keys: Keys, wrappers: Callable[[MotoEngine], Wrappers]
) -> None:
    old, both, new = wrappers(engine)
    made = {ref: keys.keyring(old).sealing_key("acme", ref) for ref in PEOPLE}
    meanwhile = keys.keyring(both)
    assert [meanwhile.sealing_key("acme", ref) for ref in PEOPLE] == list(made.values())
    told: list[int] = []
    done = keys.rewrapping(both).run(lambda each: told.append(each.keys))
    assert (done.keys, done.gone, told[-1]) == (len(PEOPLE), 0, len(PEOPLE))
    afterwards = keys.keyring(new)
    assert {ref: afterwards.sealing_key("acme", ref) for ref in PEOPLE} == made
    assert keys.rewrapping(new).run().keys == len(PEOPLE), "again is as good as once"
    assert keys.keyring(new).sealing_key("acme", "r1") == made["r1"]


def test_the_old_key_alone_opens_nothing_any_more(engine: MotoEngine, keys: Keys) -> None:
    old, both, _ = in_files(engine)
    keys.keyring(old).sealing_key("acme", "r1")
    keys.rewrapping(both).run()
    with pytest.raises(Unavailable):
        keys.keyring(old).sealing_key("acme", "r1")


def test_a_key_that_was_shredded_while_it_was_wrapped_does_not_come_back(engine: MotoEngine, keys: Keys) -> None:
    old, both, _ = in_files(engine)
    keyring = keys.keyring(old)
    keyring.sealing_key("acme", "r1")

    class Shredding:
        def rewrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
            keyring.shred(tenant, ref, 1)
            return both.rewrap(wrapped, tenant, ref)

        wrap, unwrap = both.wrap, both.unwrap

    done = keys.rewrapping(Shredding()).run()
    assert (done.keys, done.gone) == (1, 1)
    assert keys.client.scan(TableName=keys.table)["Items"] == []
    with pytest.raises(SubjectErased):
        keys.keyring(both).opening_key("acme", "r1", 0)


def test_stopped_in_the_middle_everything_opens_and_the_next_run_ends_it(engine: MotoEngine, keys: Keys) -> None:
    old, both, new = in_files(engine)
    for ref in PEOPLE:
        keys.keyring(old).sealing_key("acme", ref)
    left = iter(range(5))

    class Stopping:
        wrap, unwrap = both.wrap, both.unwrap

        def rewrap(self, wrapped: bytes, tenant: str, ref: str) -> bytes:
            if next(left, None) is None:
                raise Unavailable("no more")
            return both.rewrap(wrapped, tenant, ref)

    with pytest.raises(Unavailable):
        keys.rewrapping(Stopping()).run()
    for ref in PEOPLE:
        keys.keyring(both).sealing_key("acme", ref)
    keys.rewrapping(both).run()
    for ref in PEOPLE:
        keys.keyring(new).sealing_key("acme", ref)
