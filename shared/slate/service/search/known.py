"""Facts for a query: all active ones are read from the storage, so that none is missed, and none is out of date.

The index adds only how alike in meaning they are; without it they are found by slot, topic and words.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from slate.domain.errors import Unavailable
from slate.domain.facts.agreeing import agreed
from slate.domain.facts.model import Category, Fact
from slate.domain.facts.standing import Question, questions, serves
from slate.domain.forgetting.strength import faded
from slate.domain.indexed import Kind
from slate.domain.ranking.facts import best_facts, is_always_served
from slate.domain.ranking.turns import Ranked
from slate.ports.clock import Clock
from slate.ports.fact_store import FactStore
from slate.ports.memory_index import Probe
from slate.service.search.asking import Reader, Seeking
from slate.service.tenants import Tenants

ALIKE: Final = 500
DEGRADED: Final = "the index does not answer: facts were found by category, slot, topic and words"


class Wanted(NamedTuple):
    """Which facts: of these categories and topics, empty for all; so many."""

    query: str | None
    categories: Collection[Category] = ()
    topics: Collection[str] = ()
    top: int = 5
    about: Collection[str] = ()
    """Topics that count for a fact, and close out none."""


class Known(NamedTuple):
    """The facts that answer, the best first; beside them what is always served, and what is to be asked instead."""

    best: list[tuple[Fact, Ranked]]
    always: list[tuple[Fact, Ranked]]
    asked: list[Question]
    warnings: tuple[str, ...] = ()


class FactSearch:
    """Ranks what is known."""

    def __init__(self, facts: FactStore, seeking: Seeking, tenants: Tenants, clock: Clock) -> None:
        self._facts = facts
        self._tenants = tenants
        self._seeking = seeking
        self._clock = clock

    def find(self, tenant: str, ref: str, wanted: Wanted, reader: Reader) -> Known:
        """One query of the storage, one of the index."""
        now, policy = self._clock.now(), self._tenants.of(tenant).decay
        # What is too weak is not served from that instant on, however late it is put in limbo.
        served = agreed(
            fact
            for fact in self._facts.active(tenant, ref)
            if serves(fact, now) and not faded(fact, policy, now) and reader.may_read(fact.readers, None)
        ).facts
        asked = questions(served, now)
        unsure = {fact.fact_id for question in asked for fact in question.facts}
        sure = [fact for fact in served if fact.fact_id not in unsure]
        likeness, warnings = self._likeness(tenant, ref, wanted.query) if served else ({}, ())
        by_id = {fact.fact_id: fact for fact in served}

        def ranked(facts: Sequence[Fact], count: int) -> list[tuple[Fact, Ranked]]:
            best = best_facts(
                wanted.query,
                facts,
                likeness,
                share=self._seeking.share,
                now=now,
                topics=(*wanted.topics, *wanted.about),
                count=count,
            )
            return [(by_id[each.name], each) for each in best]

        chosen = [fact for fact in sure if _matches(fact, wanted)]
        best = ranked([fact for fact in chosen if not is_always_served(fact)], wanted.top)
        always = ranked([fact for fact in sure if is_always_served(fact)], len(sure))
        if len(asked) > 1:
            order = {fact.fact_id: place for place, (fact, _) in enumerate(ranked(served, len(served)))}
            asked.sort(key=lambda question: min(order[fact.fact_id] for fact in question.facts))
        return Known(best, always, asked, warnings)

    def _likeness(self, tenant: str, ref: str, query: str | None) -> tuple[dict[str, float], tuple[str, ...]]:
        index, embedder = self._seeking.index, self._seeking.embedder
        if index is None or embedder is None or not query:
            return {}, ()
        try:
            vector = embedder.embed([query])[0]
            probe = Probe(kind=Kind.FACT, scopes=[ref], terms=(), vector=vector, embedder=embedder.name, limit=ALIKE)
            return {hit.id: hit.likeness for hit in index.seek(tenant, probe)}, ()
        except Unavailable:
            return {}, (DEGRADED,)


def _matches(fact: Fact, wanted: Wanted) -> bool:
    if wanted.categories and fact.category not in wanted.categories:
        return False
    topics = {topic.casefold() for topic in wanted.topics}
    return not topics or not topics.isdisjoint(topic.casefold() for topic in fact.topics)
