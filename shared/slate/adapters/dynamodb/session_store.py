"""Sessions in DynamoDB: one partition each; reads that do not grow with the conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from pydantic import JsonValue

from slate.adapters.dynamodb.calls import ConditionFailed, Item, TransactionRefused, Write
from slate.adapters.dynamodb.changes import CONSTANTS, put
from slate.adapters.dynamodb.keys import (
    BESIDE_TURNS,
    END,
    MARKED,
    SESSION,
    TURN,
    content_key,
    first_key,
    list_pk,
    merged_key,
    pinned_key,
    prefix,
    ref_of,
    session_entry_keys,
    session_key,
    session_of_entry,
    session_pk,
    subject_attributes,
    subject_pk,
    system_key,
    timer_attributes,
    turn_key,
    usage_key,
)
from slate.adapters.dynamodb.segment_store import SegmentStore
from slate.adapters.dynamodb.session_ends import SessionEnds
from slate.adapters.dynamodb.session_items import SessionItems, is_large, is_there, unknown, unknown_turn
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.turn_edits import TurnEdits
from slate.adapters.dynamodb.turn_writes import TurnWrites
from slate.adapters.dynamodb.usage_meter import usage_of
from slate.adapters.dynamodb.value_items import within
from slate.domain.errors import WITHHELD, Conflict, VersionMismatch
from slate.domain.marking import Marked
from slate.domain.sessions import (
    Extraction,
    Merged,
    Pinned,
    Segment,
    Session,
    Snapshot,
    Summary,
    Turn,
)
from slate.ports.graph_store import Page
from slate.ports.session_store import (
    MARKED_TURNS,
    RECENT_TURNS,
    Appended,
    Appending,
    NewTurn,
    PinnedState,
    Shown,
    Standing,
)

_BESIDE: Final = 6
"""Items beside the turns, at most."""
_ONE_READ: Final = 600_000
"""Sealed bytes after which a read is not gone on with: the next item still fits DynamoDB's page of 1 MB."""
_ANSWER: Final = 1_000_000


