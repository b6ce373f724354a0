"""The routes of holds."""

from __future__ import annotations

from http import HTTPStatus

from slate.contract.holds import CreateHold, HoldPage
from slate.domain.access import Principal, Scope
from slate.domain.holds import Hold
from slate.service.holding import Holding
from slate_functions.http.dependencies import IdempotencyKey, Paging, PathId
from slate_functions.http.routes import delete, get, post
from slate_functions.privacy_api import hold_examples as examples


class HoldRoutes:
    """Holds: what must stay as it is for now, and is not served meanwhile."""

    def __init__(self, holding: Holding) -> None:
        self._holding = holding

    @post(
        "/v1/holds",
        scope=Scope.PRIVACY_WRITE,
        status=HTTPStatus.CREATED,
        refusals=(HTTPStatus.CONFLICT,),
        sends=examples.CREATE_HOLD,
        gives=examples.HOLD,
    )
    def create_hold(self, principal: Principal, body: CreateHold, idempotency_key: IdempotencyKey) -> Hold:
        """Hold a person's data: from now on reads and deletes of it are 423, writes are taken, an erasure waits.

        It ends at `until`, or when it is lifted. Of several holds the last one counts.
        """
        return self._holding.create(principal, body, idempotency_key)

    @get("/v1/holds", scope=Scope.PRIVACY_READ, gives=examples.HOLD_PAGE)
    def list_holds(self, principal: Principal, query: Paging) -> HoldPage:
        """List the holds that stand."""
        return self._holding.list(principal, query.limit, query.cursor)

    @delete("/v1/holds/{hold_id}", scope=Scope.PRIVACY_WRITE, status=HTTPStatus.NO_CONTENT)
    def delete_hold(self, principal: Principal, hold_id: PathId) -> None:
        """Lift a hold; an erasure that waited for the last one goes on."""
        self._holding.lift(principal, hold_id)
