"""The routes of what is known about a person: facts, what was forgotten, what is held back, consent."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from slate.contract.facts import (
    DeletedFacts,
    ExtractFacts,
    FactPage,
    NoticePage,
    PatchFact,
    PostFacts,
    PutConsents,
    QuarantinePage,
    Results,
)
from slate.domain.access import Principal, Scope
from slate.domain.facts.model import Category, Consents, Fact, FactState, Quarantined, QuarantineState
from slate.domain.instants import Instant
from slate.domain.sessions import Extraction
from slate.service.facts.extracting import Extracting
from slate.service.facts.remembering import FactFilter, Facts
from slate.service.facts.reviewing import Reviewing
from slate_functions.http.answers import Answer
from slate_functions.http.dependencies import IdempotencyKey, IfMatch, Paging, PathId, Query
from slate_functions.http.routes import delete, get, patch, post, put
from slate_functions.memory_api import facts_examples as examples

READ: Final = Scope.MEMORY_READ
WRITE: Final = Scope.MEMORY_WRITE
CONFLICT: Final = (HTTPStatus.CONFLICT,)

SUBJECT: Final = "/v1/subjects/{subject}"
FACTS: Final = "/v1/subjects/{subject}/facts"
FACT: Final = "/v1/subjects/{subject}/facts/{fact_id}"
QUARANTINE: Final = "/v1/subjects/{subject}/quarantine"

Named = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class FactQuery(Paging):
    """Which facts to list."""

    category: Category | None = None
    attribute: Named | None = Field(default=None, description="only those of this slot")
    topic: Named | None = None
    state: FactState | None = Field(default=None, description="active where nothing is said")
    as_of: Instant | None = Field(default=None, description="what was true at this instant, as far as is known now")


class VersionQuery(Query):
    """As it was when."""

    version: int | None = Field(
        default=None, ge=1, description="as it was at the last version that said what this one did"
    )


class QuarantineQuery(Paging):
    """Which of what is held back to list."""

    state: QuarantineState = QuarantineState.PENDING


class WaitQuery(Query):
    """Whether to wait for the outcome."""

    wait: bool = Field(default=False, description="answer once it is done, with the decisions")


class FactRoutes:
    """Facts: durable statements about a person, each in its slot, with its history."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @post(FACTS, scope=WRITE, refusals=CONFLICT, sends=examples.POST_FACTS, gives=examples.RESULTS)
    def post_facts(
        self, principal: Principal, subject: PathId, body: PostFacts, idempotency_key: IdempotencyKey
    ) -> Results:
        """State facts: each is checked by the rules and decided against its slot, with one result for each.

        The newest `observed_at` wins, whatever the order of arrival; what it replaces is history. The same again
        confirms. What is less certain than what it contradicts stands beside it. Below importance 4 it is logged, not
        kept.
        """
        return self._facts.post(principal, subject, body, idempotency_key)

    @get(FACTS, scope=READ, gives=examples.FACT_PAGE)
    def list_facts(self, principal: Principal, subject: PathId, query: FactQuery) -> FactPage:
        """List facts, by the instant of their making; active ones where no state and no `as_of` is asked for."""
        wanted = FactFilter(
            category=query.category,
            attribute=query.attribute,
            topic=query.topic,
            state=query.state,
            as_of=query.as_of,
        )
        return self._facts.find(principal, subject, wanted, query.limit, query.cursor)

    @delete(FACTS, scope=WRITE, gives=examples.DELETED)
    def delete_facts(self, principal: Principal, subject: PathId) -> DeletedFacts:
        """Forget all facts that the caller may read, history too; each can be restored for a while."""
        return self._facts.delete_all(principal, subject)

    @get(FACT, scope=READ, gives=examples.FACT)
    def get_fact(self, principal: Principal, subject: PathId, fact_id: PathId, query: VersionQuery) -> Fact:
        """Read a fact, also one that is history or can be restored; with `version`, what it said then."""
        return self._facts.get(principal, subject, fact_id, query.version)

    @get(f"{FACT}/history", scope=READ, gives=examples.HISTORY)
    def get_history(self, principal: Principal, subject: PathId, fact_id: PathId) -> FactPage:
        """List all that was said of a fact's slot, the oldest first."""
        return self._facts.history(principal, subject, fact_id)

    @patch(FACT, scope=WRITE, refusals=CONFLICT, sends=examples.PATCH_FACT, gives=examples.PATCHED)
    def edit_fact(
        self, principal: Principal, subject: PathId, fact_id: PathId, body: PatchFact, if_match: IfMatch
    ) -> Fact:
        """Edit a fact that is active or in limbo; the rules apply to what it says then."""
        return self._facts.edit(principal, subject, fact_id, body, if_match)

    @delete(FACT, scope=WRITE, status=HTTPStatus.NO_CONTENT, refusals=CONFLICT)
    def delete_fact(self, principal: Principal, subject: PathId, fact_id: PathId, if_match: IfMatch) -> None:
        """Forget a fact: it is not served from now on, and can be restored for a while."""
        self._facts.delete(principal, subject, fact_id, if_match)

    @post(f"{FACT}/confirm", scope=WRITE, refusals=CONFLICT, gives=examples.FACT)
    def confirm_fact(self, principal: Principal, subject: PathId, fact_id: PathId) -> Fact:
        """The person says that it holds, now: it outweighs what contradicts it."""
        return self._facts.confirm(principal, subject, fact_id)

    @post(f"{FACT}/restore", scope=WRITE, refusals=CONFLICT, gives=examples.FACT)
    def restore_fact(self, principal: Principal, subject: PathId, fact_id: PathId) -> Fact:
        """Undo forgetting, as long as the log says that it can be."""
        return self._facts.restore(principal, subject, fact_id)

    @post(f"{FACT}/keep", scope=WRITE, refusals=CONFLICT, gives=examples.LIMBO)
    def keep_fact(self, principal: Principal, subject: PathId, fact_id: PathId) -> Fact:
        """Put a fact in limbo: not served, kept for long, restorable."""
        return self._facts.keep(principal, subject, fact_id)