class DynamoSessionStore:
    """Keeps sessions in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._items = SessionItems(storage)
        self._writes = TurnWrites(storage, self._items)
        self._edits = TurnEdits(storage, self._items)
        self._ends = SessionEnds(storage, self._items)
        self._segments = SegmentStore(storage, self._items)

    # ---- sessions

    def create(self, tenant: str, session: Session, pinned: Pinned, content: JsonValue, due: int) -> bool:
        """One transaction of puts."""
        key, ref = session_key(tenant, session.session_id), self._items.ref(tenant, session.subject)
        digest = self._storage.codec.digest(tenant, ref, content)
        head = {**self._items.head_item(tenant, session, digest), **timer_attributes(key, due, "memory")}
        about = subject_attributes(tenant, ref)
        entries = session_entry_keys(tenant, ref, session.created_at, session.session_id)
        items = [head, self._items.pinned_item(tenant, ref, key.pk, pinned, 1)]
        if session.system is not None:
            items.append(self._items.system_item(tenant, ref, key.pk, session.system))
        items += [{**entry.attributes, **about} for entry in entries]
        try:
            self._storage.calls.transact(tenant, [put(item) for item in items])
        except TransactionRefused as refused:
            there = refused.failed.get(0) or self._storage.calls.get(tenant, key)
            return _is_own(there, head, ref)
        return True

    def head(self, tenant: str, session_id: str) -> Session:
        """One read."""
        return self._items.session(tenant, self._there(tenant, session_id))

    def _there(self, tenant: str, session_id: str) -> Item:
        item = self._storage.calls.get(tenant, session_key(tenant, session_id))
        if item is None or not is_there(item):
            raise unknown(session_id)
        return item

    def shown(self, tenant: str, session_id: str) -> Shown:
        """One query of what stands beside the turns."""
        pk = session_pk(tenant, session_id)
        return self._shown(
            tenant, session_id, list(self._storage.calls.query(tenant, pk, between=prefix(BESIDE_TURNS)))
        )

    def _shown(self, tenant: str, session_id: str, items: Sequence[Item]) -> Shown:
        pk, by = session_pk(tenant, session_id), {item["sk"]: item for item in items}
        head = by.get(session_key(tenant, session_id).sk)
        if head is None or not is_there(head):
            raise unknown(session_id)
        session = self._items.session(tenant, head, by.get(system_key(pk).sk))
        pinned = self._items.pinned(tenant, by[pinned_key(pk).sk])
        merged = self._items.merged(tenant, by.get(merged_key(pk).sk))
        usage = usage_of(by.get(usage_key(pk).sk))
        return Shown(session, pinned, merged if merged is not None and merged.segments else None, usage)

    def snapshot(
        self, tenant: str, session_id: str, *, recent: int = RECENT_TURNS, marked: int = MARKED_TURNS
    ) -> Snapshot:
        """Two queries side by side: backward from what stands beside the turns, and of the marked turns."""
        pk = session_pk(tenant, session_id)
        ranges = (((TURN, BESIDE_TURNS + END), recent + _BESIDE), (prefix(MARKED), marked + 1))
        last, copies = self._storage.each(lambda each: self._last(tenant, pk, *each), ranges)
        beside = [item for item in last if item["sk"].startswith(BESIDE_TURNS)]
        turns = [item for item in last if item["sk"].startswith(TURN)][:recent]
        shown = self._shown(tenant, session_id, beside)
        first = next((item for item in beside if item["sk"] == first_key(pk).sk), None)
        items = [*turns, *copies[:marked], *([] if first is None else [first])]
        return Snapshot(
            session=shown.session,
            pinned=shown.pinned.pinned,
            pinned_version=shown.pinned.version,
            first=None if first is None else self._items.turn(tenant, first),
            merged=shown.merged,
            recent=tuple(self._items.turn(tenant, item) for item in reversed(turns)),
            marked=tuple(self._items.turn(tenant, item) for item in copies[:marked]),
            more_marked=len(copies) > marked,
            shortened=frozenset(item["seq"] for item in items if is_large(item)),
        )

    def _last(self, tenant: str, pk: str, between: tuple[str, str], limit: int) -> list[Item]:
        """The last items of a range, as many as one call of DynamoDB gives at most."""
        found = self._storage.calls.query(tenant, pk, between=between, at_once=limit, backward=True)
        items: list[Item] = []
        size = 0
        for item in islice(found, limit):
            items.append(item)
            size += len(item.get("said", b"")) + 500
            if size > _ONE_READ:
                break
        return items

    def page(self, tenant: str, subject: str | None, position: str | None, limit: int) -> Page[Session]:
        """The list's entries, then their heads."""
        ref = self._items.ref(tenant, subject)
        pk = list_pk(tenant, "sessions") if ref is None else subject_pk(tenant, ref)
        before = SESSION + END if position is None else position
        found = self._storage.calls.query(tenant, pk, between=(SESSION, before), backward=True, at_once=limit + 2)
        entries = list(islice((entry for entry in found if entry["sk"] != position), limit + 1))
        shown = entries[:limit]
        keys = [session_key(tenant, session_of_entry(entry["sk"])) for entry in shown]
        heads = self._storage.calls.get_many(tenant, keys)
        sessions: list[Session] = []
        for key in keys:
            if key in heads and is_there(heads[key]):
                with suppress(*WITHHELD):  # a list goes on without what was erased
                    sessions.append(self._items.session(tenant, heads[key]))
        return Page(sessions, shown[-1]["sk"] if len(entries) > limit else None)

    def begin_delete(self, tenant: str, session_id: str, version: int | None) -> None:
        """As ``SessionEnds``."""
        self._ends.begin_delete(tenant, session_id, version)

    def remove(self, tenant: str, session_id: str, deadline: int) -> bool:
        """As ``SessionEnds``."""
        return self._ends.remove(tenant, session_id, deadline)

    # ---- turns

    def append(self, tenant: str, session: Session, turns: Sequence[NewTurn], author: Appending) -> Appended:
        """As ``TurnWrites``."""
        return self._writes.append(tenant, session, turns, author)

    def turn(self, tenant: str, session_id: str, seq: int) -> Turn:
        """One read; one or two more where it is large."""
        item = self._storage.calls.get(tenant, turn_key(session_pk(tenant, session_id), seq))
        turns = [] if item is None else self._items.whole_turns(tenant, [item])
        if not turns:
            raise unknown_turn(seq)
        return turns[0]

    def turns(self, tenant: str, session_id: str, after: int, limit: int, *, last: int | None = None) -> Page[Turn]:
        """One query."""
        pk = session_pk(tenant, session_id)
        end = TURN + END if last is None else turn_key(pk, last).sk
        start = turn_key(pk, after + 1).sk
        if start > end:
            return Page([], None)
        found = self._storage.calls.query(tenant, pk, between=(start, end), at_once=limit + 1)
        return self._page(tenant, found, limit)

    def turns_back(self, tenant: str, session_id: str, before: int | None, limit: int) -> Page[Turn]:
        """One query."""
        pk = session_pk(tenant, session_id)
        end = TURN + END if before is None else turn_key(pk, before - 1).sk
        if end < TURN:
            return Page([], None)
        found = self._storage.calls.query(tenant, pk, between=(TURN, end), at_once=limit + 1, backward=True)
        return self._page(tenant, found, limit)

    def _page(self, tenant: str, found: Iterator[Item], limit: int) -> Page[Turn]:
        items = list(islice(found, limit + 1))
        shown = within(items[:limit], _ANSWER)
        more = len(shown) < len(items)
        return Page(self._items.whole_turns(tenant, shown), str(shown[-1]["seq"]) if more else None)

    def many(self, tenant: str, session_id: str, seqs: Sequence[int]) -> list[Turn]:
        """A batch for each 100."""
        pk = session_pk(tenant, session_id)
        found = self._storage.calls.get_many(tenant, [turn_key(pk, seq) for seq in seqs])
        turns = {turn.seq: turn for turn in self._items.whole_turns(tenant, list(found.values()))}
        return [turns[seq] for seq in seqs if seq in turns]

    def change_turn(self, tenant: str, session_id: str, turn: Turn, marked: Marked) -> tuple[Turn, Segment | None]:
        """As ``TurnEdits``."""
        return self._edits.change(tenant, session_id, turn, marked)

    def delete_turn(self, tenant: str, session_id: str, seq: int, version: int | None) -> Segment | None:
        """As ``TurnEdits``."""
        return self._edits.delete(tenant, session_id, seq, version)

    def drop_content(self, tenant: str, session_id: str, name: str) -> None:
        """As ``TurnEdits``."""
        self._edits.drop_content(tenant, content_key(session_pk(tenant, session_id), name))

    # ---- pinned state

    def pinned(self, tenant: str, session_id: str) -> PinnedState:
        """One read of two items: what is being deleted is not found."""
        head = session_key(tenant, session_id)
        key = pinned_key(head.pk)
        found = self._storage.calls.get_many(tenant, [head, key])
        if not is_there(found.get(head)) or key not in found:
            raise unknown(session_id)
        return self._items.pinned(tenant, found[key])

    def put_pinned(self, tenant: str, session_id: str, pinned: Pinned, version: int | None) -> PinnedState:
        """One put over the version given; the item is there as long as the session is."""
        key = pinned_key(session_pk(tenant, session_id))
        while True:
            before = self._storage.calls.get(tenant, key) if version is None else {"version": version}
            if before is None:
                raise unknown(session_id)
            head = self._there(tenant, session_id)
            item = self._items.pinned_item(tenant, ref_of(head), key.pk, pinned, before["version"] + 1)
            seen = {**CONSTANTS, ":seen": before["version"]}
            try:
                self._storage.calls.write(tenant, Write(key, "#version = :seen", seen, item=item))
            except ConditionFailed as failed:
                if failed.old is None:
                    raise unknown(session_id) from None
                if failed.old["said"] == item["said"]:
                    return PinnedState(pinned, item["version"])
                if version is not None:
                    there = self._items.pinned(tenant, failed.old)
                    current = {**there.pinned.model_dump(mode="json"), "version": there.version}
                    raise VersionMismatch(current) from None
            else:
                return PinnedState(pinned, item["version"])

    # ---- segments and digests

    def cut(self, tenant: str, session: Session, last_seq: int, *, exchanges: int, tokens: int) -> Segment | None:
        """As ``SegmentStore``."""
        return self._segments.cut(tenant, session, last_seq, exchanges=exchanges, tokens=tokens)

    def segments(self, tenant: str, session_id: str, position: str | None, limit: int) -> Page[Segment]:
        """As ``SegmentStore``."""
        return self._segments.page(tenant, session_id, position, limit)

    def newest_segments(self, tenant: str, session_id: str, limit: int) -> list[Segment]:
        """As ``SegmentStore``."""
        return self._segments.newest(tenant, session_id, limit)

    def segment(self, tenant: str, session_id: str, last_seq: int) -> Segment | None:
        """As ``SegmentStore``."""
        return self._segments.get(tenant, session_id, last_seq)

    def keep_summary(self, tenant: str, session_id: str, segment: Segment, summary: Summary) -> bool:
        """As ``SegmentStore``."""
        return self._segments.keep_summary(tenant, session_id, segment, summary)

    def merged(self, tenant: str, session_id: str) -> Merged:
        """As ``SegmentStore``."""
        return self._segments.merged(tenant, session_id)

    def withdrawn(self, tenant: str, session_id: str) -> int:
        """One read."""
        return self._segments.withdrawn(tenant, session_id)

    def keep_merged(self, tenant: str, session_id: str, merged: Merged) -> bool:
        """As ``SegmentStore``."""
        return self._segments.keep_merged(tenant, session_id, merged)

    # ---- ends

    def close(self, tenant: str, session_id: str, extraction_id: str) -> Session:
        """As ``SessionEnds``."""
        return self._ends.close(tenant, session_id, extraction_id)

    def clear_values(self, tenant: str, session_id: str, deadline: int) -> bool:
        """As ``SessionEnds``."""
        return self._ends.clear_values(tenant, session_id, deadline)

    def closed(self, tenant: str, session: Session, due: int) -> None:
        """As ``SessionEnds``."""
        self._ends.closed(tenant, session, due)

    def standing(self, tenant: str, session_id: str) -> Standing | None:
        """As ``SessionEnds``."""
        return self._ends.standing(tenant, session_id)

    def look_again(self, tenant: str, session_id: str, seen: Standing, due: int) -> None:
        """As ``SessionEnds``."""
        self._ends.look_again(tenant, session_id, seen, due)

    def end_delete(self, tenant: str, session_id: str) -> None:
        """As ``SessionEnds``."""
        self._ends.end_delete(tenant, session_id)

    def extraction(self, tenant: str, extraction_id: str) -> Extraction:
        """As ``SessionEnds``."""
        return self._ends.extraction(tenant, extraction_id)

    def put_extraction(self, tenant: str, extraction: Extraction) -> bool:
        """As ``SessionEnds``."""
        return self._ends.put_extraction(tenant, extraction)


def _is_own(there: Item | None, head: Item, ref: str | None) -> bool:
    """False: the same session is there; True: by a transaction of this very call whose reply was lost.

    Raises:
        Conflict: it is another.
    """
    if there is None or not is_there(there):
        raise Conflict("a session of this id is still being deleted; use another id, or wait")
    mine = ref_of(there) == ref
    if there["digest"] != head["digest"]:
        facts = {"state": there["state"].lower(), "version": there["version"]} if mine else {}
        raise Conflict("a session of this id is there with other content; use another id", **facts)
    return bool(there["said"] == head["said"])
