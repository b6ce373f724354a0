"""Feeds in their graphs' partitions: a head, pages of entries, a mark for each task.

The head's ``turn`` orders all who write: each transaction is committed IF nobody else's came between. It makes the
head only IF the graph is the one that was read and is not being deleted. A deletion removes the head with the rest,
and looks again once all that was under way has arrived: so nothing is written to a graph that is gone. The entries of
a transaction are one item, named by its last number: many changes at once cost little more than one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import Change, check, put
from slate.adapters.dynamodb.feed_records import TASK_NAMES, step_of
from slate.adapters.dynamodb.keys import (
    MARK,
    MAX_SEQ,
    TASK,
    feed_key,
    feed_page_key,
    graph_pk,
    head_key,
    mark_key,
    prefix,
    ref_of,
    subject_attributes,
    timer_attributes,
    timer_due,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import TIMER_PK, TIMER_SK
from slate.domain.events import FeedEntry, Step
from slate.domain.feed import FeedHead, FeedView, Mark
from slate.domain.graphs import GraphState
from slate.domain.tasks import TERMINAL
from slate.ports.feed_store import FeedMoved, GraphGone, Overview

_PAGES_AT_ONCE: Final = 100
_IN_TIMER: Final = (TIMER_PK, TIMER_SK)
_THERE: Final = "attribute_exists(#pk) AND #state <> :DELETING AND #created_at = :born"
_STEP: Final = ("version", "state", "at", "born", "agent", "epoch", "role", "queue")
_ENTRY: Final = ("seq", "at", "type", "task_id", "state", "agent", "epoch", "role", "queue", "version")


class DynamoFeedStore:
    """Keeps feeds in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self, tenant: str, graph_id: str, task_ids: Collection[str]) -> FeedView | None:
        """One batch: the graph's head, the feed's, the marks."""
        graph, feed = head_key(tenant, graph_id), feed_key(tenant, graph_id)
        marks = {mark_key(tenant, graph_id, task_id): task_id for task_id in (None, *task_ids)}
        found = self._storage.calls.get_many(tenant, [graph, feed, *marks])
        if graph not in found or found[graph]["state"] == GraphState.DELETING:
            return None
        return FeedView(
            graph_id=graph_id,
            born=found[graph]["created_at"],
            subject_ref=ref_of(found[graph]),
            head=_head(found.get(feed)),
            marks={task_id: _mark(task_id, found[key]) for key, task_id in marks.items() if key in found},
        )

    def commit(
        self,
        tenant: str,
        view: FeedView,
        head: FeedHead,
        marks: Mapping[str | None, Mark],
        entries: Sequence[FeedEntry],
    ) -> None:
        """The head moves on, marks and a page of entries are put; the first time the graph's head is looked at."""
        about = subject_attributes(tenant, view.subject_ref)
        writes = [] if view.head.turn else [check(head_key(tenant, view.graph_id), _THERE, born=view.born)]
        writes.append(self._moving(tenant, view, head, about, parks=any(mark.parked for mark in marks.values())))
        for task_id, mark in marks.items():
            item = {**mark_key(tenant, view.graph_id, task_id).attributes, **about, **_mark_attributes(mark)}
            before = view.marks.get(task_id)
            writes.append(put(item) if before is None else _replacing(item, before))
        if entries:
            key = feed_page_key(tenant, view.graph_id, entries[-1].seq)
            writes.append(put({**key.attributes, **about, "entries": [_entry_attributes(entry) for entry in entries]}))
        try:
            self._storage.calls.transact(tenant, writes)
        except TransactionRefused as refused:
            gone = 0 in refused.failed and not view.head.turn
            raise (GraphGone if gone else FeedMoved) from None

    @staticmethod
    def _moving(tenant: str, view: FeedView, head: FeedHead, about: Item, *, parks: bool) -> Write:
        key = feed_key(tenant, view.graph_id)
        change = Change().set(seq=head.seq, turn=head.turn, counts=dict(head.counts))
        if head.shown is not None:
            change.set(shown=head.shown)
        if head.published > view.head.published:
            change.set(published=head.published)
        if head.due is not None and head.due != view.head.due:
            change.set(**timer_attributes(key, head.due))
        if not view.head.turn:
            return change.set(parks=int(parks), born=view.born, **about).on(key, "attribute_not_exists(#pk)")
        if parks:
            change.grow("parks")
        return change.on(key, "#turn = :seen AND #born = :born", seen=view.head.turn, born=view.born)

    def published(self, tenant: str, graph_id: str, seq: int) -> None:
        """One update, never back; of a feed that is gone, none."""
        change = Change().set(published=seq)
        behind = "attribute_exists(#pk) AND (attribute_not_exists(#published) OR #published < :published)"
        try:
            self._storage.calls.write(tenant, change.on(feed_key(tenant, graph_id), behind))
        except ConditionFailed:
            return

    def entries(self, tenant: str, graph_id: str, after: int, limit: int) -> list[FeedEntry]:
        """One query from the page that holds the next number on: there is no gap in it."""
        first, last = (feed_page_key(tenant, graph_id, seq) for seq in (after + 1, MAX_SEQ))
        found: list[FeedEntry] = []
        for page in self._storage.calls.query(
            tenant, first.pk, between=(first.sk, last.sk), at_once=min(limit, _PAGES_AT_ONCE)
        ):
            found += [FeedEntry(graph_id=graph_id, **entry) for entry in page["entries"] if entry["seq"] > after]
            if len(found) >= limit:
                break
        return found[:limit]

    def all_ended(self, tenant: str, graph_id: str) -> bool:
        """One query, a page for each MB of tasks; it ends at the first that is open."""
        pk = graph_pk(tenant, graph_id)
        items = self._storage.calls.query(tenant, pk, between=prefix(TASK), names=("state",))
        return all(item["state"] in TERMINAL for item in items)

    def overview(self, tenant: str, graph_id: str) -> Overview | None:
        """The heads, then all marks, then all tasks."""
        head, key = head_key(tenant, graph_id), feed_key(tenant, graph_id)
        found = self._storage.calls.get_many(tenant, [head, key])
        if head not in found or found[head]["state"] == GraphState.DELETING:
            return None
        feed, pk = found.get(key), graph_pk(tenant, graph_id)
        marks = {
            str(item["sk"]).removeprefix(MARK): item
            for item in self._storage.calls.query(
                tenant, pk, between=prefix(MARK), names=("sk", "version", "unsure", "since")
            )
        }
        steps = (step_of(None, None, found[head]), *self._steps(tenant, pk))
        behind = [step for step in steps if _is_behind(marks.get(step.task_id or ""), step)]
        waiting = {task_id or None: int(mark["since"]) for task_id, mark in marks.items() if "since" in mark}
        return Overview(0 if feed is None else feed["parks"], behind, waiting)

    def _steps(self, tenant: str, pk: str) -> Iterator[Step]:
        names = ("sk", *TASK_NAMES)
        for item in self._storage.calls.query(tenant, pk, between=prefix(TASK), names=names):
            yield step_of(str(item["sk"]).removeprefix(TASK), None, item)

    def looked(self, tenant: str, graph_id: str, seen: Overview, due: int | None) -> None:
        """One update of the timer entry."""
        key = feed_key(tenant, graph_id)
        change = Change().remove(*_IN_TIMER) if due is None else Change().set(**timer_attributes(key, due))
        try:
            self._storage.calls.write(tenant, change.on(key, "#parks = :seen", seen=seen.parks))
        except ConditionFailed:
            return  # another step was parked meanwhile: the entry stays, and is looked at again


