"""Shared values: what a team knows together while it works, changed by many without losing a change.

Whose values they are is found first: only who reaches the owner reaches its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from pydantic import JsonValue

from slate.contract.values import ChangedValues, ChangeValues, PatchValue, PutValue, ValuePage
from slate.domain import values as rules
from slate.domain.access import Principal
from slate.domain.errors import Conflict, NotFound
from slate.domain.values import WRITABLE, Author, Change, Changed, Op, Owner, OwnerKind, Value
from slate.ports.graph_store import GraphStore
from slate.ports.keyring import Keyring
from slate.ports.value_store import ValueStore
from slate.service.idempotency import Idempotency
from slate.service.paging import ANSWER_BYTES, Cursors


class Owners(Protocol):
    """Finds the owners of one kind."""

    def find(self, principal: Principal, owner_id: str, *, writing: bool) -> Owner:
        """The owner, if the caller reaches it.

        Raises:
            NotFound: there is none, it is being deleted, or it is about another subject.
            Conflict: its values may not be changed any more, and that is what the caller is about to do.
        """
        ...


class GraphOwners:
    """Graphs, whose values may be changed until the graph is cancelled."""

    def __init__(self, graphs: GraphStore, keyring: Keyring) -> None:
        self._graphs = graphs
        self._keyring = keyring

    def find(self, principal: Principal, owner_id: str, *, writing: bool) -> Owner:
        """One read of the head."""
        head = self._graphs.head(principal.tenant, owner_id)
        if not principal.may_reach(head.subject):
            raise NotFound(f"there is no graph {owner_id!r}")
        if writing and head.state not in WRITABLE:
            raise Conflict(
                f"the graph is {head.state}; its values can be read and no longer be changed", graph_state=head.state
            )
        ref = None if head.subject is None else self._keyring.ref(principal.tenant, head.subject)
        return Owner(OwnerKind.GRAPH, owner_id, ref, head.subject)


class Values:
    """The use cases of shared values, whoever owns them."""

    def __init__(
        self, owners: Mapping[OwnerKind, Owners], values: ValueStore, idempotency: Idempotency, cursors: Cursors
    ) -> None:
        self._owners = owners
        self._values = values
        self._idempotency = idempotency
        self._cursors = cursors

    # ---- reads

    def get(self, principal: Principal, kind: OwnerKind, owner_id: str, key: str) -> Value:
        """The value as it stands.

        Raises:
            NotFound: there is none, or no such owner within reach.
        """
        return self._values.get(principal.tenant, self._owner(principal, kind, owner_id), key)

    def list(
        self, principal: Principal, kind: OwnerKind, owner_id: str, prefix: str, limit: int, cursor: str | None
    ) -> ValuePage:
        """Values by key, of those that start with the prefix; fewer where more would not fit an answer."""
        owner = self._owner(principal, kind, owner_id)
        tenant, of = principal.tenant, f"values {kind} {owner_id} {prefix}"
        page = self._values.page(tenant, owner, prefix, self._cursors.position(tenant, of, cursor), limit)
        return ValuePage(items=tuple(page.items), next_cursor=self._cursors.next(tenant, of, page.position))

    def history(
        self, principal: Principal, kind: OwnerKind, owner_id: str, key: str, limit: int, cursor: str | None
    ) -> ValuePage:
        """The version that stands and up to 20 before it, the newest first.

        Raises:
            NotFound: as in ``get``; a deleted value has no history.
        """
        owner = self._owner(principal, kind, owner_id)
        tenant, of = principal.tenant, f"versions {kind} {owner_id} {key}"
        position = self._cursors.position(tenant, of, cursor)
        page = self._values.history(tenant, owner, key, None if position is None else int(position), limit)
        return ValuePage(items=tuple(page.items), next_cursor=self._cursors.next(tenant, of, page.position))

    # ---- changes

    def put(
        self, principal: Principal, kind: OwnerKind, owner_id: str, key: str, body: PutValue, if_match: int | None
    ) -> Changed:
        """The value is this, whatever it was; with a version, only over that one.

        Raises:
            VersionMismatch: it is at another version.
        """
        change = Change(key=key, op=Op.PUT, value=body.value, version=if_match)
        return self._one(principal, kind, owner_id, change, None)

    def patch(
        self,
        principal: Principal,
        kind: OwnerKind,
        owner_id: str,
        key: str,
        body: PatchValue,
        if_match: int | None,
        idempotency_key: str | None,
    ) -> Changed:
        """Increment, append or merge: computed on what is there when it is written, so that no change is lost.

        Raises:
            VersionMismatch: it is at another version than the one given.
            Conflict: the operation does not fit what is there.
        """
        change = Change(key=key, op=body.op, value=body.value, version=if_match)
        return self._one(principal, kind, owner_id, change, idempotency_key)

    def delete(self, principal: Principal, kind: OwnerKind, owner_id: str, key: str, if_match: int | None) -> None:
        """The value and its history go; its versions go on where it is made again.

        Raises:
            NotFound: there is none.
            VersionMismatch: it is at another version.
        """
        self._change(principal, kind, owner_id, [Change(key=key, op=Op.DELETE, version=if_match)], None)

    def change(
        self, principal: Principal, kind: OwnerKind, owner_id: str, body: ChangeValues, idempotency_key: str | None
    ) -> ChangedValues:
        """Up to 25 changes, all or none.

        Raises:
            VersionMismatch, Conflict, NotFound, TooLarge: one of them cannot be made; nothing was changed.
        """
        changed = self._change(principal, kind, owner_id, body.changes, idempotency_key)
        return ChangedValues(items=rules.fitting(changed, ANSWER_BYTES))

    def _one(
        self, principal: Principal, kind: OwnerKind, owner_id: str, change: Change, idempotency_key: str | None
    ) -> Changed:
        (changed,) = self._change(principal, kind, owner_id, [change], idempotency_key)
        return changed

    def _change(
        self,
        principal: Principal,
        kind: OwnerKind,
        owner_id: str,
        changes: Sequence[Change],
        idempotency_key: str | None,
    ) -> Sequence[Changed]:
        tenant, owner = principal.tenant, self._owner(principal, kind, owner_id, writing=True)
        shown = [change.model_dump(mode="json") for change in changes]
        request = cast("JsonValue", [f"change values of {kind} {owner_id}", shown])

        def do(seed: str) -> tuple[Sequence[Changed], JsonValue]:
            author, remembered = Author(principal.agent, seed), idempotency_key is not None
            changed = self._values.change(tenant, owner, changes, author, remembered=remembered)
            return changed, {one.key: one.version for one in changed}

        def again(kept: JsonValue) -> Sequence[Changed]:
            return self._values.as_of(tenant, owner, cast("dict[str, int]", kept))

        return self._idempotency.once(principal, idempotency_key, request, do, again, about=owner.subject)

    def _owner(self, principal: Principal, kind: OwnerKind, owner_id: str, *, writing: bool = False) -> Owner:
        return self._owners[kind].find(principal, owner_id, writing=writing)
