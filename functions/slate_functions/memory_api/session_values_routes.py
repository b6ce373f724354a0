"""The routes of a session's values: what its agents share while it is open."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from slate.contract.values import ChangedValues, ChangeValues, PatchValue, PutValue, ValuePage
from slate.domain.access import Principal, Scope
from slate.domain.values import Changed, OwnerKind, Value
from slate.service.values import Values
from slate_functions.http.dependencies import IdempotencyKey, IfMatch, KeyPaging, Paging, PathId
from slate_functions.http.routes import delete, get, patch, post, put
from slate_functions.memory_api import session_examples as examples

READ: Final = Scope.MEMORY_READ
WRITE: Final = Scope.MEMORY_WRITE
CONFLICT: Final = (HTTPStatus.CONFLICT,)
SESSION: Final = OwnerKind.SESSION

VALUES: Final = "/v1/sessions/{session_id}/values"
VALUE: Final = "/v1/sessions/{session_id}/values/{key}"


class SessionValueRoutes:
    """Session values: JSON documents by key, gone when the session closes."""

    def __init__(self, values: Values) -> None:
        self._values = values

    @get(VALUES, scope=READ, gives=examples.VALUE_PAGE)
    def list_session_values(self, principal: Principal, session_id: PathId, query: KeyPaging) -> ValuePage:
        """List a session's values by key; fewer than `limit` where more would not fit an answer."""
        return self._values.list(principal, SESSION, session_id, query.prefix, query.limit, query.cursor)

    @post(
        VALUES,
        scope=WRITE,
        refusals=(*CONFLICT, HTTPStatus.PRECONDITION_FAILED),
        sends=examples.CHANGES,
        gives=examples.CHANGED_VALUES,
    )
    def change_session_values(
        self, principal: Principal, session_id: PathId, body: ChangeValues, idempotency_key: IdempotencyKey
    ) -> ChangedValues:
        """Change up to 25 values: all of them, or none."""
        return self._values.change(principal, SESSION, session_id, body, idempotency_key)

    @get(VALUE, scope=READ, gives=examples.VALUE)
    def get_session_value(self, principal: Principal, session_id: PathId, key: PathId) -> Value:
        """Read a session's value."""
        return self._values.get(principal, SESSION, session_id, key)

    @put(VALUE, scope=WRITE, refusals=CONFLICT, sends=examples.PUT_VALUE, gives=examples.CHANGED)
    def put_session_value(
        self, principal: Principal, session_id: PathId, key: PathId, body: PutValue, if_match: IfMatch
    ) -> Changed:
        """Create or replace a value; with `If-Match: "0"` only where there is none."""
        return self._values.put(principal, SESSION, session_id, key, body, if_match)

    @patch(VALUE, scope=WRITE, refusals=CONFLICT, sends=examples.PATCH_VALUE, gives=examples.CHANGED)
    def patch_session_value(
        self,
        principal: Principal,
        session_id: PathId,
        key: PathId,
        body: PatchValue,
        if_match: IfMatch,
        idempotency_key: IdempotencyKey,
    ) -> Changed:
        """Increment, append or merge; a value that is not there begins at 0, as an empty list, as an empty object."""
        return self._values.patch(principal, SESSION, session_id, key, body, if_match, idempotency_key)

    @delete(VALUE, scope=WRITE, status=HTTPStatus.NO_CONTENT, refusals=CONFLICT)
    def delete_session_value(self, principal: Principal, session_id: PathId, key: PathId, if_match: IfMatch) -> None:
        """Delete a value and its history; made again, its versions go on."""
        self._values.delete(principal, SESSION, session_id, key, if_match)

    @get(f"{VALUE}/history", scope=READ, gives=examples.VALUE_PAGE)
    def list_session_versions(self, principal: Principal, session_id: PathId, key: PathId, query: Paging) -> ValuePage:
        """List the version that stands and up to 20 before it, the newest first."""
        return self._values.history(principal, SESSION, session_id, key, query.limit, query.cursor)
