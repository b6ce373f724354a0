"""How well a person's memory is: one query of what lives, and a look at the last of the log."""

from __future__ import annotations

from typing import Final

from slate.contract.forgetting import FactsHealth, GroupsHealth, GrowthHealth, Health
from slate.domain.access import Principal
from slate.domain.facts.model import Fact, FactState, Forgetting
from slate.domain.facts.standing import serves, stale
from slate.domain.forgetting.evicting import ratings
from slate.domain.forgetting.health import (
    LOOKED_BACK_DAYS,
    conflicts,
    duplicates,
    growth,
    irrelevant,
    regret,
)
from slate.domain.forgetting.policy import DecayPolicy
from slate.domain.forgetting.strength import DAY_MS, fades
from slate.ports.clock import Clock
from slate.ports.fact_fading import FactFading
from slate.ports.fact_records import FactRecords
from slate.ports.keyring import Keyring
from slate.service.facts.reaching import reached
from slate.service.tenants import Tenants

SHOWN: Final = 100
"""Items of each kind."""
_AT_ONCE: Final = 200
_MOST_ENTRIES: Final = 2_000


class Examining:
    """Examines memories."""

    def __init__(
        self, fading: FactFading, records: FactRecords, tenants: Tenants, keyring: Keyring, clock: Clock
    ) -> None:
        self._fading = fading
        self._records = records
        self._tenants = tenants
        self._keyring = keyring
        self._clock = clock

    def examine(self, principal: Principal, subject: str) -> Health:
        """What is unwell, each with its items; of those facts that this caller may read."""
        tenant, ref, now = principal.tenant, reached(self._keyring, principal, subject), self._clock.now()
        policy = self._tenants.of(tenant).decay
        facts = [fact for fact in self._fading.living(tenant, ref) if principal.may_read(fact.readers)]
        log = self._lately(principal, ref, now)
        grown = growth(facts, log, policy.fact_cap, now)
        same, wrong, noise = duplicates(facts), conflicts(facts), irrelevant(facts)
        old = [fact.fact_id for fact in facts if serves(fact, now) and stale(fact, now)]
        first = self._first_to_go(tenant, ref, facts, policy, now) if grown.flagged else []
        over = len(facts) - policy.fact_cap
        return Health(
            healthy=not (grown.flagged or same or wrong or noise),
            active=sum(fact.state is FactState.ACTIVE for fact in facts),
            limbo=sum(fact.state is FactState.LIMBO for fact in facts),
            cap=policy.fact_cap,
            cap_full=over > 0 and sum(fades(fact, policy) for fact in facts) < over,
            growth=GrowthHealth(
                flagged=grown.flagged, learned_30_days=grown.learned, gone_30_days=grown.gone, items=tuple(first)
            ),
            duplicates=GroupsHealth(flagged=bool(same), items=tuple(same[:SHOWN])),
            irrelevant=FactsHealth(flagged=bool(noise), items=tuple(noise[:SHOWN])),
            conflicts=GroupsHealth(flagged=bool(wrong), items=tuple(wrong[:SHOWN])),
            stale=FactsHealth(flagged=bool(old), items=tuple(old[:SHOWN])),
            regret_rate=round(regret(log), 4),
        )

    def _first_to_go(self, tenant: str, ref: str, facts: list[Fact], policy: DecayPolicy, now: int) -> list[str]:
        fading = [fact for fact in facts if fades(fact, policy)]
        rated = ratings(fading, self._fading.queries(tenant, ref), policy, now)
        return [each.fact.fact_id for each in sorted(rated, key=lambda each: each.score)[:SHOWN]]

    def _lately(self, principal: Principal, ref: str, now: int) -> list[Forgetting]:
        since, position = now - LOOKED_BACK_DAYS * DAY_MS, None
        found: list[Forgetting] = []
        while len(found) < _MOST_ENTRIES:
            page = self._records.log(principal.tenant, ref, position, _AT_ONCE)
            found += [entry for entry in page.items if entry.at > since and principal.may_read(entry.readers)]
            position = page.position
            if position is None or page.items[-1].at <= since:
                break
        return found
