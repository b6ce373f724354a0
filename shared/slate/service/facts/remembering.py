"""Facts: stated, listed, read, edited, deleted, restored, kept in limbo, confirmed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from slate.contract.facts import DeletedFacts, FactPage, GivenFact, PatchFact, PostFacts, Results
from slate.domain.access import Principal
from slate.domain.errors import Conflict, Invalid, NotFound, VersionMismatch
from slate.domain.facts.agreeing import slot_name
from slate.domain.facts.changing import DELETES, KEEPS
from slate.domain.facts.model import Candidate, Category, Fact, FactState
from slate.domain.facts.screening import screen
from slate.domain.facts.sensitive import sensitive
from slate.domain.facts.slots import canonical, same_attribute, slot_of
from slate.domain.facts.standing import held_at, shown
from slate.domain.forgetting.acts import Act
from slate.domain.forgetting.strength import retained_until
from slate.ports.clock import Clock
from slate.ports.counts import Count, Counts, NoCounts
from slate.ports.fact_records import FactRecords
from slate.ports.fact_store import ConsentMoved, FactStore, Shelf
from slate.ports.fact_versions import FactVersions
from slate.ports.keyring import Keyring
from slate.service.facts.deciding import DAY_MS, Author, Deciding, policy_of
from slate.service.facts.reaching import reached, readable
from slate.service.idempotency import Idempotency
from slate.service.paging import ANSWER_BYTES, Cursors
from slate.service.tenants import Tenants

SKEW_MS: Final = 5 * 60_000
"""A caller's clock may be ahead so far."""
_AT_ONCE: Final = 200
_LIVING: Final = (FactState.ACTIVE, FactState.LIMBO)


class FactFilter:
    """Which facts of a list are meant."""

    def __init__(
        self,
        *,
        category: Category | None = None,
        attribute: str | None = None,
        topic: str | None = None,
        state: FactState | None = None,
        as_of: int | None = None,
    ) -> None:
        self._category = category
        self._attribute = attribute
        self._topic = None if topic is None else topic.casefold()
        self._state = state or FactState.ACTIVE
        self._as_of = as_of
        self.named = f"{category}|{attribute and canonical(attribute)}|{topic}|{self._state}|{as_of}"

    @property
    def shelves(self) -> tuple[Shelf, ...]:
        """Where such facts stand; what is over by itself still stands among the living."""
        if self._as_of is not None or self._state is FactState.SUPERSEDED:
            return Shelf.LIVING, Shelf.PAST
        return (Shelf.LIVING,) if self._state in _LIVING else (Shelf.PAST,)

    def means(self, fact: Fact, now: int) -> bool:
        """Whether this fact, as it is shown now, is meant."""
        if self._category is not None and fact.category is not self._category:
            return False
        if self._attribute is not None and not same_attribute(fact.attribute or "", self._attribute):
            return False
        if self._topic is not None and self._topic not in (topic.casefold() for topic in fact.topics):
            return False
        if self._as_of is not None:
            return fact.state in (FactState.ACTIVE, FactState.SUPERSEDED) and held_at(fact, self._as_of)
        if fact.state is FactState.FORGOTTEN and (fact.restorable_until or 0) < now:
            return False
        return fact.state is self._state


