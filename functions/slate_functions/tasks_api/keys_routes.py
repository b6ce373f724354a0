"""The routes of API keys."""

from __future__ import annotations

from http import HTTPStatus

from slate.contract.access import CreatedKey, CreateKey, KeyPage
from slate.domain.access import ApiKey, Principal, Scope
from slate.service.access import Access
from slate_functions.http.dependencies import IdempotencyKey, Paging, PathId
from slate_functions.http.routes import delete, get, post
from slate_functions.tasks_api import examples


class KeyRoutes:
    """API keys: who may call, and what each opens."""

    def __init__(self, access: Access) -> None:
        self._access = access

    @post(
        "/v1/keys",
        scope=Scope.ADMIN,
        status=HTTPStatus.CREATED,
        refusals=(HTTPStatus.CONFLICT,),
        sends=examples.CREATE_KEY,
        gives=examples.CREATED_KEY,
    )
    def create_key(self, principal: Principal, body: CreateKey, idempotency_key: IdempotencyKey) -> CreatedKey:
        """Make a key; it is shown in this answer only."""
        return self._access.create(principal, body, idempotency_key)

    @get("/v1/keys", scope=Scope.ADMIN, gives=examples.KEY_PAGE)
    def list_keys(self, principal: Principal, query: Paging) -> KeyPage:
        """List keys, revoked ones too, never with their secrets."""
        return self._access.list(principal, query.limit, query.cursor)

    @delete("/v1/keys/{key_id}", scope=Scope.ADMIN, gives=examples.REVOKED_KEY)
    def revoke_key(self, principal: Principal, key_id: PathId) -> ApiKey:
        """Close a key for good; a decision on it may be cached for up to 60 seconds."""
        return self._access.revoke(principal, key_id)
