"""The fence of a person, on an item of its own among theirs; it holds no content, and stays."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from slate.adapters.dynamodb.calls import Calls, ConditionFailed, Item
from slate.adapters.dynamodb.changes import Change
from slate.adapters.dynamodb.keys import fence_key
from slate.domain.errors import Conflict, SubjectErased, SubjectHeld
from slate.domain.fences import Fence


class DynamoFences:
    """Keeps fences in the main table. The item is about a person and not in the ``subject`` index: it outlives them."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def read(self, tenant: str, ref: str) -> Fence:
        """One read."""
        return _fence(self._calls.get(tenant, fence_key(tenant, ref)))

    def close(self, tenant: str, ref: str, by: str) -> int:
        """One update: whoever closed it last is remembered, so that a repeat is told from a second erasure."""
        change = Change(none=0).let(epoch="if_not_exists(#epoch, :none) + :one").set(closed=True, closed_by=by)
        free = "attribute_not_exists(#closed) OR (#closed = :no AND #closed_by <> :closed_by)"
        free = f"({free}) AND attribute_not_exists(#holds)"
        try:
            item = self._calls.write(tenant, change.on(fence_key(tenant, ref), free, no=False))
        except ConditionFailed as failed:
            item = failed.old or {}
            if item.get("closed_by") != by:
                raise _taken(item) from None
        return int(item["epoch"])

    def open(self, tenant: str, ref: str, by: str) -> None:
        """One update, of what this erasure closed."""
        change = Change().set(closed=False)
        try:
            self._calls.write(tenant, change.on(fence_key(tenant, ref), "#closed = :yes AND #closed_by = :by", by=by))
        except ConditionFailed:
            return  # open already

    def advance(self, tenant: str, ref: str, epoch: int) -> None:
        """One update."""
        write = Change().set(epoch=epoch).on(fence_key(tenant, ref), "attribute_not_exists(#epoch) OR #epoch < :epoch")
        with suppress(ConditionFailed):  # it is further already
            self._calls.write(tenant, write)

    def hold(self, tenant: str, ref: str, hold_id: str) -> None:
        """One update of the set of holds; what an erasure has closed takes none."""
        try:
            self._toggle(tenant, ref, "ADD", "attribute_not_exists(#closed) OR #closed = :no", hold_id)
        except ConditionFailed as failed:
            if hold_id not in (failed.old or {}).get("holds", ()):
                raise SubjectErased("this person's data is being erased: nothing is left to hold") from None

    def release(self, tenant: str, ref: str, hold_id: str) -> None:
        """One update of the set of holds."""
        with suppress(ConditionFailed):  # it is off already
            self._toggle(tenant, ref, "DELETE", "contains(#holds, :hold_id)", hold_id)

    def _toggle(self, tenant: str, ref: str, verb: str, condition: str, hold_id: str) -> None:
        write = Change(hold_id=hold_id, no=False).on(fence_key(tenant, ref), condition, members={hold_id})
        self._calls.write(tenant, replace(write, expression=f"{verb} #holds :members"))


def _taken(item: Item) -> Conflict | SubjectHeld:
    if item.get("holds"):
        return SubjectHeld("this person's data is on hold: it is erased once the last hold has ended")
    return Conflict("another erasure of this person is running")


def _fence(item: Item | None) -> Fence:
    if item is None:
        return Fence()
    return Fence(int(item.get("epoch", 0)), bool(item.get("closed", False)), bool(item.get("holds")))
