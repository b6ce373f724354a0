"""Notices, quarantine, consent and the forgetting log: items of their own in the subject's partition."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import islice
from typing import Final, TypeVar

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.changes import CONSTANTS, put
from slate.adapters.dynamodb.fact_items import (
    FORGOT,
    NOTICE,
    QUARANTINE,
    TOLD,
    FactItems,
    consent_key,
    quarantine_key,
    told_key,
)
from slate.adapters.dynamodb.keys import prefix, subject_attributes, subject_pk
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import WITHHELD, Conflict, NotFound, VersionMismatch
from slate.domain.facts.model import (
    Consent,
    Consents,
    Forgetting,
    Notice,
    Quarantined,
    QuarantineState,
    Sensitive,
)
from slate.ports.graph_store import Page

T = TypeVar("T")
TOLD_OF: Final = 50
"""Of the newest notices, so many are told to a session."""
TOLD_FOR_MS: Final = 30 * 86_400_000
"""A notice that is older is told to no session any more; it stays in the list."""
_TRIES: Final = 10


class DynamoFactRecords:
    """Keeps them in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._items = FactItems(storage)

    # ---- notices

    def notices(self, tenant: str, ref: str, position: str | None, limit: int) -> Page[Notice]:
        """One query backward."""
        return self._page(tenant, ref, NOTICE, position, limit, self._items.notice)

    def undelivered(self, tenant: str, ref: str, session_id: str) -> list[Notice]:
        """A query of the newest notices and one of what the session was told."""
        pk, since = subject_pk(tenant, ref), self._storage.clock.now() - TOLD_FOR_MS
        low, high = prefix(NOTICE)
        newest = self._storage.calls.query(
            tenant, pk, between=(f"{low}{max(since, 0):015d}", high), at_once=TOLD_OF, backward=True
        )
        items = list(islice(newest, TOLD_OF))
        if not items:
            return []
        told = self._storage.calls.query(tenant, pk, between=prefix(f"{TOLD}{session_id}#"), names=("sk",))
        known = {str(item["sk"]).rpartition("#")[2] for item in told}
        replaced: set[str] = set()
        open_ones: list[Notice] = []
        for notice in self._opened(tenant, items, self._items.notice):  # the newest first
            if notice.notice_id not in known and notice.fact_id not in replaced:
                open_ones.append(notice)
            replaced.update(notice.superseded)
        return open_ones[::-1]

    def deliver(self, tenant: str, ref: str, session_id: str, notice_ids: Collection[str], by: str = "") -> set[str]:
        """A put for each, where there was none, but this very one, whose reply was lost."""
        return {each for each in notice_ids if self._told(tenant, ref, session_id, each, by)}

    def _told(self, tenant: str, ref: str, session_id: str, notice_id: str, by: str) -> bool:
        key = told_key(tenant, ref, session_id, notice_id)
        ttl = (self._storage.clock.now() + 2 * TOLD_FOR_MS) // 1000
        try:
            told = {**key.attributes, **subject_attributes(tenant, ref), "ttl": ttl, **({"by": by} if by else {})}
            self._storage.calls.write(tenant, put(told))
        except ConditionFailed as failed:
            return bool(by) and failed.old is not None and failed.old.get("by") == by
        return True

    # ---- quarantine

    def hold_back(self, tenant: str, ref: str, held: Quarantined) -> Quarantined:
        """A put where there is none: what was decided about a statement stays decided when it is said again."""
        digest = self._items.quarantine_id(tenant, ref, held)
        kept = held.model_copy(update={"quarantine_id": digest})
        try:
            self._storage.calls.write(tenant, put(self._items.held_item(tenant, ref, kept)))
        except ConditionFailed as failed:
            return kept if failed.old is None else self._items.held(tenant, failed.old)
        return kept

    def quarantine(self, tenant: str, ref: str, position: str | None, limit: int) -> Page[Quarantined]:
        """One query."""
        return self._page(tenant, ref, QUARANTINE, position, limit, self._items.held)

    def drop(self, tenant: str, ref: str, which: Callable[[Quarantined], bool]) -> None:
        """One query; then those, by key."""
        items = self._storage.calls.query(tenant, subject_pk(tenant, ref), between=prefix(QUARANTINE))
        gone = [Key(item["pk"], item["sk"]) for item in items if which(self._items.held(tenant, item))]
        self._storage.calls.delete_many(tenant, gone)

    def quarantined(self, tenant: str, ref: str, quarantine_id: str) -> Quarantined:
        """One read."""
        item = self._storage.calls.get(tenant, quarantine_key(tenant, ref, quarantine_id))
        if item is None:
            raise NotFound(f"nothing is held back under {quarantine_id!r}")
        return self._items.held(tenant, item)

    def review(self, tenant: str, ref: str, quarantine_id: str, state: QuarantineState) -> Quarantined:
        """A put over what was read."""
        for _ in range(_TRIES):
            held = self.quarantined(tenant, ref, quarantine_id)
            if held.state is state:
                return held
            if held.state is not QuarantineState.PENDING:
                raise Conflict(f"this was {held.state} before", quarantine_state=held.state.value)
            reviewed = held.model_copy(update={"state": state, "version": held.version + 1})
            if self._replaced(tenant, self._items.held_item(tenant, ref, reviewed), held.version):
                return reviewed
        raise Conflict("this is being decided by somebody else")

    # ---- consent

    def consents(self, tenant: str, ref: str) -> Consents:
        """One read."""
        return self._items.consents(tenant, self._storage.calls.get(tenant, consent_key(tenant, ref)))

    def put_consents(self, tenant: str, ref: str, given: dict[Sensitive, Consent], version: int | None) -> Consents:
        """A put over what was read."""
        while True:
            before = self.consents(tenant, ref)
            if version is not None and version != before.version:
                raise VersionMismatch(before.model_dump(mode="json"))
            after = before.after(given)
            if after == before:
                return before
            if self._replaced(tenant, self._items.consents_item(tenant, ref, after), before.version):
                return after

    def _replaced(self, tenant: str, item: Item, seen: int) -> bool:
        """Put over the version that was read; whether it was, perhaps by this call whose reply was lost."""
        values = {**CONSTANTS, ":seen": seen}
        condition = "#version = :seen" if seen else "attribute_not_exists(#pk)"
        try:
            self._storage.calls.write(tenant, Write(Key(item["pk"], item["sk"]), condition, values, item=item))
        except ConditionFailed as failed:
            return failed.old is not None and bool(failed.old["said"] == item["said"])
        return True

    # ---- the log

    def note(self, tenant: str, ref: str, entry: Forgetting) -> None:
        """One put."""
        with suppress(ConditionFailed):
            self._storage.calls.write(tenant, put(self._items.log_item(tenant, ref, entry)))

    def log(self, tenant: str, ref: str, position: str | None, limit: int) -> Page[Forgetting]:
        """One query backward."""
        return self._page(tenant, ref, FORGOT, position, limit, self._items.log_entry)

    # ---- lists

    def _page(
        self,
        tenant: str,
        ref: str,
        start: str,
        position: str | None,
        limit: int,
        read: Callable[[str, Item], T],
    ) -> Page[T]:
        low, high = prefix(start)
        found = self._storage.calls.query(
            tenant, subject_pk(tenant, ref), between=(low, position or high), backward=True, at_once=limit + 2
        )
        items = list(islice((item for item in found if item["sk"] != position), limit + 1))
        shown = items[:limit]
        return Page(self._opened(tenant, shown, read), str(shown[-1]["sk"]) if len(items) > limit else None)

    @staticmethod
    def _opened(tenant: str, items: Collection[Item], read: Callable[[str, Item], T]) -> list[T]:
        opened: list[T] = []
        for item in items:
            try:
                opened.append(read(tenant, item))
            except WITHHELD:
                continue  # a list goes on without what was erased
        return opened
