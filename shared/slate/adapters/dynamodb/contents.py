"""Content that is too large for its task's item: on an item of its own, and over 100 KB in a sealed object.

Inputs over 2 KB and results over 8 KB move out, so that a claim and a completion write a small item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from slate.adapters.dynamodb.calls import Item, Key, Write
from slate.adapters.dynamodb.changes import put
from slate.adapters.dynamodb.codec import OVERHEAD_BYTES, to_json
from slate.adapters.dynamodb.keys import ref_of, subject_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import Internal, NotFound

INLINE_INPUT_BYTES: Final = 2_048
INLINE_RESULT_BYTES: Final = 8_192
ITEM_BYTES: Final = 100 * 1024
CONTENT: Final = "content"
_BLOB: Final = "blob"


def size_of(value: Any) -> int:
    """The bytes of a value as JSON."""
    return len(to_json(value))


def item_for(storage: Storage, tenant: str, ref: str | None, key: Key, value: Any) -> Item:
    """An item that holds a large value, or names the object that does (which is written first).

    The object is named after its sealed bytes, which no two attempts share: one that loses never overwrites the
    winner's, and leaves an object behind that goes with its graph.
    """
    sealed = storage.codec.seal(tenant, ref, key, CONTENT, value)
    item = {**key.attributes, **subject_attributes(tenant, ref)}
    if len(sealed) <= ITEM_BYTES + OVERHEAD_BYTES:
        return {**item, CONTENT: sealed}
    digest = storage.codec.digest(tenant, ref, sealed.hex())
    blob = blob_prefix(tenant, key.pk) + f"{key.sk.replace('#', '/')}/{digest.hex()}"
    storage.blobs.put(blob, sealed)
    return {**item, _BLOB: blob, "blob_digest": digest}


def put_for(storage: Storage, tenant: str, ref: str | None, key: Key, value: Any) -> Write:
    """The write of ``item_for``, never over another."""
    return put(item_for(storage, tenant, ref, key, value))


def blob_prefix(tenant: str, graph_pk: str) -> str:
    """Where the objects of a graph lie; ends in a delimiter."""
    return f"{tenant}/graphs/{graph_pk.rpartition('#')[2]}/"


def read(storage: Storage, tenant: str, item: Item) -> Any:
    """The value that such an item holds.

    Raises:
        SubjectErased: its key is gone.
        Internal: its object is missing or is another.
    """
    key, ref = Key(item["pk"], item["sk"]), ref_of(item)
    sealed = item.get(CONTENT)
    if sealed is None:
        try:
            sealed = storage.blobs.get(item[_BLOB])
        except NotFound:
            raise Internal(f"the object of {key.sk} is missing") from None
        if storage.codec.digest(tenant, ref, sealed.hex()) != item["blob_digest"]:
            raise Internal(f"the object of {key.sk} is not the one that was written")
    return storage.codec.open(tenant, ref, key, CONTENT, sealed)


def read_all(storage: Storage, tenant: str, keys: Sequence[Key]) -> dict[Key, Any]:
    """The values behind those of these keys that exist."""
    return {key: read(storage, tenant, item) for key, item in storage.calls.get_many(tenant, keys).items()}
