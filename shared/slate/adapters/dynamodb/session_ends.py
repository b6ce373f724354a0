"""Sessions end: closed, open again, deleted, removed. Each step is conditional, and the timer remembers what is left.

::

    ACTIVE ──close: pending, due at once──► CLOSED ──what follows: sent, values gone──► not pending, due later
      ▲                                       │
      └──────────── a turn: due at once ──────┘
    ACTIVE, CLOSED ──delete──► DELETING, due at once ──all removed, again once no write can arrive──► the head goes
"""

from __future__ import annotations

from typing import Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import CONSTANTS, Change, put, removal
from slate.adapters.dynamodb.graph_store import LAST_PUT_MS
from slate.adapters.dynamodb.keys import (
    END,
    EXTRACTION,
    extraction_entry_key,
    extraction_key,
    prefix,
    ref_of,
    session_entry_keys,
    session_key,
    session_pk,
    subject_attributes,
    timer_attributes,
    timer_due,
    values_key,
)
from slate.adapters.dynamodb.segment_store import closed_segment
from slate.adapters.dynamodb.session_items import ACTIVE, CLOSED, DELETING, STATES, SessionItems, is_there, unknown
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import TIMER_SK
from slate.domain.errors import NotFound, Unavailable, VersionMismatch
from slate.domain.sessions import Extraction, ExtractionState, Session
from slate.ports.session_store import Standing

_TRIES: Final = 20
_AT_ONCE: Final = 100
_ANY: Final = "attribute_exists(#pk) OR attribute_not_exists(#pk)"


