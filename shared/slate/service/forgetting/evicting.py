"""A person has so many facts at most: beyond the cap those go that are least recent, least used, least asked for."""

from __future__ import annotations

import logging
from typing import Final

from slate.domain.facts.deciding import AGAIN
from slate.domain.facts.model import Decision, Fact, FactState, Op
from slate.domain.forgetting.acts import Act
from slate.domain.forgetting.evicting import Rated, evicted, is_checked, ratings
from slate.domain.forgetting.fading import BY_TIME, EVICTED, numbers_of
from slate.domain.forgetting.policy import DecayPolicy
from slate.domain.forgetting.strength import DAY_MS, fades
from slate.ports.clock import Clock
from slate.ports.counts import Count, Counts
from slate.ports.fact_fading import FactFading, Fade
from slate.ports.holds import Held, never_held
from slate.ports.queue import Queue
from slate.service.tenants import Tenants

EVICT: Final = "evict"
"""The kind of message that asks to look at a person's cap."""
_log = logging.getLogger(__name__)


class Evicting:
    """Keeps persons within the cap."""

    def __init__(
        self,
        fading: FactFading,
        tenants: Tenants,
        queue: Queue,
        clock: Clock,
        counts: Counts,
        *,
        held: Held = never_held,
    ) -> None:
        self._held = held
        self._fading = fading
        self._tenants = tenants
        self._queue = queue
        self._clock = clock
        self._counts = counts

    def decided(self, tenant: str, ref: str, decision: Decision) -> None:
        """A statement was decided: where a fact is new, the cap is looked at now and then, by a message."""
        self._counts.add(Count.DECIDED, by=decision.op.value)
        if decision.contradicts:
            self._counts.add(Count.CONFLICTS)
        if decision.reason == AGAIN:
            self._counts.add(Count.REGRETTED)
        if decision.op is not Op.ADD or decision.fact_id is None:
            return
        if is_checked(decision.fact_id, self._tenants.of(tenant).fact_cap):
            self.ask(tenant, ref)

    def ask(self, tenant: str, ref: str) -> None:
        """Have the cap looked at."""
        self._queue.send({"kind": EVICT, "tenant": tenant, "ref": ref})

    def check(self, tenant: str, ref: str) -> int:
        """Let go what is beyond the cap; answers how many went. A repeat finds them gone.

        Of a person who is held nothing goes: the cap is looked at again with the next fact that is checked.
        """
        if self._held(tenant, ref):
            return 0
        policy, now = self._tenants.of(tenant).decay, self._clock.now()
        if self._fading.count(tenant, ref, policy.fact_cap) <= policy.fact_cap:
            return 0
        facts = self._fading.living(tenant, ref)
        over = len(facts) - policy.fact_cap
        going = evicted(ratings(facts, self._fading.queries(tenant, ref), policy, now), policy)
        for each in going:
            self._let_go(tenant, ref, each, policy, now)
        if len(going) < over:
            self._counts.add(Count.CAP_FULL)
            _log.warning("a person of tenant %s has more facts than the cap, and too few of them may go", tenant)
        return len(going)

    def _let_go(self, tenant: str, ref: str, each: Rated, policy: DecayPolicy, now: int) -> None:
        until = now + policy.restore_days * DAY_MS
        numbers = {**numbers_of(each.fact, policy, now), **each.numbers, "cap": policy.fact_cap}
        reason = f"more than {policy.fact_cap} facts: it was the least recent, least used and least asked for"
        act = Act(EVICTED, reason, BY_TIME, now, until, numbers)

        def decide(fact: Fact) -> Fade | None:
            # Used or changed since it was rated, it is no longer what was chosen.
            same = (fact.version, fact.woken_at) == (each.fact.version, each.fact.woken_at)
            goes = same and fact.state is not FactState.FORGOTTEN and fades(fact, policy)
            return Fade(FactState.FORGOTTEN, act) if goes else None

        settled = self._fading.settle(tenant, ref, each.fact.fact_id, decide)
        if settled is not None and settled.went:
            self._counts.add(Count.FORGOTTEN, by=EVICTED)
