"""The routes of contexts: what an agent sees for one call of a model, and what it saw."""

from __future__ import annotations

from http import HTTPStatus

from pydantic import Field

from slate.contract.contexts import AskContext, GivenContext
from slate.domain.access import Principal, Scope
from slate.domain.context import Format
from slate.service.context.giving import Contexts
from slate_functions.http.dependencies import PathId, Query
from slate_functions.http.routes import get, post
from slate_functions.memory_api import context_examples as examples


class FormatQuery(Query):
    """In which form."""

    format: Format = Field(default=Format.SECTIONS, description="rendered from the receipt, byte for byte")


class ContextRoutes:
    """Contexts: what an agent sees, inside its budget."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts

    @post(
        "/v1/context",
        scope=Scope.MEMORY_READ,
        refusals=(HTTPStatus.NOT_FOUND,),
        sends=examples.ASK,
        gives=examples.CONTEXT,
    )
    def give_context(self, principal: Principal, body: AskContext) -> GivenContext:
        """What the agent needs for one call of a model: sections with what they cost, and messages to send.

        The total is never exceeded; what had no place is listed with a reason. The system message, the pinned state
        and the user's first message are never dropped: a total below them is refused by name. Every context leaves a
        receipt under its id.
        """
        return self._contexts.give(principal, body)

    @get("/v1/contexts/{context_id}", scope=Scope.MEMORY_READ, gives=examples.CONTEXT)
    def get_context(self, principal: Principal, context_id: PathId, query: FormatQuery) -> GivenContext:
        """The receipt: what this agent saw, and when; rendered again in any form as long as it is kept."""
        return self._contexts.get(principal, context_id, query.format)