class SessionEnds:
    """Closing and deleting."""

    def __init__(self, storage: Storage, items: SessionItems) -> None:
        self._storage = storage
        self._items = items

    # ---- close

    def close(self, tenant: str, session_id: str, extraction_id: str) -> Session:
        """One transaction, pinned to the turns that were seen: the segment that ends holds all of them."""
        key = session_key(tenant, session_id)
        item = self._storage.calls.get(tenant, key)
        for attempt in range(_TRIES):
            if item is None or not is_there(item):
                raise unknown(session_id)
            if item["state"] == CLOSED or item.get("extraction_id") == extraction_id:
                return self._items.session(tenant, item)
            try:
                self._storage.calls.transact(tenant, self._closing(tenant, key, item, extraction_id))
            except TransactionRefused as refused:
                item = refused.failed[0] if 0 in refused.failed else self._storage.calls.get(tenant, key)
                self._storage.calls.pause(min(attempt, 4))
            else:
                item = self._storage.calls.get(tenant, key)
        raise Unavailable("the session keeps changing, and was not closed; repeat the call")

    def _closing(self, tenant: str, key: Key, item: Item, extraction_id: str) -> list[Write]:
        now, ref = self._storage.clock.now(), ref_of(item)
        change = Change(**STATES).set(
            state=CLOSED,
            pending=extraction_id,
            extraction_id=extraction_id,
            updated_at=now,
            **timer_attributes(key, now, "memory"),
        )
        segment: list[Write] = []
        if item["turns"] >= item["segment_first"]:
            change.set(segment=item["segment"] + 1, segment_first=item["turns"] + 1)
            change.set(segment_exchanges=0, segment_tokens=0)
            segment = [put(closed_segment(key, ref, item["segment"], item["segment_first"], item["turns"]))]
        seen = {"seen_turns": item["turns"], "seen_segment": item["segment"]}
        head = change.grow("version").on(
            key, "#state = :open AND #turns = :seen_turns AND #segment = :seen_segment", **seen
        )
        entry = extraction_entry_key(key.pk, extraction_id)
        return [
            head,
            *segment,
            put(self._queued(tenant, item, extraction_id)),
            put({**entry.attributes, **subject_attributes(tenant, ref)}),
            self._going(tenant, key.pk, ref, extraction_id),
        ]

    def _queued(self, tenant: str, item: Item, extraction_id: str) -> Item:
        now, session = self._storage.clock.now(), self._items.session(tenant, item)
        return self._extraction_item(
            tenant,
            Extraction(
                extraction_id=extraction_id,
                session_id=session.session_id,
                subject=session.subject,
                state=ExtractionState.QUEUED,
                created_at=now,
                updated_at=now,
            ),
        )

    @staticmethod
    def _going(tenant: str, pk: str, ref: str | None, extraction_id: str) -> Write:
        """From now on no value can be new, until those of this close are gone."""
        change = Change().set(going=extraction_id, **subject_attributes(tenant, ref))
        return change.on(values_key(pk), _ANY)

    def clear_values(self, tenant: str, session_id: str, deadline: int) -> bool:
        """Each as it was seen: a value that a session has since it was opened again stays."""
        pk = session_pk(tenant, session_id)
        root = self._storage.calls.get(tenant, values_key(pk))
        if root is None or "going" not in root:
            return True
        while True:
            seen = [item for start in ("V#", "VH#", "VO#") for item in self._listed(tenant, pk, start)]
            if not seen:
                break
            self._storage.each(lambda item: self._drop_value(tenant, item), seen)
            if self._storage.clock.now() > deadline:
                return False
        ended = {**CONSTANTS, ":seen": root["going"]}
        self._quietly(tenant, Write(values_key(pk), "#going = :seen", ended, delete=True))
        return True

    def _listed(self, tenant: str, pk: str, start: str) -> list[Item]:
        names = ("pk", "sk", "by", "version", contents.BLOB)
        return list(self._storage.calls.query(tenant, pk, between=prefix(start), names=names))

    def _drop_value(self, tenant: str, item: Item) -> None:
        if contents.BLOB in item:
            self._storage.blobs.delete_all(item[contents.BLOB])
        values = {**CONSTANTS, ":by": item.get("by"), ":seen": item.get("version")}
        same = "#by = :by AND #version = :seen" if "by" in item else "attribute_exists(#pk)"
        self._quietly(tenant, Write(Key(item["pk"], item["sk"]), same, values, delete=True))

    def closed(self, tenant: str, session: Session, due: int) -> None:
        """What follows the close that was seen is done; another close, or a turn, may have come since."""
        key = session_key(tenant, session.session_id)
        change = Change(**STATES).set(**timer_attributes(key, due, "memory")).remove("pending")
        self._quietly(tenant, change.on(key, "#pending = :seen", seen=session.extraction_id))

    # ---- extractions

    def extraction(self, tenant: str, extraction_id: str) -> Extraction:
        """One read."""
        item = self._storage.calls.get(tenant, extraction_key(tenant, extraction_id))
        if item is None:
            raise NotFound(f"there is no extraction {extraction_id!r}")
        said = self._items.opened(tenant, item)
        plain = {name: item[name] for name in ("state", "created_at", "updated_at", "version")}
        return Extraction.model_validate({**said, **plain, "extraction_id": extraction_id})

    def put_extraction(self, tenant: str, extraction: Extraction) -> bool:
        """One put, over the version before; that of a session is kept as long as its session is."""
        item = self._extraction_item(tenant, extraction)
        key, seen = Key(item["pk"], item["sk"]), {**CONSTANTS, ":seen": extraction.version - 1}
        try:
            self._storage.calls.write(tenant, Write(key, "#version = :seen", seen, item=item))
        except ConditionFailed as failed:
            return bool((failed.old or {}).get("said") == item["said"])
        return True

    def _extraction_item(self, tenant: str, extraction: Extraction) -> Item:
        ref = self._items.ref(tenant, extraction.subject)
        said = extraction.model_dump(mode="json", include={"session_id", "subject", "decisions"})
        key = extraction_key(tenant, extraction.extraction_id)
        plain = extraction.model_dump(include={"state", "created_at", "updated_at", "version"})
        return self._items.sealed(tenant, ref, key, said, **plain)

    # ---- delete

    def begin_delete(self, tenant: str, session_id: str, version: int | None) -> None:
        """One transaction: the head says DELETING, and the lists forget the session."""
        key, now = session_key(tenant, session_id), self._storage.clock.now()
        item = self._storage.calls.get(tenant, key)
        if item is None or not is_there(item):
            raise unknown(session_id)
        change = Change(**STATES).set(state=DELETING, ends_at=now + LAST_PUT_MS, **timer_attributes(key, now, "memory"))
        head = change.grow("version").on(key, "attribute_exists(#pk) AND #state <> :deleting")
        if version is not None:
            head = head.also("#version = :seen", **{":seen": version})
        entries = session_entry_keys(tenant, ref_of(item), item["created_at"], session_id)
        gone = [removal(entry, _ANY) for entry in entries]
        try:
            self._storage.calls.transact(tenant, [head, *gone])
        except TransactionRefused as refused:
            old = refused.failed.get(0)
            if old is not None and is_there(old):
                raise VersionMismatch(self._items.session(tenant, old).model_dump(mode="json")) from None

    def remove(self, tenant: str, session_id: str, deadline: int) -> bool:
        """Objects before the items that name them, extractions before their entries; the head stays."""
        head = session_key(tenant, session_id)
        found = self._storage.calls.get(tenant, head)
        if found is not None:
            self._storage.blobs.delete_all(contents.blob_prefix(tenant, ref_of(found), head.pk))
        keys: list[Key] = []
        for item in self._storage.calls.query(tenant, head.pk, between=(" ", END), names=("pk", "sk")):
            if item["sk"] == head.sk:
                continue
            if item["sk"].startswith(EXTRACTION):
                keys.insert(0, extraction_key(tenant, item["sk"].removeprefix(EXTRACTION)))
            keys.append(Key(item["pk"], item["sk"]))
            if len(keys) >= _AT_ONCE:
                self._storage.calls.delete_many(tenant, keys)
                keys.clear()
                if self._storage.clock.now() > deadline:
                    return False
        self._storage.calls.delete_many(tenant, keys)
        return True

    def end_delete(self, tenant: str, session_id: str) -> None:
        """The id is free."""
        key = session_key(tenant, session_id)
        values = {**CONSTANTS, **{f":{name}": state for name, state in STATES.items()}}
        self._quietly(tenant, Write(key, "#state = :deleting", values, delete=True))

    # ---- what is due

    def standing(self, tenant: str, session_id: str) -> Standing | None:
        """One read."""
        item = self._storage.calls.get(tenant, session_key(tenant, session_id))
        if item is None or TIMER_SK not in item:
            return None
        due = timer_due(item)
        if item["state"] == DELETING:
            return Standing(None, due, ends_at=item["ends_at"])
        return Standing(self._items.session(tenant, item), due, pending="pending" in item)

    def look_again(self, tenant: str, session_id: str, seen: Standing, due: int) -> None:
        """One update, in the state that was seen, with nothing pending that was not."""
        key = session_key(tenant, session_id)
        change = Change(**STATES).set(**timer_attributes(key, due, "memory"))
        state = DELETING if seen.session is None else ACTIVE if seen.session.state == "open" else CLOSED
        condition = "#state = :seen" if seen.pending else "#state = :seen AND attribute_not_exists(#pending)"
        self._quietly(tenant, change.on(key, condition, seen=state))

    def _quietly(self, tenant: str, write: Write) -> None:
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed:
            return  # somebody else has moved it on; what is there says what is left to do
