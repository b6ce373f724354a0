"""A session's count of what models were asked: an item beside its turns, so that it is read with the head."""

from __future__ import annotations

from slate.adapters.dynamodb.calls import Item, TransactionRefused
from slate.adapters.dynamodb.changes import Change, check
from slate.adapters.dynamodb.keys import ref_of, session_key, subject_attributes, usage_key
from slate.adapters.dynamodb.session_items import STATES, is_there
from slate.adapters.dynamodb.storage import Storage
from slate.domain.usage import ModelUsage

_NAMES = tuple(ModelUsage.model_fields)


class DynamoUsageMeter:
    """Counts in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def add(self, tenant: str, session_id: str, usage: ModelUsage) -> None:
        """One transaction with the head: what is being removed grows no item any more."""
        head = session_key(tenant, session_id)
        found = self._storage.calls.get(tenant, head)
        if found is None or not is_there(found):
            return
        more = {f"more_{name}": getattr(usage, name) for name in _NAMES}
        grown = {name: f"if_not_exists(#{name}, :zero) + :more_{name}" for name in _NAMES}
        about = subject_attributes(tenant, ref_of(found))
        update = (
            Change(**more)
            .let(**grown)
            .set(**about)
            .on(usage_key(head.pk), "attribute_exists(#pk) OR attribute_not_exists(#pk)")
        )
        there = check(head, "attribute_exists(#pk) AND #state <> :deleting", **STATES)
        try:
            self._storage.calls.transact(tenant, [there, update])
        except TransactionRefused:
            return  # removed meanwhile

    def of(self, tenant: str, session_id: str) -> ModelUsage:
        """One read."""
        return usage_of(self._storage.calls.get(tenant, usage_key(session_key(tenant, session_id).pk)))


def usage_of(item: Item | None) -> ModelUsage:
    """The count that an item holds."""
    return ModelUsage() if item is None else ModelUsage(**{name: item.get(name, 0) for name in _NAMES})
