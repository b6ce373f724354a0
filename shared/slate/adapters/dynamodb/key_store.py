"""API keys in the tenant's list of keys, by id."""

from __future__ import annotations

from typing import Any, Final

from slate.adapters.dynamodb.calls import Calls, ConditionFailed, Item, Key
from slate.adapters.dynamodb.changes import Change, put
from slate.adapters.dynamodb.codec import Codec
from slate.adapters.dynamodb.keys import END, list_pk, ref_of, subject_attributes
from slate.adapters.dynamodb.task_store import take
from slate.domain.access import ApiKey, Scope
from slate.domain.errors import WITHHELD, Conflict, NotFound
from slate.ports.access_store import StoredKey
from slate.ports.clock import Clock
from slate.ports.graph_store import Page

_KEYS: Final = "keys"


class DynamoApiKeyStore:
    """Keeps API keys in DynamoDB."""

    def __init__(self, calls: Calls, codec: Codec, clock: Clock) -> None:
        self._calls = calls
        self._codec = codec
        self._clock = clock

    def put(self, tenant: str, stored: StoredKey) -> None:
        """One conditional put."""
        key = stored.key
        place = _place(tenant, key.key_id)
        ref = None if key.subject is None else self._codec.keyring.ref(tenant, key.subject)
        item: Item = {
            **place.attributes,
            **subject_attributes(tenant, ref),
            "agent": key.agent,
            "scopes": [scope.value for scope in key.scopes],
            "roles": list(key.roles),
            "created_at": key.created_at,
            "created_by": key.created_by,
            "version": key.version,
            "salt": stored.salt,
            "digest": stored.digest,
        }
        if key.subject is not None:
            item["subject"] = self._codec.seal(tenant, ref, place, "subject", key.subject)
        try:
            self._calls.write(tenant, put(item))
        except ConditionFailed as failed:
            if failed.old is None or failed.old["digest"] != stored.digest:
                raise Conflict(f"there is a key {key.key_id!r} already") from None

    def get(self, tenant: str, key_id: str) -> StoredKey:
        """One read."""
        item = self._calls.get(tenant, _place(tenant, key_id))
        if item is None:
            raise _unknown(key_id)
        return StoredKey(self.opened(tenant, item), item["salt"], item["digest"])

    def page(self, tenant: str, position: str | None, limit: int) -> Page[ApiKey]:
        """One query; keys of an erased person are skipped."""
        start = " " if position is None else position + " "
        items = self._calls.query(tenant, list_pk(tenant, _KEYS), between=(start, END), at_once=limit + 1)
        found = take(items, lambda _: True, limit + 1)
        keys: list[ApiKey] = []
        for item in found[:limit]:
            try:
                keys.append(self.opened(tenant, item))
            except WITHHELD:
                continue
        return Page(keys, found[limit - 1]["sk"] if len(found) > limit else None)

    def revoke(self, tenant: str, key_id: str) -> ApiKey:
        """One update, of a key that stands."""
        place = _place(tenant, key_id)
        change = Change().set(revoked_at=self._clock.now()).grow("version")
        try:
            item = self._calls.write(
                tenant, change.on(place, "attribute_exists(#pk) AND attribute_not_exists(#revoked_at)")
            )
        except ConditionFailed as failed:
            if failed.old is None:
                raise _unknown(key_id) from None
            item = failed.old
        return self.opened(tenant, item)

    def opened(self, tenant: str, item: Item) -> ApiKey:
        """A key from its item."""
        place = Key(item["pk"], item["sk"])
        subject: Any = None
        if "subject" in item:
            subject = self._codec.open(tenant, ref_of(item), place, "subject", item["subject"])
        return ApiKey(
            key_id=place.sk,
            agent=item["agent"],
            scopes=tuple(Scope(scope) for scope in item["scopes"]),
            roles=tuple(item["roles"]),
            subject=subject,
            created_at=item["created_at"],
            created_by=item["created_by"],
            revoked_at=item.get("revoked_at"),
            version=item["version"],
        )


def _place(tenant: str, key_id: str) -> Key:
    return Key(list_pk(tenant, _KEYS), key_id)


def _unknown(key_id: str) -> NotFound:
    return NotFound(f"there is no key {key_id!r}")