def _head(item: Item | None) -> FeedHead:
    if item is None:
        return FeedHead()
    return FeedHead(
        seq=item["seq"],
        turn=item["turn"],
        published=item.get("published", 0),
        counts=item["counts"],
        shown=item.get("shown"),
        due=timer_due(item) if TIMER_SK in item else None,
    )


def _mark(task_id: str | None, item: Item) -> Mark:
    return Mark(
        version=item["version"],
        state=item.get("state"),
        sure="unsure" not in item,
        parked=tuple(Step(task_id=task_id, **{"state": None, **step}) for step in item.get("parked", ())),
        since=item.get("since"),
    )


def _mark_attributes(mark: Mark) -> Item:
    item: Item = {"version": mark.version}
    if mark.state is not None:
        item["state"] = mark.state
    if not mark.sure:
        item["unsure"] = True
    if mark.parked:
        item["since"] = mark.since
        item["parked"] = [
            {name: value for name in _STEP if (value := getattr(step, name)) is not None} for step in mark.parked
        ]
    return item


def _replacing(item: Item, before: Mark) -> Write:
    return Write(Key(item["pk"], item["sk"]), "#version = :seen", {":seen": before.version}, item=item)


def _is_behind(mark: Mapping[str, Any] | None, step: Step) -> bool:
    return mark is None or mark["version"] < step.version or "unsure" in mark


def _entry_attributes(entry: FeedEntry) -> Item:
    return {name: value for name in _ENTRY if (value := getattr(entry, name)) is not None}
