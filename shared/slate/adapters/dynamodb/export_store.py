"""Exports in DynamoDB: a head, and a sealed item a page, whose text is an object where it is large.

::

    <t>#E#<export>     EXPORT          how far it is; in the timer, to be gone on with, and to go in the end
                       PAGE#<number>   lines of it

A page and the head that counts it are one transaction: whoever makes the same page twice, or two at once, adds one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import CONSTANTS, Change, put, removal
from slate.adapters.dynamodb.keys import (
    EXPORT_PAGE,
    export_key,
    export_page_key,
    prefix,
    ref_of,
    subject_attributes,
    timer_attributes,
)
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import NotFound
from slate.domain.exporting.export import Export, ExportState
from slate.ports.exports import Progress

LOOK_MS: Final = 15 * 60_000
"""One that is not done is looked after again so much later: its message may be lost."""
_SAID: Final = "said"
_PLAIN: Final = ("agent", "state", "pages", "lines", "created_at", "updated_at", "expires_at", "version")
_AT_ONCE: Final = 100


class DynamoExportStore:
    """Keeps exports in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def begin(self, tenant: str, export: Export) -> Export:
        """One put."""
        try:
            self._storage.calls.write(tenant, put(self._item(tenant, Progress(export, None))))
        except ConditionFailed:
            return self.get(tenant, export.export_id).export
        return export

    def get(self, tenant: str, export_id: str) -> Progress:
        """One read."""
        item = self._storage.calls.get(tenant, export_key(tenant, export_id))
        if item is None or item["expires_at"] <= self._storage.clock.now():
            raise unknown(export_id)
        said = self._storage.codec.open(tenant, ref_of(item), export_key(tenant, export_id), _SAID, item[_SAID])
        export = Export.model_validate(
            {**{name: item[name] for name in _PLAIN}, "export_id": export_id, "subject": said["subject"]}
        )
        return Progress(export, item.get("position"))

    def add(self, tenant: str, progress: Progress, text: str) -> bool:
        """One transaction of two puts; a large page's object is written before it."""
        export = progress.export
        ref = self._storage.codec.keyring.ref(tenant, export.subject)
        key = export_page_key(tenant, export.export_id, export.pages - 1)
        head = self._item(tenant, progress)
        seen = {**CONSTANTS, ":seen": export.version - 1}
        over = Write(export_key(tenant, export.export_id), "#version = :seen", seen, item=head)
        try:
            self._storage.calls.transact(tenant, [over, contents.put_for(self._storage, tenant, ref, key, text)])
        except TransactionRefused as refused:
            there = refused.failed.get(0)
            return there is not None and bool(there[_SAID] == head[_SAID])  # this very write, whose reply was lost
        return True

    def page(self, tenant: str, export_id: str, number: int) -> str:
        """One read, and that of its object."""
        item = self._storage.calls.get(tenant, export_page_key(tenant, export_id, number))
        if item is None:
            raise unknown(export_id)
        return str(contents.read(self._storage, tenant, item))

    def look_again(self, tenant: str, seen: Export) -> bool:
        """Move its timer entry, if it stands as it was seen."""
        key = export_key(tenant, seen.export_id)
        due = min(self._storage.clock.now() + LOOK_MS, seen.expires_at)
        change = Change(version=seen.version, done=ExportState.DONE.value).set(**timer_attributes(key, due, "memory"))
        try:
            self._storage.calls.write(tenant, change.on(key, "#version = :version AND #state <> :done"))
        except ConditionFailed:
            return False
        return True

    def drop(self, tenant: str, export_id: str, deadline: int) -> bool:
        """Objects, then pages, then the head."""
        head = export_key(tenant, export_id)
        item = self._storage.calls.get(tenant, head)
        if item is None:
            return True
        self._storage.blobs.delete_all(contents.blob_prefix(tenant, ref_of(item), head.pk))
        pages = [
            Key(page["pk"], page["sk"])
            for page in self._storage.calls.query(tenant, head.pk, between=prefix(EXPORT_PAGE), names=("pk", "sk"))
        ]
        for start in range(0, len(pages), _AT_ONCE):
            if self._storage.clock.now() > deadline:
                return False
            self._storage.calls.delete_many(tenant, pages[start : start + _AT_ONCE])
        with suppress(ConditionFailed):
            self._storage.calls.write(tenant, removal(head))
        return True

    def _item(self, tenant: str, progress: Progress) -> Item:
        export = progress.export
        ref, key = self._storage.codec.keyring.ref(tenant, export.subject), export_key(tenant, export.export_id)
        look = self._storage.clock.now() + LOOK_MS
        due = export.expires_at if export.state is ExportState.DONE else min(look, export.expires_at)
        return {
            **key.attributes,
            **subject_attributes(tenant, ref),
            **{name: getattr(export, name) for name in _PLAIN},
            **({} if progress.position is None else {"position": progress.position}),
            **timer_attributes(key, due, "memory"),
            _SAID: self._storage.codec.seal(tenant, ref, key, _SAID, {"subject": export.subject}),
        }


def unknown(export_id: str) -> NotFound:
    """There is no such export."""
    return NotFound(f"there is no export {export_id!r} (any more); an export is kept for a bounded time")
