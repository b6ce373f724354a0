"""Values as items, and items as values.

::

    VALUES             there are values here; in the timer, to look whether the graph has ended long enough ago
    V#<key>            the value as it stands: version, who and when, sealed content or its object; or `gone`
    VH#<key>#<slot>    the last versions before it, in a ring: a new one pushes the oldest out
    VO#<by>            what a change that is remembered for a day did

Content is sealed once, for the value's own place and version, and moves into the history as it is: so it opens
there, and nowhere else. What a deleted value held is out of reach at once: `since` says where its history begins. Its
item stays, without content, so that its versions never start again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import Item, Key
from slate.adapters.dynamodb.codec import OVERHEAD_BYTES
from slate.adapters.dynamodb.keys import VALUE, ref_of, subject_attributes, value_key, version_key
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import NotFound
from slate.domain.values import KEPT_VERSIONS, Author, Value

GONE: Final = "gone"
_HELD: Final = (contents.CONTENT, contents.BLOB, "blob_digest", "size")


def is_live(item: Item | None) -> bool:
    """Whether there is a value, and not only the memory of one."""
    return item is not None and GONE not in item


def live_version(item: Item | None) -> int:
    """The version of what is there; 0 where nothing is."""
    return int(item["version"]) if item is not None and is_live(item) else 0


class ValueItems:
    """Seals values into items and opens them."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    # ---- in

    def sealed(self, tenant: str, ref: str | None, key: Key, version: int, value: Any) -> bytes:
        """The value, sealed for its place and version."""
        return self._storage.codec.seal(tenant, ref, key, _attribute(version), value)

    def live(
        self,
        tenant: str,
        ref: str | None,
        key: Key,
        before: Item | None,
        author: Author,
        sealed: bytes,
        *,
        inline: bool,
    ) -> Item:
        """The item of the next version; a large one's object is written."""
        version = next_version(before)
        held = contents.held(self._storage, tenant, ref, folder(tenant, ref, key, version), sealed, inline)
        objects = self._objects(before, version) + ([] if inline else [version])
        since = before["since"] if before is not None and is_live(before) else version
        own: Item = {"size": len(sealed) - OVERHEAD_BYTES, "since": since, **held}
        return self._item(tenant, ref, key, version, author) | own | ({"objects": objects} if objects else {})

    def gone(self, tenant: str, ref: str | None, key: Key, before: Item, author: Author) -> Item:
        """The item that is left of a deleted value."""
        version = next_version(before)
        return {**self._item(tenant, ref, key, version, author), GONE: True, "since": version}

    def _item(self, tenant: str, ref: str | None, key: Key, version: int, author: Author) -> Item:
        return {
            **key.attributes,
            **subject_attributes(tenant, ref),
            "version": version,
            "by": author.by,
            "agent": author.agent,
            "updated_at": self._storage.clock.now(),
        }

    def _objects(self, before: Item | None, version: int) -> list[int]:
        """The kept versions that are objects."""
        return [v for v in (before or {}).get("objects", ()) if v >= version - KEPT_VERSIONS]

    def earlier(self, before: Item, *, with_content: bool) -> Item:
        """The item of a version that is no longer the last one."""
        pk, name = before["pk"], key_of(before)
        kept = {n: v for n, v in before.items() if n not in ("objects", "since", "sk")}
        if not with_content:
            kept = {n: v for n, v in kept.items() if n not in _HELD}
        return {**kept, "sk": version_key(pk, name, before["version"]).sk}

    # ---- out

    def value(self, tenant: str, item: Item) -> Value:
        """A value, or an earlier version of one; a call more where it is an object.

        Raises:
            SubjectErased: its key is gone.
        """
        name = key_of(item)
        place, version = value_key(item["pk"], name), int(item["version"])
        sealed = contents.sealed_in(self._storage, tenant, item)
        opened = self._storage.codec.open(tenant, ref_of(item), place, _attribute(version), sealed)
        return Value(key=name, value=opened, version=version, updated_at=item["updated_at"], updated_by=item["agent"])

    def values(self, tenant: str, items: Sequence[Item]) -> list[Value]:
        """Several; the objects are fetched side by side."""
        if not any(contents.BLOB in item for item in items):
            return [self.value(tenant, item) for item in items]
        return self._storage.each(lambda item: self.value(tenant, item), items)


def next_version(before: Item | None) -> int:
    """Versions go on, also over a delete."""
    return 1 if before is None else int(before["version"]) + 1


def key_of(item: Item) -> str:
    """The value's key, of any item about it."""
    return str(item["sk"]).split("#")[1]


def folder(tenant: str, ref: str | None, key: Key, version: int) -> str:
    """Where the object of a version lies, and those of attempts at it that lost."""
    return f"{contents.blob_prefix(tenant, ref, key.pk)}V/{key.sk.removeprefix(VALUE)}/{version}"


def within(items: Iterable[Item], room: int) -> list[Item]:
    """As many of the first as hold so much together; one at least."""
    shown: list[Item] = []
    for item in items:
        room -= int(item["size"])
        if shown and room < 0:
            break
        shown.append(item)
    return shown


def unknown(key: str) -> NotFound:
    """There is no such value."""
    return NotFound(f"there is no value {key!r}", key=key)


def _attribute(version: int) -> str:
    return f"value {version}"
