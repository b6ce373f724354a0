"""Facts wake when they are served in a context, and when the person speaks of them. Neither call waits for it.

A context sends one message, which names facts and holds nothing of them; the rest is done by who works off the queue.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple, cast

from slate.domain.context import Context, SectionName
from slate.domain.errors import NotFound, SubjectErased, Unavailable
from slate.domain.facts.model import Fact
from slate.domain.forgetting.waking import about, woken
from slate.domain.ranking.terms import terms
from slate.ports.clock import Clock
from slate.ports.context_store import ContextStore
from slate.ports.counts import Count, Counts
from slate.ports.fact_fading import FactFading
from slate.ports.keyring import Keyring
from slate.ports.queue import Message, Queue
from slate.service.tenants import Tenants

WAKE: Final = "wake"
"""The kind of message that names served facts."""
_log = logging.getLogger(__name__)


class Heard(NamedTuple):
    """What a person said, and when."""

    content: str
    at: int


class Waking:
    """Wakes facts."""

    def __init__(
        self,
        fading: FactFading,
        contexts: ContextStore,
        tenants: Tenants,
        keyring: Keyring,
        queue: Queue,
        clock: Clock,
        counts: Counts,
    ) -> None:
        self._fading = fading
        self._contexts = contexts
        self._tenants = tenants
        self._keyring = keyring
        self._queue = queue
        self._clock = clock
        self._counts = counts

    # ---- served

    def given(self, tenant: str, context: Context) -> None:
        """A context was given: one message, if it serves facts. A context is not refused because a queue is busy."""
        served = served_facts(context)
        self._counts.add(Count.SERVED, len(served))
        self._counts.add(Count.STALE, sum(len(s.items) for s in context.sections if s.name is SectionName.RECONFIRM))
        if not served or context.subject is None:
            return
        message: Message = {
            "kind": WAKE,
            "tenant": tenant,
            "ref": self._keyring.ref(tenant, context.subject),
            "context_id": context.context_id,
            "facts": list(served),
            "at": context.created_at,
        }
        try:
            self._queue.send(message)
        except Unavailable:
            _log.warning("the queue was busy: facts of context %s were not woken", context.context_id)

    def served(self, message: Message) -> int:
        """Wake what a message names, and remember what was asked; answers how many woke."""
        tenant, ref, at = str(message["tenant"]), str(message["ref"]), cast("int", message["at"])
        with suppress(NotFound, SubjectErased):
            facts = [str(each) for each in cast("Sequence[str]", message["facts"])]
            woke = self._wake(tenant, ref, facts, at, spoken=False)
            context = self._contexts.get(tenant, str(message["context_id"]))
            if context.query is not None:
                self._fading.note_query(tenant, ref, context.query)
            if context.session is not None:
                self._fading.note_served(tenant, ref, context.session, facts)
            return woke
        return 0

    def deleted(self, tenant: str, context: Context) -> list[str]:
        """The items of a receipt about facts that somebody deleted since, or of which nothing is left."""
        about = {
            item.id: item.id.split("+")
            for section in context.sections
            if section.name in (SectionName.FACTS, SectionName.RECONFIRM)
            for item in section.items
        }
        if not about or context.subject is None:
            return []
        ref = self._keyring.ref(tenant, context.subject)
        gone = self._fading.deleted(tenant, ref, sorted({each for ids in about.values() for each in ids}))
        return [item for item, ids in about.items() if not gone.isdisjoint(ids)]

    # ---- spoken of

    def heard(self, tenant: str, ref: str, said: Sequence[Heard]) -> int:
        """Wake the facts that these turns are about, from limbo too; answers how many woke."""
        turns = [(frozenset(terms(each.content)), each.at) for each in said]
        turns = [each for each in turns if each[0]]
        if not turns:
            return 0
        needed = self._tenants.of(tenant).wake_similarity
        woke = 0
        with suppress(SubjectErased):
            for fact in self._fading.living(tenant, ref):
                fact_terms = frozenset(terms(fact.statement))
                instants = [at for words, at in turns if about(fact_terms, words) >= needed]
                if instants:
                    woke += self._wake(tenant, ref, [fact.fact_id], max(instants), spoken=True)
        return woke

    def _wake(self, tenant: str, ref: str, fact_ids: Sequence[str], at: int, *, spoken: bool) -> int:
        policy, now = self._tenants.of(tenant).decay, self._clock.now()

        def change(fact: Fact) -> Fact | None:
            return woken(fact, min(at, now), policy, now, spoken=spoken)

        woke = self._fading.wake(tenant, ref, fact_ids, change)
        self._counts.add(Count.WOKEN, len(woke), by="turn" if spoken else "context")
        return len(woke)


def served_facts(context: Context) -> tuple[str, ...]:
    """The facts that a context shows."""
    return tuple(item.id for section in context.sections if section.name is SectionName.FACTS for item in section.items)
