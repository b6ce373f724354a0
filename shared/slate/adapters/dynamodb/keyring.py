"""Data keys in their own table, wrapped: the item is the key's only copy, so deleting it erases what it sealed.

A person's fence is asked before their key is given, once in an operation and once more after it sealed something. That
costs a read unit or two, no write unit, no transaction, and no two writers of one person meet on it.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from slate.adapters.dynamodb.calls import Calls, ConditionFailed, Item, Key
from slate.adapters.dynamodb.changes import put
from slate.adapters.dynamodb.table import PK, SK
from slate.domain.errors import Internal, SubjectErased
from slate.domain.fences import Intent
from slate.domain.lapsing import Lapsing
from slate.domain.operations import Person, begun, under_way
from slate.ports.clock import Clock
from slate.ports.fences import FenceReader
from slate.ports.keyring import DataKey, KeyWrapper

_KEY_BYTES: Final = 32
_REF_CHARACTERS: Final = 32
_DEK: Final = "DEK#"
_TENANT: Final = "-"
"""Stands where a ref would: the tenant's own key. No ref is a hyphen."""


class DynamoKeyring:
    """Keeps data keys in DynamoDB, wrapped by a ``KeyWrapper``, and in memory for a bounded time, by epoch."""

    def __init__(
        self,
        calls: Calls,
        wrapper: KeyWrapper,
        clock: Clock,
        fences: FenceReader,
        *,
        cache_seconds: int,
        cache_size: int = 10_000,
        entropy: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._calls = calls
        self._wrapper = wrapper
        self._clock = clock
        self._fences = fences
        self._cache_ms = cache_seconds * 1000
        self._entropy = entropy
        self._cache = Lapsing[_Place, bytes](cache_size)

    @contextmanager
    def operation(self, intent: Intent, tenant: str | None = None) -> Iterator[None]:
        """One look at each fence, and a second one for whom something was sealed."""
        with begun(intent, tenant) as operation:
            yield
            for person in sorted(operation.sealed):
                self.confirm(*person)

    def sealing_key(self, tenant: str, ref: str | None) -> DataKey:
        """The key of the epoch that runs, and the operation remembers for whom it sealed."""
        key = self.digest_key(tenant, ref)
        if ref is not None and (operation := under_way()) is not None:
            operation.sealed.add(Person(tenant, ref))
        return key

    def digest_key(self, tenant: str, ref: str | None) -> DataKey:
        """The key of the epoch that runs; two first calls at once agree on one key."""
        place = _Place(tenant, ref or _TENANT, self._epoch(tenant, ref))
        return DataKey(place.epoch, self._cached(place) or self._stored(place) or self._made(place))

    def opening_key(self, tenant: str, ref: str | None, epoch: int) -> DataKey:
        """The key, if its epoch is the one that runs."""
        place = _Place(tenant, ref or _TENANT, epoch)
        running = self._epoch(tenant, ref)
        key = (self._cached(place) or self._stored(place)) if running == epoch else None
        if key is None:
            raise SubjectErased("the key of this data is gone, and the data with it")
        return DataKey(epoch, key)

    def purpose_key(self, tenant: str, purpose: str) -> bytes:
        """32 bytes for one purpose."""
        own = self.sealing_key(tenant, None).secret
        return HKDFExpand(SHA256(), _KEY_BYTES, f"purpose {purpose}".encode()).derive(own)

    def ref(self, tenant: str, subject: str) -> str:
        """The name, once the fence has let the operation pass."""
        name = self.name(tenant, subject)
        self.admit(tenant, name)
        return name

    def name(self, tenant: str, subject: str) -> str:
        """128 bits of an HMAC, in hexadecimal."""
        mac = hmac.digest(self.purpose_key(tenant, "reference"), subject.encode(), sha256)
        return mac.hex()[:_REF_CHARACTERS]

    def admit(self, tenant: str, ref: str | None) -> None:
        """The fence, as this operation first saw it."""
        self._epoch(tenant, ref)

    def confirm(self, tenant: str, ref: str) -> None:
        """A second read of the fence, held against the first."""
        operation = under_way()
        first = None if operation is None else operation.seen.get(Person(tenant, ref))
        now = self._fences.read(tenant, ref)
        now.admit(Intent.WRITE)
        if first is not None and first.epoch != now.epoch:
            raise SubjectErased("this person's data was erased meanwhile")

    def count(self, tenant: str, ref: str, before: int) -> int:
        """One query."""
        return len(self._before(tenant, ref, before))

    def shred(self, tenant: str, ref: str, before: int) -> int:
        """One query, and the keys go; those in memory lapse by themselves, and no epoch asks for them again."""
        keys = self._before(tenant, ref, before)
        self._calls.delete_many(tenant, keys)
        self._cache.drop(lambda place: place[:2] == (tenant, ref) and place.epoch < before)
        return len(keys)

    def _before(self, tenant: str, ref: str, before: int) -> list[Key]:
        pk = _Place(tenant, ref, 0).key.pk
        last = _Place(tenant, ref, before - 1).key.sk
        return [Key(item[PK], item[SK]) for item in self._calls.query(tenant, pk, between=(_DEK, last), names=(PK, SK))]

    def _epoch(self, tenant: str, ref: str | None) -> int:
        """The epoch that runs, if what is under way may go on."""
        if ref is None:
            return 0
        operation, person = under_way(), Person(tenant, ref)
        fence = None if operation is None else operation.seen.get(person)
        if fence is None:
            fence = self._fences.read(tenant, ref)
            if operation is not None:
                operation.seen.setdefault(person, fence)
        fence.admit(Intent.WRITE if operation is None else operation.intent)
        return fence.epoch

    def _cached(self, place: _Place) -> bytes | None:
        return self._cache.get(place, self._clock.now())

    def _keep(self, place: _Place, key: bytes) -> bytes:
        now = self._clock.now()
        return self._cache.keep(place, key, now + self._cache_ms, now)

    def _stored(self, place: _Place) -> bytes | None:
        item = self._calls.get(place.tenant, place.key)
        return None if item is None else self._opened(place, item)

    def _opened(self, place: _Place, item: Item) -> bytes:
        return self._keep(place, self._wrapper.unwrap(item["wrapped"], place.tenant, place.name))

    def _made(self, place: _Place) -> bytes:
        if place.name == _TENANT:
            self._fences.read(place.tenant, _TENANT)  # a tenant that was offboarded gets no other key
        key = self._entropy(_KEY_BYTES)
        wrapped = self._wrapper.wrap(key, place.tenant, place.name)
        item = {**place.key.attributes, "wrapped": wrapped, "created_at": self._clock.now()}
        try:
            self._calls.write(place.tenant, put(item))
        except ConditionFailed as failed:
            if failed.old is None:
                raise Internal("a data key was refused and is not there") from None
            return self._opened(place, failed.old)
        return self._keep(place, key)


class _Place(NamedTuple):
    """Whose key, and of which epoch."""

    tenant: str
    name: str
    epoch: int

    @property
    def key(self) -> Key:
        """Where it stands in the keys table."""
        return Key(f"{self.tenant}#K#{self.name}", f"{_DEK}{self.epoch:06d}")
