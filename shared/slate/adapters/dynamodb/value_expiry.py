"""Values go ``retention_days`` after their graph has ended, which only a look at all of its tasks can tell.

::

    in the timer ──due──► has it ended?
      ▲                     ├── no: look again a retention later ──┐
      │                     ├── yes, not long enough ago: then ────┤
      └─────────────────────┼──────────────────────────────────────┘
                            └── yes: `going` ──► values, history, objects ──► the entry itself

A graph that gets new tasks is not ended at the next look, whatever it was before. While `going`, no value can be new.
"""

from __future__ import annotations

from typing import Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.changes import Change, removal
from slate.adapters.dynamodb.keys import (
    TASK,
    graph_pk,
    head_key,
    prefix,
    ref_of,
    timer_attributes,
    timer_due,
    values_key,
)
from slate.adapters.dynamodb.storage import Storage
from slate.domain.graphs import GraphState
from slate.domain.tasks import TERMINAL
from slate.ports.holds import HELD_MS, Held

_DAY_MS: Final = 86_400_000
_DELETES_AT_ONCE: Final = 100


class ValueExpiry:
    """Looks after the values of graphs."""

    def __init__(self, storage: Storage, held: Held) -> None:
        self._storage = storage
        self._held = held

    def tick(self, tenant: str, graph_id: str, deadline: int) -> None:
        """Remove the values, or put the look off to when it may be time."""
        key, now = values_key(graph_pk(tenant, graph_id)), self._storage.clock.now()
        root = self._storage.calls.get(tenant, key)
        if root is None or timer_due(root) > now:
            return
        ref = ref_of(root)
        if "going" not in root:
            held = ref is not None and self._held(tenant, ref)
            due = now + HELD_MS if held else self._due(tenant, graph_id)
            if due > now:
                self._quietly(tenant, Change().set(**timer_attributes(key, due)).on(key, "attribute_exists(#pk)"))
                return
            self._quietly(tenant, Change().set(going=True).on(key, "attribute_exists(#pk)"))
        if self._remove(tenant, root, deadline):
            self._quietly(tenant, removal(key, "attribute_exists(#going)"))

    def _due(self, tenant: str, graph_id: str) -> int:
        """A retention after the end; after now while the graph runs. The first look came no sooner after the values."""
        now = self._storage.clock.now()
        head = self._storage.calls.get(tenant, head_key(tenant, graph_id))
        if head is None:
            return now  # removed: only what came too late is here
        kept = int(head["retention_days"]) * _DAY_MS
        ended = self._ended_at(tenant, head)
        return now + kept if ended is None else ended + kept

    def _ended_at(self, tenant: str, head: Item) -> int | None:
        """When the last task ended; nothing while one is open, or there is none."""
        if head["state"] == GraphState.CANCELLED:
            return int(head["updated_at"])
        if head["state"] != GraphState.ACTIVE:
            return None
        latest = None
        names = ("state", "updated_at")
        for item in self._storage.calls.query(tenant, head["pk"], between=prefix(TASK), names=names):
            if item["state"] not in TERMINAL:
                return None
            latest = max(latest or 0, int(item["updated_at"]))
        return latest

    def _remove(self, tenant: str, root: Item, deadline: int) -> bool:
        """Values first: without its value no version can come into the history any more."""
        pk = str(root["pk"])
        for start in ("V#", "VH#", "VO#"):
            keys: list[Key] = []
            for item in self._storage.calls.query(tenant, pk, between=prefix(start), names=("pk", "sk")):
                keys.append(Key(item["pk"], item["sk"]))
                if len(keys) == _DELETES_AT_ONCE:
                    self._storage.calls.delete_many(tenant, keys)
                    keys.clear()
                    if self._storage.clock.now() > deadline:
                        return False
            self._storage.calls.delete_many(tenant, keys)
        self._storage.blobs.delete_all(contents.blob_prefix(tenant, ref_of(root), pk) + "V/")
        return True

    def _quietly(self, tenant: str, write: Write) -> None:
        try:
            self._storage.calls.write(tenant, write)
        except ConditionFailed:
            return  # the graph is being removed, with all of this
