"""Content that is too large for its task's item: on an item of its own, and over 100 KB in a sealed object.

Inputs over 2 KB and results over 8 KB move out, so that a claim and a completion write a small item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from slate.adapters.dynamodb.calls import Item, Key, Write
from slate.adapters.dynamodb.changes import put
from slate.adapters.dynamodb.codec import OVERHEAD_BYTES, to_json
from slate.adapters.dynamodb.keys import NOBODY, partition_of, ref_of, subject_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import Internal, NotFound

INLINE_INPUT_BYTES: Final = 2_048
INLINE_RESULT_BYTES: Final = 8_192
ITEM_BYTES: Final = 100 * 1024
CONTENT: Final = "content"
BLOB: Final = "blob"


def size_of(value: Any) -> int:
    """The bytes of a value as JSON."""
    return len(to_json(value))


def item_for(storage: Storage, tenant: str, ref: str | None, key: Key, value: Any) -> Item:
    """An item that holds a large value, or names the object that does (which is written first)."""
    sealed = storage.codec.seal(tenant, ref, key, CONTENT, value)
    inline = len(sealed) <= ITEM_BYTES + OVERHEAD_BYTES
    folder = blob_prefix(tenant, ref, key.pk) + key.sk.replace("#", "/")
    return {**key.attributes, **subject_attributes(tenant, ref), **held(storage, tenant, ref, folder, sealed, inline)}


def held(storage: Storage, tenant: str, ref: str | None, folder: str, sealed: bytes, inline: bool) -> Item:
    """The attributes that hold sealed bytes: these themselves, or the name of their object, which is written first.

    The object is named after its sealed bytes, which no two attempts share: one that loses never overwrites the
    winner's, and what it leaves behind goes with its graph.
    """
    if inline:
        return {CONTENT: sealed}
    digest = storage.codec.digest(tenant, ref, sealed.hex())
    blob = f"{folder}/{digest.hex()}"
    storage.blobs.put(blob, sealed)
    return {BLOB: blob, "blob_digest": digest}


def put_for(storage: Storage, tenant: str, ref: str | None, key: Key, value: Any) -> Write:
    """The write of ``item_for``, never over another."""
    return put(item_for(storage, tenant, ref, key, value))


_FOLDERS: Final = {"E": "exports", "G": "graphs", "P": "episodes", "S": "sessions", "X": "extractions"}


def person_prefix(tenant: str, ref: str | None) -> str:
    """Where all objects about a person lie, those that no item names too, or all about nobody; ends in a delimiter."""
    return f"{tenant}/{ref or NOBODY}/"


def blob_prefix(tenant: str, ref: str | None, pk: str) -> str:
    """Where the objects of a graph, or of another partition of its kind, lie; ends in a delimiter."""
    _, kind, owner = partition_of(pk)
    return f"{person_prefix(tenant, ref)}{_FOLDERS[kind]}/{owner}/"


def read(storage: Storage, tenant: str, item: Item) -> Any:
    """The value that such an item holds.

    Raises:
        SubjectErased: its key is gone.
        Internal: its object is missing or is another.
    """
    key = Key(item["pk"], item["sk"])
    return storage.codec.open(tenant, ref_of(item), key, CONTENT, sealed_in(storage, tenant, item))


def sealed_in(storage: Storage, tenant: str, item: Item) -> bytes:
    """The sealed bytes that an item holds, or its object.

    Raises:
        Internal: its object is missing or is another.
    """
    if CONTENT in item:
        return bytes(item[CONTENT])
    try:
        sealed = storage.blobs.get(item[BLOB])
    except NotFound:
        raise Internal(f"the object of {item['sk']} is missing") from None
    if storage.codec.digest(tenant, ref_of(item), sealed.hex()) != item["blob_digest"]:
        raise Internal(f"the object of {item['sk']} is not the one that was written")
    return sealed


def read_all(storage: Storage, tenant: str, keys: Sequence[Key]) -> dict[Key, Any]:
    """The values behind those of these keys that exist."""
    return {key: read(storage, tenant, item) for key, item in storage.calls.get_many(tenant, keys).items()}
