"""Closed runs of turns and their digests: a digest counts for the edition that it was made of, and for no other."""

from __future__ import annotations

from itertools import islice
from typing import Any

from slate.adapters.dynamodb.calls import Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import Change, check, put
from slate.adapters.dynamodb.keys import (
    END,
    SEGMENT,
    merged_key,
    ref_of,
    segment_key,
    session_key,
    session_pk,
    subject_attributes,
)
from slate.adapters.dynamodb.session_items import STATES, SessionItems, is_there
from slate.adapters.dynamodb.storage import Storage
from slate.domain.sessions import Merged, Segment, Session, Summary
from slate.ports.graph_store import Page


class SegmentStore:
    """Cutting, listing, keeping."""

    def __init__(self, storage: Storage, items: SessionItems) -> None:
        self._storage = storage
        self._items = items

    def cut(self, tenant: str, session: Session, last_seq: int, *, exchanges: int, tokens: int) -> Segment | None:
        """One transaction: the head's open segment moves on, the closed one is noted."""
        key = session_key(tenant, session.session_id)
        change = (
            Change(exchanges=exchanges, tokens=tokens, **STATES)
            .set(segment=session.segment + 1, segment_first=last_seq + 1)
            .let(
                segment_exchanges="#segment_exchanges - :exchanges",
                segment_tokens="#segment_tokens - :tokens",
            )
        )
        condition = "#segment = :seen AND #segment_first <= :last AND #turns >= :last AND #state <> :deleting"
        # What was counted to be cut off is there still.
        condition += " AND #edits = :edits"
        seen = {"seen": session.segment, "last": last_seq, "edits": session.edits}
        head = change.grow("version").on(key, condition, **seen)
        ref = self._items.ref(tenant, session.subject)
        closed = closed_segment(key, ref, session.segment, session.segment_first, last_seq)
        try:
            self._storage.calls.transact(tenant, [head, put(closed)])
        except TransactionRefused as refused:
            there = refused.failed.get(1)
            # A resend of this very cut, or another that came to the same.
            same = there is not None and (there["number"], there["first_seq"]) == (
                session.segment,
                session.segment_first,
            )
            return self._items.segment(tenant, there) if same and there is not None else None
        return self._items.segment(tenant, closed)

    def page(self, tenant: str, session_id: str, position: str | None, limit: int) -> Page[Segment]:
        """One query."""
        pk = session_pk(tenant, session_id)
        start = SEGMENT if position is None else position + " "
        found = self._storage.calls.query(tenant, pk, between=(start, SEGMENT + END), at_once=limit + 1)
        items = list(islice(found, limit + 1))
        shown = items[:limit]
        return Page(
            [self._items.segment(tenant, item) for item in shown], shown[-1]["sk"] if len(items) > limit else None
        )

    def newest(self, tenant: str, session_id: str, limit: int) -> list[Segment]:
        """One query, backward."""
        pk = session_pk(tenant, session_id)
        found = self._storage.calls.query(tenant, pk, between=(SEGMENT, SEGMENT + END), at_once=limit, backward=True)
        return [self._items.segment(tenant, item) for item in islice(found, limit)][::-1]

    def get(self, tenant: str, session_id: str, last_seq: int) -> Segment | None:
        """One read."""
        item = self._storage.calls.get(tenant, segment_key(session_pk(tenant, session_id), last_seq))
        return None if item is None else self._items.segment(tenant, item)

    def keep_summary(self, tenant: str, session_id: str, segment: Segment, summary: Summary) -> bool:
        """One update, with the session still there: what is being removed takes no digest."""
        head = session_key(tenant, session_id)
        key = segment_key(head.pk, segment.last_seq)
        item = self._storage.calls.get(tenant, key)
        if item is None:
            return False
        sealed = self._items.sealed(tenant, ref_of(item), key, summary.model_dump(mode="json"))
        change = Change().set(said=sealed["said"], digested=segment.edition)
        update = change.on(key, "#edition = :edition AND #digested < :edition", edition=segment.edition)
        try:
            self._storage.calls.transact(tenant, [_not_deleting(head), update])
        except TransactionRefused as refused:
            there = refused.failed.get(1) or {}
            return bool(there.get("said") == sealed["said"])
        return True

    def merged(self, tenant: str, session_id: str) -> Merged:
        """One read."""
        item = self._storage.calls.get(tenant, merged_key(session_pk(tenant, session_id)))
        return self._items.merged(tenant, item) or Merged()

    def withdrawn(self, tenant: str, session_id: str) -> int:
        """One read."""
        item = self._storage.calls.get(tenant, merged_key(session_pk(tenant, session_id)))
        return 0 if item is None else int(item.get("withdrawn", 0))

    def keep_merged(self, tenant: str, session_id: str, merged: Merged) -> bool:
        """One transaction with the head, which says whose it is."""
        head = session_key(tenant, session_id)
        found = self._storage.calls.get(tenant, head)
        if found is None or not is_there(found):
            return False
        newer = merged.model_copy(update={"version": merged.version + 1})
        item = self._items.merged_item(tenant, ref_of(found), head.pk, newer)
        condition = "#version = :seen" if merged.version else "attribute_not_exists(#pk)"
        key = Key(head.pk, item["sk"])
        # An update: when something was last withdrawn stays known.
        change = Change().set(**{name: value for name, value in item.items() if name not in key.attributes})
        write = change.on(key, condition, seen=merged.version)
        try:
            self._storage.calls.transact(tenant, [_not_deleting(head), write])
        except TransactionRefused as refused:
            there = refused.failed.get(1) or {}
            return bool(there.get("said") == item["said"])
        return True


def closed_segment(head: Key, ref: str | None, number: int, first_seq: int, last_seq: int) -> Item:
    """The item of a segment that is just closed."""
    key = segment_key(head.pk, last_seq)
    said: dict[str, Any] = {"number": number, "first_seq": first_seq, "last_seq": last_seq, "edition": 1, "digested": 0}
    tenant = head.pk.partition("#")[0]
    return {**key.attributes, **subject_attributes(tenant, ref), **said}


def _not_deleting(head: Key) -> Write:
    return check(head, "attribute_exists(#pk) AND #state <> :deleting", **STATES)
