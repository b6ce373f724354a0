"""Every candidate passes here, whoever found it: screened by the rules, decided against its slot, one answer each.

What is answered is what was written: a write that fails raises, and is never an ADD.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from slate.domain.errors import Unavailable
from slate.domain.extracting.implied import implied
from slate.domain.facts.changing import KEEPS
from slate.domain.facts.dates import plan_end
from slate.domain.facts.deciding import KEPT_MAYBE, TRIVIAL
from slate.domain.facts.guard import SECRET, redacted, redacted_value
from slate.domain.facts.model import (
    Candidate,
    Consents,
    Decision,
    Fact,
    FactState,
    Op,
    Quarantined,
    QuarantineState,
)
from slate.domain.facts.screening import Policy, Screened, screen, trivial
from slate.domain.facts.sensitive import sensitive
from slate.domain.facts.slots import slot_of, value_of
from slate.domain.facts.timeline import Observation
from slate.domain.facts.topics import topics_of
from slate.domain.forgetting.acts import Act
from slate.domain.tenants import TenantSettings
from slate.ports.clock import Clock
from slate.ports.fact_records import FactRecords
from slate.ports.fact_store import ConsentMoved, FactStore, Stated
from slate.service.tenants import Tenants

DAY_MS: Final = 86_400_000
_TRIES: Final = 5
_AS_GIVEN: Final = frozenset(
    {
        *("statement", "category", "attribute", "value", "importance", "confidence"),
        *("readers", "expires_at", "keep_maybe", "pinned"),
    }
)


class Author(NamedTuple):
    """Whose key it is."""

    agent: str


def policy_of(settings: TenantSettings) -> Policy:
    """What the tenant lets be known."""
    return Policy(settings.sensitive_categories, settings.closed_categories, settings.refused_words)


class Deciding:
    """Takes candidates."""

    def __init__(
        self,
        facts: FactStore,
        records: FactRecords,
        tenants: Tenants,
        clock: Clock,
        decided: Callable[[str, str, Decision], None] = lambda _tenant, _ref, _decision: None,
    ) -> None:
        """``decided`` is told of each decision."""
        self._told = decided
        self._facts = facts
        self._records = records
        self._tenants = tenants
        self._clock = clock

    def take(self, tenant: str, ref: str, candidates: Iterable[Candidate], author: Author) -> list[Decision]:
        """Decide each, in their order."""
        return [self.decide(tenant, ref, candidate, author) for candidate in candidates]

    def decide(
        self, tenant: str, ref: str, candidate: Candidate, author: Author, *, reviewed: bool = False
    ) -> Decision:
        """Screen it, and decide it against its slot; ``reviewed`` by a person, it is not guarded again."""
        decision = self._decide(tenant, ref, candidate, author, reviewed=reviewed)
        self._told(tenant, ref, decision)
        return decision

    def _decide(self, tenant: str, ref: str, candidate: Candidate, author: Author, *, reviewed: bool) -> Decision:
        settings = self._tenants.of(tenant)
        full = _completed(candidate)
        asks = sensitive(full.statement, full.attribute, full.topics, full.value)
        for _ in range(_TRIES):
            consents = self._records.consents(tenant, ref) if asks else Consents()
            screened = screen(full, policy_of(settings), consents, reviewed=reviewed)
            if screened.op is Op.QUARANTINED:
                held = self._hold_back(tenant, ref, full, screened)
                if held.state is not QuarantineState.ACCEPTED:
                    return _held(held, screened)
                full = full.model_copy(update={"statement": held.statement, "value": held.value})  # as it was seen
                screened = screen(full, policy_of(settings), consents, reviewed=True)
            if screened.op is not None:
                return Decision(op=screened.op, reason=str(screened.reason), code=screened.code)
            try:
                return self._decided(tenant, ref, full, screened, settings, author, consents.version)
            except ConsentMoved:
                continue
        raise Unavailable("the person's consents keep changing; repeat the call")

    def _decided(
        self,
        tenant: str,
        ref: str,
        candidate: Candidate,
        screened: Screened,
        settings: TenantSettings,
        author: Author,
        consents: int,
    ) -> Decision:
        stated = self._stated(candidate, screened, author, settings.restore_days)
        if screened.sensitive:
            stated = stated._replace(consents=consents)
        if candidate.withdraws:
            return self._facts.withdraw(tenant, ref, stated)
        now = self._clock.now()
        until = now + settings.restore_days * DAY_MS
        kept = stated.fact.state is FactState.LIMBO
        rule, reason = (KEEPS, KEPT_MAYBE) if kept else ("importance_below_4", TRIVIAL)
        return self._facts.state(tenant, ref, stated, Act(rule, reason, author.agent, now, until))

    def _stated(self, candidate: Candidate, screened: Screened, author: Author, days: int) -> Stated:
        now = self._clock.now()
        state = FactState.ACTIVE
        if trivial(candidate) and not candidate.keep_maybe:
            state = FactState.FORGOTTEN
        elif candidate.keep_maybe:
            state = FactState.LIMBO
        fact = Fact(
            fact_id="",
            **candidate.model_dump(include=set(_AS_GIVEN)),
            source=candidate.source,
            topics=topics_of(candidate.statement, candidate.attribute, candidate.topics),
            sensitive=screened.sensitive,
            agent=author.agent,
            state=state,
            observed_at=candidate.observed_at,
            last_confirmed_at=candidate.observed_at,
            valid_from=candidate.observed_at,
            restorable_until=now + days * DAY_MS if state is FactState.FORGOTTEN else None,
            created_at=now,
            updated_at=now,
        )
        slot = slot_of(candidate.statement, candidate.attribute, candidate.value, candidate.readers)
        return Stated(slot, fact, _observation(candidate, shelved=state is not FactState.ACTIVE))

    def _hold_back(self, tenant: str, ref: str, candidate: Candidate, screened: Screened) -> Quarantined:
        """Of a secret only that there was one is kept."""
        statement, value = candidate.statement, candidate.value
        if screened.code == SECRET.code:
            statement, value = redacted(statement), redacted_value(candidate.attribute, value)
        held = Quarantined(
            quarantine_id="",
            statement=statement,
            value=value,
            **candidate.model_dump(include={"category", "attribute", "readers"}),
            source=candidate.source,
            reason=str(screened.reason),
            code=str(screened.code),
            at=self._clock.now(),
        )
        return self._records.hold_back(tenant, ref, held)


def _completed(candidate: Candidate) -> Candidate:
    """With the slot that its very words imply, and the end that they name."""
    if candidate.attribute is None and not candidate.withdraws:
        found = implied(candidate.statement)
        if found is not None:
            candidate = candidate.model_copy(update={"attribute": found.attribute, "value": found.value})
    if candidate.expires_at is None and not candidate.withdraws:
        ends = plan_end(candidate.statement, candidate.observed_at)
        candidate = candidate.model_copy(update={"expires_at": ends})
    return candidate


def _observation(candidate: Candidate, *, shelved: bool) -> Observation:
    source = candidate.source if candidate.source is not None and not isinstance(candidate.source, str) else None
    value = "" if candidate.withdraws and candidate.value is None else value_of(candidate.statement, candidate.value)
    return Observation(
        fact_id="",
        at=candidate.observed_at,
        value=value,
        confidence=candidate.confidence,
        own=candidate.own,
        withdraws=candidate.withdraws,
        shelved=shelved,
        session_id=None if source is None else source.session_id,
        seq=None if source is None else source.seq,
    )


def _held(held: Quarantined, screened: Screened) -> Decision:
    before = "; it was rejected before" if held.state is QuarantineState.REJECTED else ""
    return Decision(
        op=Op.QUARANTINED,
        reason=f"{screened.reason}{before}",
        code=screened.code,
        quarantine_id=held.quarantine_id,
    )
