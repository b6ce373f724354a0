"""The client's methods for what is known about a person: facts, what was forgotten, what is held back, consent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from slate.client.answers import pages, parse, segment
from slate.client.calls import Calls
from slate.contract.facts import (
    DeletedFacts,
    FactPage,
    ForgettingPage,
    NoticePage,
    QuarantinePage,
    Results,
)
from slate.contract.forgetting import Health, RestoredMany
from slate.domain.facts.model import (
    Category,
    Consents,
    Decision,
    Fact,
    FactState,
    Forgetting,
    Notice,
    Quarantined,
    QuarantineState,
    Sensitive,
)
from slate.domain.instants import format_instant
from slate.domain.sessions import Extraction


class Facts:
    """What is known: ``client.facts.state("customer-77", "Lives in Berlin", "volatile", attribute="city")``.

    A post carries an Idempotency-Key: sent again after a lost answer it is decided once.
    """

    def __init__(self, calls: Calls, new_id: Callable[[], str]) -> None:
        self._calls = calls
        self._new_id = new_id

    # --- state

    def state(self, subject: str, statement: str, category: Category | str, **more: Any) -> Decision:
        """State one fact; what became of it."""
        (decision,) = self.post(subject, [{"statement": statement, "category": str(category), **more}])
        return decision

    def post(
        self, subject: str, facts: Iterable[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> tuple[Decision, ...]:
        """State up to 100 facts, as the API takes them; one decision for each."""
        body, key = {"facts": [dict(fact) for fact in facts]}, idempotency_key or self._new_id()
        answer = self._calls.call("POST", f"{_path(subject)}/facts", body=body, idempotency_key=key)
        return parse(Results, answer).results

    def extract(
        self,
        subject: str,
        *messages: tuple[str, str],
        session: str | None = None,
        at: int | None = None,
        wait: bool = False,
    ) -> Extraction:
        """Learn from a conversation, given as pairs of role and content; ``wait`` for what became of it."""
        given: dict[str, Any] = {"messages": [{"role": role, "content": content} for role, content in messages]}
        given |= {} if session is None else {"session_id": session}
        given |= {} if at is None else {"at": format_instant(at)}
        path, params = f"{_path(subject)}/extract", {"wait": "true"} if wait else {}
        answer = self._calls.call("POST", path, body=given, params=params, idempotency_key=self._new_id())
        return parse(Extraction, answer)

    # --- read

    def list(
        self,
        subject: str,
        *,
        category: Category | str | None = None,
        attribute: str | None = None,
        topic: str | None = None,
        state: FactState | str | None = None,
        as_of: int | None = None,
    ) -> Iterator[Fact]:
        """Facts, page after page as they are asked for; active ones where nothing else is asked for."""
        given = {
            "category": category,
            "attribute": attribute,
            "topic": topic,
            "state": state,
            "as_of": None if as_of is None else format_instant(as_of),
        }
        params = {name: str(value) for name, value in given.items() if value is not None}
        return pages(self._calls, f"{_path(subject)}/facts", partial(parse, FactPage), params)

    def get(self, subject: str, fact_id: str, *, version: int | None = None) -> Fact:
        """One fact; with a version, as it was at the last one that said what this one did.

        Raises:
            NotFound: there is none, or no such version yet, or it is for other readers.
        """
        params = {} if version is None else {"version": str(version)}
        return parse(Fact, self._calls.call("GET", _fact(subject, fact_id), params=params))

    def history(self, subject: str, fact_id: str) -> tuple[Fact, ...]:
        """All that was said of its slot, the oldest first."""
        return parse(FactPage, self._calls.call("GET", f"{_fact(subject, fact_id)}/history")).items

    # --- change

    def edit(self, subject: str, fact_id: str, *, version: int | None = None, **changes: Any) -> Fact:
        """Change what a fact says, at this version if one is given.

        Raises:
            VersionMismatch: it is at another version.
            Invalid: a rule refuses what it would say.
        """
        answer = self._calls.call("PATCH", _fact(subject, fact_id), body=changes, if_match=version)
        return parse(Fact, answer)

    def delete(self, subject: str, fact_id: str) -> None:
        """Forget a fact; it can be restored for a while."""
        self._calls.call("DELETE", _fact(subject, fact_id))

    def delete_all(self, subject: str) -> int:
        """Forget all facts that this key may read; how many there were."""
        return parse(DeletedFacts, self._calls.call("DELETE", f"{_path(subject)}/facts")).deleted

    def confirm(self, subject: str, fact_id: str) -> Fact:
        """The person says that it holds, now."""
        return self._do(subject, fact_id, "confirm")

    def restore(self, subject: str, fact_id: str) -> Fact:
        """Undo forgetting."""
        return self._do(subject, fact_id, "restore")

    def keep(self, subject: str, fact_id: str) -> Fact:
        """Put a fact in limbo."""
        return self._do(subject, fact_id, "keep")

    def _do(self, subject: str, fact_id: str, what: str) -> Fact:
        return parse(Fact, self._calls.call("POST", f"{_fact(subject, fact_id)}/{what}", body={}))

    # --- beside the facts

    def forgotten(
        self,
        subject: str,
        *,
        rule: str | None = None,
        reason: str | None = None,
        fact_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[Forgetting]:
        """The forgetting log, the newest first; only what is meant."""
        given = {
            "rule": rule,
            "reason": reason,
            "fact_id": fact_id,
            "since": None if since is None else format_instant(since),
            "until": None if until is None else format_instant(until),
        }
        params = {name: value for name, value in given.items() if value is not None}
        return pages(self._calls, f"{_path(subject)}/forgetting-log", partial(parse, ForgettingPage), params)

    def restore_many(
        self,
        subject: str,
        *,
        rule: str | None = None,
        fact_ids: Iterable[str] | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> RestoredMany:
        """Undo every act of forgetting that is meant, up to 1,000; what became of each."""
        given = {
            "rule": rule,
            "fact_ids": None if fact_ids is None else list(fact_ids),
            "since": None if since is None else format_instant(since),
            "until": None if until is None else format_instant(until),
        }
        body = {name: value for name, value in given.items() if value is not None}
        return parse(RestoredMany, self._calls.call("POST", f"{_path(subject)}/forgetting-log/restore", body=body))

    def health(self, subject: str) -> Health:
        """How well the memory of a person is, each flag with its facts."""
        return parse(Health, self._calls.call("GET", f"{_path(subject)}/health"))

    def notices(self, subject: str) -> Iterator[Notice]:
        """What the person is told about replaced facts, the newest first."""
        return pages(self._calls, f"{_path(subject)}/notices", partial(parse, NoticePage), {})

    def quarantine(self, subject: str, state: QuarantineState | str = "pending") -> Iterator[Quarantined]:
        """What is held back."""
        path, params = f"{_path(subject)}/quarantine", {"state": str(state)}
        return pages(self._calls, path, partial(parse, QuarantinePage), params)

    def accept(self, subject: str, quarantine_id: str) -> Decision:
        """Take it for true after all; what became of it."""
        return parse(Results, self._calls.call("POST", f"{_held(subject, quarantine_id)}/accept", body={})).results[0]

    def reject(self, subject: str, quarantine_id: str) -> Quarantined:
        """It stays out."""
        return parse(Quarantined, self._calls.call("POST", f"{_held(subject, quarantine_id)}/reject", body={}))

    def consents(self, subject: str) -> Consents:
        """What the person consented to."""
        return parse(Consents, self._calls.call("GET", f"{_path(subject)}/consent"))

    def consent(
        self, subject: str, category: Sensitive | str, *, given: bool, source: str, at: int | None = None
    ) -> Consents:
        """Note the person's word on a sensitive category; a withdrawal forgets what it covered."""
        moment = round(time.time() * 1000) if at is None else at
        body = {str(category): {"given": given, "at": format_instant(moment), "source": source}}
        return parse(Consents, self._calls.call("PUT", f"{_path(subject)}/consent", body=body))


def _path(subject: str) -> str:
    return f"/v1/subjects/{segment('subject', subject)}"


def _fact(subject: str, fact_id: str) -> str:
    return f"{_path(subject)}/facts/{segment('fact_id', fact_id)}"


def _held(subject: str, quarantine_id: str) -> str:
    return f"{_path(subject)}/quarantine/{segment('quarantine_id', quarantine_id)}"
