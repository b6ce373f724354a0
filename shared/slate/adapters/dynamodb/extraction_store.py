"""The material of extractions: sealed beside the extraction, in an object where it is large, gone once it was read."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from pydantic import JsonValue

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import ConditionFailed, Key, TransactionRefused
from slate.adapters.dynamodb.changes import put, removal
from slate.adapters.dynamodb.keys import extraction_key, ref_of, subject_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.domain.sessions import Extraction

KEPT_MS: Final = 30 * 86_400_000
_SAID: Final = "said"


class DynamoExtractionStore:
    """Keeps them in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def begin(self, tenant: str, extraction: Extraction, material: JsonValue | None) -> None:
        """One transaction of puts; a large material's object is written before it."""
        subject = extraction.subject
        ref = None if subject is None else self._storage.codec.keyring.ref(tenant, subject)
        key = extraction_key(tenant, extraction.extraction_id)
        said = extraction.model_dump(mode="json", include={"session_id", "subject", "decisions"})
        plain = extraction.model_dump(include={"state", "created_at", "updated_at", "version"})
        item = {
            **key.attributes,
            **subject_attributes(tenant, ref),
            **plain,
            "ttl": (self._storage.clock.now() + KEPT_MS) // 1000,
            _SAID: self._storage.codec.seal(tenant, ref, key, _SAID, said),
        }
        writes = [put(item)]
        if material is not None:
            writes.append(contents.put_for(self._storage, tenant, ref, _material(key), material))
        with suppress(TransactionRefused):  # it is there: by this very call, or by the same one before
            self._storage.calls.transact(tenant, writes)

    def material(self, tenant: str, extraction_id: str) -> JsonValue | None:
        """One read, and that of its object."""
        item = self._storage.calls.get(tenant, _material(extraction_key(tenant, extraction_id)))
        if item is None:
            return None
        value: JsonValue = contents.read(self._storage, tenant, item)
        return value

    def drop(self, tenant: str, extraction_id: str) -> None:
        """The object first."""
        key = _material(extraction_key(tenant, extraction_id))
        item = self._storage.calls.get(tenant, key)
        if item is None:
            return
        if contents.BLOB in item:
            self._storage.blobs.delete_all(contents.blob_prefix(tenant, ref_of(item), key.pk))
        with suppress(ConditionFailed):
            self._storage.calls.write(tenant, removal(key))


def _material(key: Key) -> Key:
    return Key(key.pk, "MATERIAL")