class ExtractRoutes:
    """Learning from conversations."""

    def __init__(self, extracting: Extracting) -> None:
        self._extracting = extracting

    @post(
        f"{SUBJECT}/extract",
        scope=WRITE,
        status=HTTPStatus.ACCEPTED,
        also=(HTTPStatus.OK,),
        refusals=CONFLICT,
        sends=examples.EXTRACT,
        gives=examples.EXTRACTION,
    )
    def extract_facts(
        self,
        principal: Principal,
        subject: PathId,
        body: ExtractFacts,
        query: WaitQuery,
        idempotency_key: IdempotencyKey,
    ) -> Answer[Extraction]:
        """Learn from a conversation what its user says of herself; with `wait`, answer what became of it."""
        extraction = self._extracting.ask(principal, subject, body, idempotency_key, wait=query.wait)
        return Answer(extraction, HTTPStatus.OK if query.wait else HTTPStatus.ACCEPTED)


class FactRecordRoutes:
    """What stands beside the facts: notices, quarantine, consent."""

    def __init__(self, reviewing: Reviewing) -> None:
        self._reviewing = reviewing

    @get(f"{SUBJECT}/notices", scope=READ, gives=examples.NOTICE_PAGE)
    def list_notices(self, principal: Principal, subject: PathId, query: Paging) -> NoticePage:
        """List what the person is told about replaced facts, the newest first; reading delivers nothing."""
        return self._reviewing.notices(principal, subject, query.limit, query.cursor)

    @get(QUARANTINE, scope=READ, gives=examples.QUARANTINE_PAGE)
    def list_quarantine(self, principal: Principal, subject: PathId, query: QuarantineQuery) -> QuarantinePage:
        """List what is not taken for true until somebody has looked at it."""
        return self._reviewing.quarantine(principal, subject, query.state, query.limit, query.cursor)

    @post(f"{QUARANTINE}/{{quarantine_id}}/accept", scope=WRITE, refusals=CONFLICT, gives=examples.ACCEPTED)
    def accept_quarantined(self, principal: Principal, subject: PathId, quarantine_id: PathId) -> Results:
        """Take it for true after all: decided as any statement, but not guarded again."""
        return self._reviewing.accept(principal, subject, quarantine_id)

    @post(f"{QUARANTINE}/{{quarantine_id}}/reject", scope=WRITE, refusals=CONFLICT, gives=examples.REJECTED)
    def reject_quarantined(self, principal: Principal, subject: PathId, quarantine_id: PathId) -> Quarantined:
        """It stays out, also when it is said again."""
        return self._reviewing.reject(principal, subject, quarantine_id)

    @get(f"{SUBJECT}/consent", scope=READ, gives=examples.CONSENTS)
    def get_consents(self, principal: Principal, subject: PathId) -> Consents:
        """What the person consented to, by sensitive category."""
        return self._reviewing.consents(principal, subject)

    @put(f"{SUBJECT}/consent", scope=WRITE, refusals=CONFLICT, sends=examples.PUT_CONSENTS, gives=examples.CONSENTS)
    def put_consents(self, principal: Principal, subject: PathId, body: PutConsents, if_match: IfMatch) -> Consents:
        """Note the person's word on sensitive categories; what a withdrawal covered is forgotten before the answer."""
        return self._reviewing.put_consents(principal, subject, body, if_match)
