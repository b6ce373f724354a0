"""The routes of erasures."""

from __future__ import annotations

from http import HTTPStatus

from pydantic import Field

from slate.contract.erasures import AskErasure, ErasurePage, ErasureStatus
from slate.domain.access import Principal, Scope
from slate.domain.names import Id
from slate.service.erasing.asking import Erasing
from slate_functions.http.dependencies import IdempotencyKey, Paging, PathId
from slate_functions.http.routes import get, post
from slate_functions.privacy_api import erasure_examples as examples


class ErasureQuery(Paging):
    """Whose erasures to list."""

    subject: Id | None = Field(default=None, description="only those of this person")


class ErasureRoutes:
    """Erasures: everything about a person goes, and a receipt proves it."""

    def __init__(self, erasing: Erasing) -> None:
        self._erasing = erasing

    @post(
        "/v1/erasures",
        scope=Scope.PRIVACY_WRITE,
        status=HTTPStatus.ACCEPTED,
        sends=examples.ASK_ERASURE,
        gives=examples.FENCED,
    )
    def ask_erasure(self, principal: Principal, body: AskErasure, idempotency_key: IdempotencyKey) -> ErasureStatus:
        """Erase everything about a person: from the answer on nothing of theirs is served, and writes are 410.

        It takes some days, until all that was under way has come; writes are taken again once the receipt is there.
        Under a hold it waits as HELD. A person has one erasure at most that is open: it is answered to whoever asks.
        """
        return self._erasing.ask(principal, body, idempotency_key)

    @get("/v1/erasures", scope=Scope.PRIVACY_READ, gives=examples.ERASURE_PAGE)
    def list_erasures(self, principal: Principal, query: ErasureQuery) -> ErasurePage:
        """List erasures, the newest first."""
        return self._erasing.list(principal, query.subject, query.limit, query.cursor)

    @get("/v1/erasures/{erasure_id}", scope=Scope.PRIVACY_READ, gives=examples.RECEIPTED)
    def get_erasure(self, principal: Principal, erasure_id: PathId) -> ErasureStatus:
        """Tell how far an erasure is: its steps with what each dealt with, and when it goes on."""
        return self._erasing.get(principal, erasure_id)
