"""What facts said before they were edited: an item for each edit, which goes with its fact.

::

    WAS#<fact>#<version>   the fact at the last version before an edit; sealed

It is put in the transaction of the edit. What changes without an edit (a confirmation, a state, its use) changes no
word, and keeps nothing: the words of a version are those of the first that is kept at or after it, or the fact's own.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from slate.adapters.dynamodb.calls import Key, Write
from slate.adapters.dynamodb.changes import CONSTANTS
from slate.adapters.dynamodb.fact_items import FactItems
from slate.adapters.dynamodb.keys import EARLIER_FACT, END, subject_pk
from slate.adapters.dynamodb.storage import Storage
from slate.domain.facts.model import Fact

_WORDS: Final = ("statement", "category", "attribute", "value")
_ANY: Final = "attribute_exists(#pk) OR attribute_not_exists(#pk)"


class DynamoFactVersions:
    """Keeps them in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._items = FactItems(storage)

    def kept(self, tenant: str, ref: str, before: Fact, after: Fact) -> list[Write]:
        """What an edit writes beside the fact; nothing where no word changes."""
        if all(getattr(before, name) == getattr(after, name) for name in _WORDS):
            return []
        key = _key(tenant, ref, before.fact_id, before.version)
        item = self._items.sealed(tenant, ref, key, before.model_dump(mode="json"), version=before.version)
        return [Write(key, _ANY, dict(CONSTANTS), item=item)]

    def at(self, tenant: str, ref: str, fact_id: str, version: int) -> Fact | None:
        """One query."""
        start = _key(tenant, ref, fact_id, version)
        between = (start.sk, f"{EARLIER_FACT}{fact_id}#{END}")
        found = self._storage.calls.query(tenant, start.pk, between=between, at_once=1)
        return next((Fact.model_validate(self._items.opened(tenant, item)) for item in islice(found, 1)), None)

    def remove(self, tenant: str, ref: str, fact_id: str) -> None:
        """All of a fact's, before the fact itself goes."""
        pk, start = subject_pk(tenant, ref), f"{EARLIER_FACT}{fact_id}#"
        items = self._storage.calls.query(tenant, pk, between=(start, start + END), names=("pk", "sk"))
        self._storage.calls.delete_many(tenant, [Key(item["pk"], item["sk"]) for item in items])


def _key(tenant: str, ref: str, fact_id: str, version: int) -> Key:
    return Key(subject_pk(tenant, ref), f"{EARLIER_FACT}{fact_id}#{version:09d}")
