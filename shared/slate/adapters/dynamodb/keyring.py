"""Data keys in their own table, wrapped: the item is the key's only copy, so deleting it erases what it sealed."""

from __future__ import annotations

import hmac
import os
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from slate.adapters.dynamodb.calls import Calls, ConditionFailed, Item, Key
from slate.adapters.dynamodb.changes import put
from slate.domain.errors import Internal, SubjectErased
from slate.ports.clock import Clock
from slate.ports.keyring import KeyWrapper

_KEY_BYTES: Final = 32
_REF_CHARACTERS: Final = 32
_TENANT: Final = "-"
"""Stands where a ref would: the tenant's own key. No ref is a hyphen."""


class DynamoKeyring:
    """Keeps data keys in DynamoDB, wrapped by a ``KeyWrapper``, and in memory for a bounded time."""

    def __init__(
        self,
        calls: Calls,
        wrapper: KeyWrapper,
        clock: Clock,
        *,
        cache_seconds: int,
        cache_size: int = 10_000,
        entropy: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._calls = calls
        self._wrapper = wrapper
        self._clock = clock
        self._cache_ms = cache_seconds * 1000
        self._cache_size = cache_size
        self._entropy = entropy
        self._cache: OrderedDict[tuple[str, str], tuple[int, bytes]] = OrderedDict()
        self._lock = Lock()

    def sealing_key(self, tenant: str, ref: str | None) -> bytes:
        """The key to seal under, made at the first call; two first calls at once agree on one key."""
        name = ref or _TENANT
        return self._cached(tenant, name) or self._stored(tenant, name) or self._made(tenant, name)

    def opening_key(self, tenant: str, ref: str | None) -> bytes:
        """The key that was sealed under, or ``SubjectErased``."""
        name = ref or _TENANT
        key = self._cached(tenant, name) or self._stored(tenant, name)
        if key is None:
            raise SubjectErased("the key of this data is gone, and the data with it")
        return key

    def purpose_key(self, tenant: str, purpose: str) -> bytes:
        """32 bytes for one purpose."""
        return HKDFExpand(SHA256(), _KEY_BYTES, f"purpose {purpose}".encode()).derive(self.sealing_key(tenant, None))

    def ref(self, tenant: str, subject: str) -> str:
        """128 bits of an HMAC, in hexadecimal."""
        mac = hmac.digest(self.purpose_key(tenant, "reference"), subject.encode(), sha256)
        return mac.hex()[:_REF_CHARACTERS]

    def _cached(self, tenant: str, name: str) -> bytes | None:
        with self._lock:
            entry = self._cache.get((tenant, name))
            if entry is None or entry[0] <= self._clock.now():
                return None
            self._cache.move_to_end((tenant, name))
            return entry[1]

    def _keep(self, tenant: str, name: str, key: bytes) -> bytes:
        with self._lock:
            self._cache[tenant, name] = (self._clock.now() + self._cache_ms, key)
            while len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)
        return key

    def _stored(self, tenant: str, name: str) -> bytes | None:
        item = self._calls.get(tenant, _place(tenant, name))
        return None if item is None else self._opened(tenant, name, item)

    def _opened(self, tenant: str, name: str, item: Item) -> bytes:
        return self._keep(tenant, name, self._wrapper.unwrap(item["wrapped"], tenant, name))

    def _made(self, tenant: str, name: str) -> bytes:
        key = self._entropy(_KEY_BYTES)
        wrapped = self._wrapper.wrap(key, tenant, name)
        item = {**_place(tenant, name).attributes, "wrapped": wrapped, "created_at": self._clock.now()}
        try:
            self._calls.write(tenant, put(item))
        except ConditionFailed as failed:
            if failed.old is None:
                raise Internal("a data key was refused and is not there") from None
            return self._opened(tenant, name, failed.old)
        return self._keep(tenant, name, key)


def _place(tenant: str, name: str) -> Key:
    return Key(f"{tenant}#K#{name}", "DEK")
