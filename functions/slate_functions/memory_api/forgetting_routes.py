"""The routes of forgetting: the log and the way back, feedback on what was served, how well a memory is."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from slate.contract.facts import ForgettingPage
from slate.contract.forgetting import Feedback, GiveFeedback, Health, RestoredMany, RestoreMany
from slate.domain.access import Principal, Scope
from slate.domain.instants import Instant
from slate.domain.names import Id
from slate.service.forgetting.examining import Examining
from slate.service.forgetting.feedback import Learning
from slate.service.forgetting.undoing import LogFilter, Undoing
from slate_functions.http.dependencies import Paging, PathId
from slate_functions.http.routes import get, post
from slate_functions.memory_api import forgetting_examples as examples

SUBJECT: Final = "/v1/subjects/{subject}"
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class LogQuery(Paging):
    """Which entries of the log to list."""

    rule: Id | None = Field(default=None, description="decay, retention, evicted, deleted, importance_below_4, ...")
    reason: Words | None = Field(default=None, description="only those whose reason contains these words")
    fact_id: Id | None = None
    since: Instant | None = Field(default=None, description="only those of this instant or later")
    until: Instant | None = Field(default=None, description="only those of this instant or before")


class ForgettingRoutes:
    """Forgetting: what went and why, how to undo it, and how well a memory is."""

    def __init__(self, undoing: Undoing, examining: Examining, learning: Learning) -> None:
        self._undoing = undoing
        self._examining = examining
        self._learning = learning

    @get(f"{SUBJECT}/forgetting-log", scope=Scope.MEMORY_READ, gives=examples.LOG_PAGE)
    def list_forgotten(self, principal: Principal, subject: PathId, query: LogQuery) -> ForgettingPage:
        """List what was forgotten, by which rule and numbers, and until when it can be restored; the newest first.

        The rule `importance` tells of importances that feedback moved; these entries are listed only when it is named.
        """
        wanted = LogFilter(
            rule=query.rule, reason=query.reason, fact_id=query.fact_id, since=query.since, until=query.until
        )
        return self._undoing.log(principal, subject, wanted, query.limit, query.cursor)

    @post(
        f"{SUBJECT}/forgetting-log/restore",
        scope=Scope.MEMORY_WRITE,
        sends=examples.RESTORE_MANY,
        gives=examples.RESTORED_MANY,
    )
    def restore_forgotten(self, principal: Principal, subject: PathId, body: RestoreMany) -> RestoredMany:
        """Undo every act of forgetting that is meant: each fact is restored by itself, or says why it cannot be."""
        return self._undoing.restore(principal, subject, body)

    @get(f"{SUBJECT}/health", scope=Scope.MEMORY_READ, gives=examples.HEALTH)
    def get_health(self, principal: Principal, subject: PathId) -> Health:
        """Tell how well a memory is: growth, duplicates, irrelevant retrieval, conflicts, each with its facts."""
        return self._examining.examine(principal, subject)

    @post(
        "/v1/contexts/{context_id}/feedback",
        scope=Scope.MEMORY_WRITE,
        refusals=(HTTPStatus.NOT_FOUND,),
        sends=examples.FEEDBACK,
        gives=examples.GIVEN_FEEDBACK,
    )
    def give_feedback(self, principal: Principal, context_id: PathId, body: GiveFeedback) -> Feedback:
        """Say what of a context was used and what was noise: each fact gets a step more or less important, once.

        At most three steps from what was given, never across 7, never below 4. The log tells each under `importance`.
        """
        return self._learning.give(principal, context_id, body)