class Facts:
    """The facts of a subject."""

    def __init__(
        self,
        facts: FactStore,
        records: FactRecords,
        deciding: Deciding,
        tenants: Tenants,
        keyring: Keyring,
        idempotency: Idempotency,
        cursors: Cursors,
        clock: Clock,
        *,
        versions: FactVersions,
        counts: Counts | None = None,
    ) -> None:
        self._facts = facts
        self._versions = versions
        self._counts = NoCounts() if counts is None else counts
        self._records = records
        self._deciding = deciding
        self._tenants = tenants
        self._keyring = keyring
        self._idempotency = idempotency
        self._cursors = cursors
        self._clock = clock

    # ---- state

    def post(self, principal: Principal, subject: str, body: PostFacts, idempotency_key: str | None) -> Results:
        """Decide each statement; one result for each.

        Raises:
            Invalid: one is dated in the future; nothing is decided then.
        """
        ref, now = reached(self._keyring, principal, subject), self._clock.now()
        for place, given in enumerate(body.facts):
            not_ahead(given.observed_at, now, f"facts[{place}].observed_at")

        def do(_: str) -> tuple[Results, JsonValue]:
            author = Author(principal.agent)
            candidates = [_candidate(given, now) for given in body.facts]
            results = Results(results=tuple(self._deciding.take(principal.tenant, ref, candidates, author)))
            return results, [result.model_dump(mode="json") for result in results.results]

        def again(kept: JsonValue) -> Results:
            return Results.model_validate({"results": kept})

        request: JsonValue = [f"POST facts of {ref}", body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, again, about=subject)

    # ---- read

    def find(self, principal: Principal, subject: str, wanted: FactFilter, limit: int, cursor: str | None) -> FactPage:
        """Those of a subject's facts that are meant and that this caller may read."""
        ref, now = reached(self._keyring, principal, subject), self._clock.now()
        of = f"facts {ref} {wanted.named}"
        position = self._cursors.position(principal.tenant, of, cursor)
        found: list[Fact] = []
        size = 0
        while True:
            page = self._facts.page(principal.tenant, ref, wanted.shelves, position, _AT_ONCE)
            for place, fact in page.items:
                fact_now = shown(fact, now)
                if not (principal.may_read(fact.readers) and wanted.means(fact_now, now)):
                    continue
                size += len(fact_now.statement)
                if len(found) == limit or (found and size > ANSWER_BYTES):
                    return self._page(principal.tenant, of, found, position)
                found.append(fact_now)
                position = place
            position = page.position
            if position is None:
                return self._page(principal.tenant, of, found, None)

    def _page(self, tenant: str, of: str, found: list[Fact], position: str | None) -> FactPage:
        return FactPage(items=tuple(found), next_cursor=self._cursors.next(tenant, of, position))

    def get(self, principal: Principal, subject: str, fact_id: str, version: int | None = None) -> Fact:
        """One fact, also one that is history, or forgotten and restorable; as it was at a version, where one is given.

        Raises:
            NotFound: there is none, or no such version yet, or it is for other readers.
        """
        ref, fact = self._reached(principal, subject, fact_id)
        if version is not None and version != fact.version:
            if version > fact.version:
                raise NotFound(f"the fact {fact_id!r} is at version {fact.version}, there is no {version} yet")
            earlier = self._versions.at(principal.tenant, ref, fact_id, version)
            fact = fact if earlier is None else readable(principal, earlier)
        return shown(fact, self._clock.now())

    def history(self, principal: Principal, subject: str, fact_id: str) -> FactPage:
        """Everything that was said of its slot, the oldest first.

        Raises:
            NotFound: as in ``get``.
        """
        ref, _ = self._reached(principal, subject, fact_id)
        now = self._clock.now()
        told = self._facts.history(principal.tenant, ref, fact_id)
        mine = tuple(shown(fact, now) for fact in told if principal.may_read(fact.readers))
        return FactPage(items=mine, next_cursor=None)

    def _reached(self, principal: Principal, subject: str, fact_id: str) -> tuple[str, Fact]:
        ref = reached(self._keyring, principal, subject)
        fact = readable(principal, self._facts.get(principal.tenant, ref, fact_id))
        if fact.state is FactState.FORGOTTEN and (fact.restorable_until or 0) < self._clock.now():
            raise NotFound(f"there is no fact {fact_id!r} of this subject")
        return ref, fact

    # ---- change

    def edit(self, principal: Principal, subject: str, fact_id: str, body: PatchFact, version: int | None) -> Fact:
        """Change what a fact says; the rules apply to what it says then.

        Raises:
            NotFound: as in ``get``.
            Invalid: a rule refuses what it would say.
            Conflict: it is history.
            VersionMismatch: it is not at ``version``.
        """
        ref, fact = self._reached(principal, subject, fact_id)
        if version is not None and version != fact.version:
            raise VersionMismatch(fact.model_dump(mode="json"))
        given = {name: getattr(body, name) for name in body.model_fields_set}
        for name in ("statement", "category", "importance", "confidence", "topics", "readers", "pinned"):
            if name in given and given[name] is None:
                raise Invalid.field(name, "this cannot be taken away; leave it out to keep it")
        edited = fact.model_copy(update=given)
        if edited == fact:
            return shown(fact, self._clock.now())
        if (edited.statement, edited.value) != (fact.statement, fact.value):
            edited = edited.model_copy(update={"reworded": True})
        edited = self._allowed(principal.tenant, ref, edited)
        slot = slot_of(edited.statement, edited.attribute, edited.value, edited.readers)
        return shown(self._facts.edit(principal.tenant, ref, edited, slot, version), self._clock.now())

    def _allowed(self, tenant: str, ref: str, edited: Fact) -> Fact:
        """With what it needs consent for by now."""
        candidate = Candidate(
            statement=edited.statement,
            category=edited.category,
            attribute=edited.attribute,
            value=edited.value,
            topics=edited.topics,
            observed_at=edited.observed_at,
            expires_at=edited.expires_at,
        )
        screened = screen(candidate, policy_of(self._tenants.of(tenant)), self._records.consents(tenant, ref))
        if screened.op is not None:
            raise Invalid.field("statement", f"{screened.reason}; it is not changed")
        found = sensitive(edited.statement, edited.attribute, edited.topics, edited.value)
        return edited.model_copy(update={"sensitive": found})

    def delete(self, principal: Principal, subject: str, fact_id: str, version: int | None) -> None:
        """Forget a fact: it can be restored for a while, and the log says so.

        Raises:
            NotFound: as in ``get``.
            VersionMismatch: it is not at ``version``.
        """
        ref, _ = self._reached(principal, subject, fact_id)
        act = self._act(principal, DELETES, "deleted on request")
        self._facts.forget(principal.tenant, ref, fact_id, act, said=True, version=version)

    def delete_all(self, principal: Principal, subject: str) -> DeletedFacts:
        """Forget every fact that this caller may read, history too."""
        ref = reached(self._keyring, principal, subject)
        act = self._act(principal, "deleted_all", "all deleted on request")

        def forget(fact: Fact) -> bool:
            return principal.may_read(fact.readers) and fact.state is not FactState.FORGOTTEN

        return DeletedFacts(deleted=self.forget_all(principal.tenant, ref, forget, act, said=True))

    def forget_all(self, tenant: str, ref: str, which: Callable[[Fact], bool], act: Act, *, said: bool) -> int:
        """Forget all facts of which this holds; how many there were."""
        position, done = None, 0
        while True:
            page = self._facts.page(tenant, ref, tuple(Shelf), position, _AT_ONCE)
            meant = [fact.fact_id for _, fact in page.items if which(fact)]
            done += self._facts.forget_many(tenant, ref, meant, act, said=said)
            position = page.position
            if position is None:
                return done

    def restore(self, principal: Principal, subject: str, fact_id: str) -> Fact:
        """Undo forgetting; what is sensitive needs the person's consent still.

        Raises:
            NotFound: as in ``get``; also once its time is over.
            Conflict: a newer fact has its place, there is no consent, or the tenant keeps no such fact for longer.
        """
        ref, fact = self._reached(principal, subject, fact_id)
        tenant, now = principal.tenant, self._clock.now()
        self._check_retention(tenant, fact, now)
        while True:
            consents = self._records.consents(tenant, ref)
            missing = [category.value for category in fact.sensitive if not consents.covers(category)]
            if missing:
                raise Conflict(f"the person has not consented to keeping {', '.join(missing)}", consent=missing)
            try:
                version = consents.version if fact.sensitive else None
                restored = self._facts.restore(tenant, ref, fact_id, now, consents=version)
            except ConsentMoved:
                continue
            self._counts.add(Count.RESTORED)
            return shown(restored, now)

    def _check_retention(self, tenant: str, fact: Fact, now: int) -> None:
        policy = self._tenants.of(tenant).decay
        until = retained_until(fact, policy)
        if until is not None and until <= now:
            days = policy.retention_days[fact.category]
            raise Conflict(f"the tenant keeps {fact.category} facts for {days} days; state it anew to keep it as long")

    def keep(self, principal: Principal, subject: str, fact_id: str) -> Fact:
        """Put a fact in limbo: not served, restorable.

        Raises:
            NotFound: as in ``get``.
            Conflict: it is history.
        """
        ref, _ = self._reached(principal, subject, fact_id)
        return self._facts.keep(principal.tenant, ref, fact_id, self._act(principal, KEEPS, "kept in limbo"))

    def confirm(self, principal: Principal, subject: str, fact_id: str) -> Fact:
        """The person says that it holds, now, rather than anything else that this caller may read of its slot.

        Raises:
            NotFound: as in ``get``.
            Conflict: it holds no longer.
        """
        ref, fact = self._reached(principal, subject, fact_id)
        tenant, now, slot = principal.tenant, self._clock.now(), slot_name(fact)
        surest = max(
            (
                other.confidence
                for other in self._facts.active(tenant, ref)
                if principal.may_read(other.readers) and slot_name(other) == slot
            ),
            default=0.0,
        )
        return shown(self._facts.confirm(tenant, ref, fact_id, now, surest), now)

    def _act(self, principal: Principal, rule: str, reason: str) -> Act:
        now = self._clock.now()
        until = now + self._tenants.of(principal.tenant).restore_days * DAY_MS
        return Act(rule, reason, principal.agent, now, until)


def not_ahead(at: int | None, now: int, field: str) -> None:
    """What is said lies in the past.

    Raises:
        Invalid: it does not.
    """
    if at is not None and at > now + SKEW_MS:
        raise Invalid.field(field, "must not lie in the future: nothing was observed then yet")


def _candidate(given: GivenFact, now: int) -> Candidate:
    observed = now if given.observed_at is None else given.observed_at
    fields = given.model_dump(exclude={"observed_at", "source"})
    return Candidate(**fields, observed_at=observed, source=given.source)
