"""What stands beside the facts: notices, what is held back and its review, consent."""

from __future__ import annotations

from slate.contract.facts import NoticePage, PutConsents, QuarantinePage, Results
from slate.domain.access import Principal
from slate.domain.errors import NotFound
from slate.domain.facts.changing import CONSENT
from slate.domain.facts.model import (
    DEFAULT_IMPORTANCE,
    Candidate,
    Consent,
    Consents,
    Fact,
    FactState,
    Quarantined,
    QuarantineState,
    Sensitive,
)
from slate.domain.forgetting.acts import Act
from slate.ports.clock import Clock
from slate.ports.fact_records import FactRecords
from slate.ports.keyring import Keyring
from slate.service.facts.deciding import DAY_MS, Author, Deciding
from slate.service.facts.reaching import reached
from slate.service.facts.remembering import Facts, not_ahead
from slate.service.paging import Cursors
from slate.service.tenants import Tenants


class Reviewing:
    """Gives them to who may see them."""

    def __init__(
        self,
        records: FactRecords,
        facts: Facts,
        deciding: Deciding,
        tenants: Tenants,
        keyring: Keyring,
        cursors: Cursors,
        clock: Clock,
    ) -> None:
        self._records = records
        self._facts = facts
        self._deciding = deciding
        self._tenants = tenants
        self._keyring = keyring
        self._cursors = cursors
        self._clock = clock

    # ---- lists

    def notices(self, principal: Principal, subject: str, limit: int, cursor: str | None) -> NoticePage:
        """Notices, the newest first."""
        tenant, ref = principal.tenant, reached(self._keyring, principal, subject)
        of = f"notices {ref}"
        page = self._records.notices(tenant, ref, self._cursors.position(tenant, of, cursor), limit)
        mine = tuple(notice for notice in page.items if principal.may_read(notice.readers))
        return NoticePage(items=mine, next_cursor=self._cursors.next(tenant, of, page.position))

    def quarantine(
        self, principal: Principal, subject: str, state: QuarantineState, limit: int, cursor: str | None
    ) -> QuarantinePage:
        """What is held back, in this state."""
        tenant, ref = principal.tenant, reached(self._keyring, principal, subject)
        of = f"quarantine {ref} {state}"
        page = self._records.quarantine(tenant, ref, self._cursors.position(tenant, of, cursor), limit)
        mine = tuple(held for held in page.items if held.state is state and principal.may_read(held.readers))
        return QuarantinePage(items=mine, next_cursor=self._cursors.next(tenant, of, page.position))

    # ---- review

    def accept(self, principal: Principal, subject: str, quarantine_id: str) -> Results:
        """Take it for true after all: what became of it then.

        Raises:
            NotFound: there is none, or it is for other readers.
            Conflict: it was rejected before.
        """
        tenant, ref = principal.tenant, reached(self._keyring, principal, subject)
        self._held(principal, ref, quarantine_id)
        held = self._records.review(tenant, ref, quarantine_id, QuarantineState.ACCEPTED)
        candidate = Candidate(
            statement=held.statement,
            category=held.category,
            attribute=held.attribute,
            value=held.value,
            readers=held.readers,
            importance=DEFAULT_IMPORTANCE,
            observed_at=held.at,
            source=held.source,
        )
        decision = self._deciding.decide(tenant, ref, candidate, Author(principal.agent), reviewed=True)
        return Results(results=(decision,))

    def reject(self, principal: Principal, subject: str, quarantine_id: str) -> Quarantined:
        """It stays out, also when it is said again.

        Raises:
            NotFound, Conflict: as in ``accept``.
        """
        ref = reached(self._keyring, principal, subject)
        self._held(principal, ref, quarantine_id)
        return self._records.review(principal.tenant, ref, quarantine_id, QuarantineState.REJECTED)

    def _held(self, principal: Principal, ref: str, quarantine_id: str) -> None:
        held = self._records.quarantined(principal.tenant, ref, quarantine_id)
        if not principal.may_read(held.readers):
            raise NotFound(f"nothing is held back under {quarantine_id!r}")

    # ---- consent

    def consents(self, principal: Principal, subject: str) -> Consents:
        """What the person consented to."""
        return self._records.consents(principal.tenant, reached(self._keyring, principal, subject))

    def put_consents(self, principal: Principal, subject: str, body: PutConsents, version: int | None) -> Consents:
        """Note the person's word; what a withdrawal covered is forgotten before this answers.

        Raises:
            Invalid: it is dated in the future.
            Conflict: it is older than the withdrawal that stands.
            VersionMismatch: it is not at ``version``.
        """
        tenant, ref = principal.tenant, reached(self._keyring, principal, subject)
        said: dict[Sensitive, Consent] = {
            category: consent for category in Sensitive if (consent := getattr(body, category.value)) is not None
        }
        for category, consent in said.items():
            not_ahead(consent.at, self._clock.now(), f"{category.value}.at")
        after = self._records.put_consents(tenant, ref, said, version)
        closed = {category for category, consent in said.items() if not consent.given}
        if closed:
            self._forget(principal, ref, closed)
        return after

    def _forget(self, principal: Principal, ref: str, closed: set[Sensitive]) -> None:
        def covered(fact: Fact) -> bool:
            return fact.state is not FactState.FORGOTTEN and not closed.isdisjoint(fact.sensitive)

        now = self._clock.now()
        until = now + self._tenants.of(principal.tenant).restore_days * DAY_MS
        act = Act(CONSENT, "the person withdrew the consent that it rested on", principal.agent, now, until)
        self._facts.forget_all(principal.tenant, ref, covered, act, said=False)
