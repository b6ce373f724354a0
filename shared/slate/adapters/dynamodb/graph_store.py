"""Graphs: their heads, their lists, their ends. Creating and extending them is in ``graph_writes``."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import ConditionFailed, Key, TransactionRefused, Write
from slate.adapters.dynamodb.cascade_store import cancelling
from slate.adapters.dynamodb.changes import Change, removal
from slate.adapters.dynamodb.graph_writes import GraphWrites
from slate.adapters.dynamodb.keys import (
    END,
    META,
    TASK,
    feed_key,
    graph_entry_key,
    graph_pk,
    head_key,
    list_pk,
    prefix,
    ref_of,
    subject_attributes,
    task_key,
    timer_attributes,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import SUBJECT_PK
from slate.adapters.dynamodb.task_items import shown_state
from slate.adapters.dynamodb.task_store import IN_TIMER, take
from slate.domain.errors import WITHHELD, NotFound, VersionMismatch
from slate.domain.feed import FeedHead
from slate.domain.graphs import Counts, GraphHead, GraphState
from slate.domain.tasks import TERMINAL, TaskState
from slate.ports.graph_store import Page

EXACT_TASKS: Final = 1_000
"""Counted exactly up to so many; beyond, as of what the feed has seen."""
LAST_PUT_MS: Final = 30_000 + 60_000
"""A request lives 30 s at most; what it sent may arrive up to 60 s later."""
_DELETES_AT_ONCE: Final = 100


class DynamoGraphStore(GraphWrites):
    """Keeps graphs in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._storage = storage

    def head(self, tenant: str, graph_id: str) -> GraphHead:
        """One read."""
        item = self._storage.calls.get(tenant, head_key(tenant, graph_id))
        if item is None or item["state"] == GraphState.DELETING:
            raise _unknown(graph_id)
        return self.opened(tenant, item)

    def counts(self, tenant: str, graph_id: str) -> Counts:
        """One query, a page for each MB of tasks; where the feed has counted more than 1,000, its counts.

        Not where it counts none that is open: whether a graph has ended is always looked up.
        """
        feed = self._storage.calls.get(tenant, feed_key(tenant, graph_id))
        counted = FeedHead(counts={} if feed is None else feed["counts"]).tasks
        if counted.total > EXACT_TASKS and counted.still_open:
            return counted
        names = ("state", "need")
        items = self._storage.calls.query(tenant, graph_pk(tenant, graph_id), between=prefix(TASK), names=names)
        return Counts.of(map(shown_state, items))

    def states(self, tenant: str, graph_id: str, task_ids: Collection[str]) -> dict[str, tuple[TaskState, int]]:
        """State and epoch, a batch for each 100."""
        keys = [task_key(tenant, graph_id, task_id) for task_id in task_ids]
        found = self._storage.calls.get_many(tenant, keys)
        return {
            key.sk.removeprefix(TASK): (TaskState(item["state"]), int(item["epoch"])) for key, item in found.items()
        }

    def page(self, tenant: str, subject: str | None, position: str | None, limit: int) -> Page[GraphHead]:
        """The list's entries, then their heads."""
        indexed = None
        if subject is not None:
            ref = self._storage.codec.keyring.ref(tenant, subject)
            indexed = subject_attributes(tenant, ref)[SUBJECT_PK]
        before = END if position is None else _just_before(position)
        entries = self._storage.calls.query(
            tenant,
            list_pk(tenant, "graphs"),
            between=(" ", before),
            backward=True,
            at_once=limit + 1 if subject is None else None,
        )
        fits = take(entries, lambda entry: indexed is None or entry.get(SUBJECT_PK) == indexed, limit + 1)
        shown = fits[:limit]
        keys = [head_key(tenant, str(entry["sk"]).partition("#")[2]) for entry in shown]
        found = self._storage.calls.get_many(tenant, keys)
        heads: list[GraphHead] = []
        for key in keys:
            if key in found:
                with suppress(*WITHHELD):  # a list goes on without what was erased
                    heads.append(self.opened(tenant, found[key]))
        return Page(heads, shown[-1]["sk"] if len(fits) > limit else None)

    def begin_cancel(self, tenant: str, graph_id: str, version: int | None) -> GraphHead:
        """One update; a repeat finds CANCELLING or CANCELLED and answers the same."""
        write = _at_version(self._cancelling(tenant, graph_id), version)
        try:
            return self.opened(tenant, self._storage.calls.write(tenant, write))
        except ConditionFailed as failed:
            old = failed.old
            if old is None or old["state"] == GraphState.DELETING:
                raise _unknown(graph_id) from None
            if old["state"] in (GraphState.CANCELLING, GraphState.CANCELLED):
                return self.opened(tenant, old)
            raise VersionMismatch(self.opened(tenant, old).model_dump(mode="json")) from None

    def give_up(self, tenant: str, graph_id: str, version: int) -> None:
        """The cancel of a create that nobody finished; the head stays sealed: the sweeper holds no keys."""
        self._quietly(tenant, _at_version(self._cancelling(tenant, graph_id), version))

    def _cancelling(self, tenant: str, graph_id: str) -> Write:
        now, key = self._storage.clock.now(), head_key(tenant, graph_id)
        change = (
            Change()
            .set(state=GraphState.CANCELLING, updated_at=now, ends_at=now + LAST_PUT_MS, **timer_attributes(key, now))
            .grow("version")
        )
        return change.on(key, "#state IN (:CREATING, :ACTIVE)")

    def sweep(self, tenant: str, graph_id: str, deadline: int) -> bool:
        """By consistent query, never an index: an index may not show a task yet."""
        pk = graph_pk(tenant, graph_id)
        names = ("pk", "sk", "state", "dependents", "need")
        for item in self._storage.calls.query(tenant, pk, between=prefix(TASK), names=names):
            if item["state"] in TERMINAL:
                continue
            if self._storage.clock.now() > deadline:
                return False
            key = Key(item["pk"], item["sk"])
            write = cancelling(self._storage, key, item, cause="graph", agent="slate", tells_children=False)
            try:
                self._storage.calls.write(tenant, write)
            except ConditionFailed:
                continue  # it ended meanwhile, or is gone
        return True

    def end_cancel(self, tenant: str, graph_id: str) -> None:
        """After the last sweep: CANCELLED, if it is still CANCELLING."""
        key = head_key(tenant, graph_id)
        change = Change().set(state=GraphState.CANCELLED, updated_at=self._storage.clock.now())
        self._quietly(tenant, change.grow("version").remove(*IN_TIMER).on(key, "#state = :CANCELLING"))

    def begin_delete(self, tenant: str, graph_id: str, version: int | None) -> None:
        """One transaction: the head says DELETING, and the list forgets the graph."""
        key, now = head_key(tenant, graph_id), self._storage.clock.now()
        item = self._storage.calls.get(tenant, key)
        if item is None or item["state"] == GraphState.DELETING:
            raise _unknown(graph_id)
        change = (
            Change()
            .set(state=GraphState.DELETING, ends_at=now + LAST_PUT_MS, **timer_attributes(key, now))
            .grow("version")
        )
        head = _at_version(change.on(key, "attribute_exists(#pk) AND #state <> :DELETING"), version)
        entry_key = graph_entry_key(tenant, item["created_at"], graph_id)
        entry = Write(entry_key, "attribute_exists(#pk) OR attribute_not_exists(#pk)", delete=True)
        try:
            self._storage.calls.transact(tenant, [head, entry])
        except TransactionRefused as refused:
            old = refused.failed.get(0)
            if old is None or old["state"] == GraphState.DELETING:
                return  # our own earlier try, or another's: it is being deleted
            raise VersionMismatch(self.opened(tenant, old).model_dump(mode="json")) from None

    def remove(self, tenant: str, graph_id: str, deadline: int) -> bool:
        """Tasks first, so that nothing more is claimed; then all else, objects before the items that name them."""
        pk = graph_pk(tenant, graph_id)
        head = self._storage.calls.get(tenant, head_key(tenant, graph_id))
        for between in (prefix(TASK), (" ", END)):
            keys: list[Key] = []
            for item in self._storage.calls.query(tenant, pk, between=between, names=("pk", "sk")):
                if item["sk"] == META:
                    continue
                keys.append(Key(item["pk"], item["sk"]))
                if len(keys) == _DELETES_AT_ONCE:
                    self._storage.calls.delete_many(tenant, keys)
                    keys.clear()
                    if self._storage.clock.now() > deadline:
                        return False
            if between == prefix(TASK) and head is not None:
                self._storage.blobs.delete_all(contents.blob_prefix(tenant, ref_of(head), pk))
            self._storage.calls.delete_many(tenant, keys)
        return True

    def end_delete(self, tenant: str, graph_id: str) -> None:
        """The head goes last, if it is still DELETING: the id is free."""
        key = head_key(tenant, graph_id)
        self._quietly(tenant, removal(key, "#state = :DELETING"))

    def look_again(self, tenant: str, graph_id: str, state: GraphState, due: int) -> None:
        """Move the head's timer entry, if it is still in that state."""
        key = head_key(tenant, graph_id)
        change = Change().set(**timer_attributes(key, due))
        self._quietly(tenant, change.on(key, "#state = :seen", seen=state.value))

    def _quietly(self, tenant: str, write: Write) -> None:
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed:
            return  # somebody else has moved the graph on; its state says what is left to do


def _at_version(write: Write, version: int | None) -> Write:
    return write if version is None else write.also("#version = :seen_version", **{":seen_version": version})


def _just_before(position: str) -> str:
    """The greatest text below a sort key, for a range that is read backward: its last character one less."""
    return position[:-1] + chr(ord(position[-1]) - 1) + END


def _unknown(graph_id: str) -> NotFound:
    return NotFound(f"there is no graph {graph_id!r}")
