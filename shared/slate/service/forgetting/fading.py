"""What falls due of facts: from active to limbo, from limbo to forgotten, from forgotten to gone for good.

The timer index is the cursor: an entry leaves its place only in the write that deals with it, so that a run takes up
where the last one ended, however long ago. A tenant has so many acts a run; what is beyond stays in its place, and
waits for the runs after it.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from slate.domain.errors import NotFound, SubjectErased
from slate.domain.facts.model import Fact, FactState
from slate.domain.forgetting.acts import Act
from slate.domain.forgetting.evicting import is_checked
from slate.domain.forgetting.fading import BY_TIME, Going, going, is_over
from slate.ports.clock import Clock
from slate.ports.counts import Count, Counts
from slate.ports.fact_fading import FactFading, Fade
from slate.ports.fact_store import FactStore
from slate.ports.holds import Held, never_held
from slate.ports.memory_timer import DueMemory, MemoryKind, MemoryTimer
from slate.service.due_work import AT_ONCE, SHARDS
from slate.service.tenants import Tenants

HELD_MS: Final = 86_400_000
"""What is held is looked at again after a day."""
_KINDS: Final = (MemoryKind.LIVING, MemoryKind.FACT)
_log = logging.getLogger(__name__)


class Preview(NamedTuple):
    """What would go, and why."""

    tenant: str
    ref: str
    fact_id: str
    state: FactState
    rule: str
    reason: str
    numbers: dict[str, float]


class Fading:
    """Works off the entries of facts."""

    def __init__(
        self,
        fading: FactFading,
        facts: FactStore,
        tenants: Tenants,
        timer: MemoryTimer,
        clock: Clock,
        counts: Counts,
        check_cap: Callable[[str, str], object],
        *,
        cap: int,
        share_ms: int,
        held: Held = never_held,
    ) -> None:
        """A tenant has ``cap`` acts, and as many anew after ``share_ms``: a little less than lies between two runs."""
        self._fading = fading
        self._facts = facts
        self._tenants = tenants
        self._timer = timer
        self._clock = clock
        self._counts = counts
        self._check_cap = check_cap
        self._cap = cap
        self._share_ms = share_ms
        self._held = held
        self._run = 0
        self._done: Counter[str] = Counter()
        self._capped: set[str] = set()
        self._asked: dict[tuple[str, str], bool] = {}

    def begin(self) -> None:
        """A batch begins: whether somebody is held is asked anew."""
        self._asked.clear()

    def passes(self, due: DueMemory) -> bool:
        """Whether an entry stays in its place: its tenant has had its share of this run."""
        now = self._clock.now()
        if now >= self._run + self._share_ms:
            self._run = now
            self._done.clear()
            self._capped.clear()
        if due.kind not in _KINDS or self._done[due.tenant] < self._cap:
            return False
        if due.tenant not in self._capped:
            self._capped.add(due.tenant)
            _log.warning("tenant %s has had its share of this run; the rest waits for the next ones", due.tenant)
        self._counts.add(Count.CAPPED)
        return True

    def tick(self, due: DueMemory) -> None:
        """Do the one step that is due on a fact; a repeat finds it done."""
        if self._is_held(due.tenant, due.owner):
            self._timer.postpone(due, HELD_MS)
            return
        policy, now = self._tenants.of(due.tenant).decay, self._clock.now()

        def decide(fact: Fact) -> Fade | None:
            step = going(fact, policy, now)
            return None if step is None else _fade(step, now)

        settled = self._fading.settle(due.tenant, due.owner, due.name, decide)
        if settled is None:
            return
        self._counts.add(Count.DUE)
        if settled.due is not None:
            self._counts.add(Count.LAG, max(now - settled.due, 0) / 1000)
        if settled.went:
            self._done[due.tenant] += 1
            limbo = settled.fact.state is FactState.LIMBO
            self._counts.add(Count.LIMBO if limbo else Count.FORGOTTEN, by="" if limbo else settled.fact.gone_by or "")
        elif is_over(settled.fact, now):
            self._facts.purge(due.tenant, due.owner, due.name)
            self._done[due.tenant] += 1
            self._counts.add(Count.PURGED)
        elif is_checked(due.name, policy.fact_cap):
            self._check_cap(due.tenant, due.owner)

    def _is_held(self, tenant: str, ref: str) -> bool:
        held = self._asked.get((tenant, ref))
        if held is None:
            held = self._asked[tenant, ref] = self._held(tenant, ref)
        return held

    def preview(self, by: int, limit: int) -> Iterator[Preview]:
        """What would go until an instant, and why; nothing is changed. The first ``limit`` entries of each shard."""
        self.begin()
        for shard in range(SHARDS):
            for due in islice(self._timer.due(shard, min(limit, AT_ONCE), by=by), limit):
                if due.kind in _KINDS and (found := self._previewed(due, by)) is not None:
                    yield found

    def _previewed(self, due: DueMemory, by: int) -> Preview | None:
        try:
            fact = self._facts.get(due.tenant, due.owner, due.name)
        except (NotFound, SubjectErased):
            return None
        if self._is_held(due.tenant, due.owner):
            return None
        if fact.state is FactState.FORGOTTEN:
            reason = "its undo window is over: its content goes for good"
            return Preview(due.tenant, due.owner, due.name, fact.state, "undo_over", reason, {})
        step = going(fact, self._tenants.of(due.tenant).decay, by)
        if step is None:
            return None
        return Preview(due.tenant, due.owner, due.name, step.state, step.rule, step.reason, dict(step.numbers))


def _fade(step: Going, now: int) -> Fade:
    return Fade(step.state, Act(step.rule, step.reason, BY_TIME, now, step.restorable_until, step.numbers))
