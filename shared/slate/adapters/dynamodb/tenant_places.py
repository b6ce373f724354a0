"""All that a tenant has, place by place: data keys, entries of the index, objects, items. An operator's, who may scan.

What outlives a tenant is in the ledger, but for one thing: the main table goes on knowing of how many erasures it
knows, so that it can be told from an older copy of itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from slate.adapters.dynamodb.calls import Calls, Key
from slate.adapters.dynamodb.keys import list_pk, partition_of
from slate.adapters.dynamodb.ledger_store import KNOWN
from slate.adapters.dynamodb.subject_kinds import Undeclared, kind_of
from slate.adapters.dynamodb.table import PK, SK, SUBJECT_PK
from slate.domain.errors import Unavailable
from slate.domain.indexed import PERSONAL, Kind
from slate.ports.blob_store import BlobStore
from slate.ports.memory_index import MemoryIndex
from slate.ports.subject_stores import StoreCounts

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_AT_ONCE: Final = 500
_NOBODY: Final = "-"
"""The scope of episodes that are about nobody."""
Scopes = dict[str, frozenset[Kind]]


class TenantTable:
    """A table's part of a tenant: every item whose partition is the tenant's."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        calls: Calls,
        store_of: Callable[[Key], str],
        stays: Callable[[Key], bool] = lambda _: False,
    ) -> None:
        """``store_of`` says what a receipt counts an item under."""
        self._client = client
        self._table = table
        self._calls = calls
        self._store_of = store_of
        self._stays = stays

    def count(self, tenant: str) -> StoreCounts:
        """One scan."""
        return dict(Counter(self._store_of(key) for key in self.keys(tenant)))

    def erase(self, tenant: str) -> StoreCounts:
        """One scan, and a delete for each 25 items."""
        gone: Counter[str] = Counter()
        found = self.keys(tenant)
        while batch := list(islice(found, _AT_ONCE)):
            self._calls.delete_many(tenant, batch)
            gone.update(map(self._store_of, batch))
        return dict(gone)

    def keys(self, tenant: str) -> Iterator[Key]:
        """The keys of all that goes."""
        for item in self.scanned(tenant):
            key = Key(item[PK]["S"], item[SK]["S"])
            if not self._stays(key):
                yield key

    def scanned(self, tenant: str) -> Iterator[dict[str, Any]]:
        """Keys and subjects of a tenant's items. The prefix ends in a delimiter: no tenant's name begins another's."""
        pages = self._client.get_paginator("scan").paginate(
            TableName=self._table,
            ConsistentRead=True,
            ProjectionExpression="#pk, #sk, #subject",
            FilterExpression="begins_with(#pk, :tenant)",
            ExpressionAttributeNames={"#pk": PK, "#sk": SK, "#subject": SUBJECT_PK},
            ExpressionAttributeValues={":tenant": {"S": f"{tenant}#"}},
        )
        for page in pages:
            yield from page["Items"]


class TenantVectors:
    """The index's part of a tenant: what it lists of everybody and everything that the main table has."""

    def __init__(self, items: TenantTable, index: MemoryIndex) -> None:
        self._items = items
        self._index = index

    def count(self, tenant: str) -> StoreCounts:
        """One scan, and a counting query for each person and each collection."""
        found = sum(self._index.count(tenant, scope, kinds) for scope, kinds in self._scopes(tenant).items())
        return {"vectors": found}

    def erase(self, tenant: str) -> StoreCounts:
        """One scan; a listing, removals and a counting query for each person and each collection."""
        gone = 0
        for scope, kinds in self._scopes(tenant).items():
            gone += self._index.count(tenant, scope, kinds)
            for kind in sorted(kinds):
                listed = self._index.listed(tenant, kind, scope)
                while names := [each.name for each in islice(listed, _AT_ONCE)]:
                    self._index.remove(tenant, names)
            if self._index.count(tenant, scope, kinds):
                raise Unavailable("the index still counts some of what was removed; run it again")
        return {"vectors": gone}

    def _scopes(self, tenant: str) -> Scopes:
        scopes: Scopes = {_NOBODY: frozenset({Kind.EPISODE})}
        for item in self._items.scanned(tenant):
            if SUBJECT_PK in item:
                scopes[item[SUBJECT_PK]["S"].rpartition("#")[2]] = PERSONAL
            _, letter, owner = partition_of(item[PK]["S"])
            if letter == "D":
                scopes[owner] = frozenset({Kind.CHUNK})
        return scopes


class TenantObjects:
    """The bucket's part of a tenant."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def count(self, tenant: str) -> StoreCounts:
        """A listing for each 1,000 versions."""
        return {"objects": self._blobs.count(f"{tenant}/")}

    def erase(self, tenant: str) -> StoreCounts:
        """A listing and a delete for each 1,000 versions."""
        return {"objects": self._blobs.delete_all(f"{tenant}/")}


def tenants_in(client: DynamoDBClient, table: str) -> Iterator[str]:
    """Every tenant that has something in a table: a scan of its keys."""
    seen: set[str] = set()
    pages = client.get_paginator("scan").paginate(
        TableName=table, ConsistentRead=True, ProjectionExpression="#pk", ExpressionAttributeNames={"#pk": PK}
    )
    for page in pages:
        for item in page["Items"]:
            tenant = partition_of(item[PK]["S"]).tenant
            if tenant not in seen:
                seen.add(tenant)
                yield tenant


def store_of_item(key: Key) -> str:
    """What a receipt counts an item of the main table under."""
    try:
        return kind_of(key).store
    except Undeclared:
        return "others"


def tells_copies(key: Key) -> bool:
    """Whether it is what tells the main table from an older copy of itself."""
    tenant = partition_of(key.pk).tenant
    return key.pk == list_pk(tenant, "erasures") and key.sk.startswith(KNOWN)
