"""A search in what is known of a person: facts, what was said, what was done; each kind found in its own way."""

from __future__ import annotations

from slate.contract.search import FoundEpisode, FoundFact, FoundMemories, FoundTurn, Searched, SearchMemory
from slate.domain.access import Principal
from slate.domain.facts.model import Category, Fact
from slate.domain.ranking.turns import TOP, Ranked
from slate.ports.keyring import Keyring
from slate.service.facts.reaching import reached
from slate.service.search.asking import Reader
from slate.service.search.episodic import Episodes, found
from slate.service.search.known import FactSearch, Wanted
from slate.service.search.recalling import Recalling, Said

Found = FoundFact | FoundTurn | FoundEpisode


class Search:
    """The use case."""

    def __init__(self, facts: FactSearch, recalling: Recalling, episodes: Episodes, keyring: Keyring) -> None:
        self._facts = facts
        self._recalling = recalling
        self._episodes = episodes
        self._keyring = keyring

    def search(self, principal: Principal, subject: str, body: SearchMemory) -> FoundMemories:
        """The best of all kinds asked for; constraints above 7 are beside them.

        Raises:
            NotFound: the subject is not within the credential's bounds.
        """
        tenant, ref = principal.tenant, reached(self._keyring, principal, subject)
        reader = Reader.of(principal)
        items: list[Found] = []
        always: list[Found] = []
        warnings: list[str] = []
        if Searched.FACT in body.kinds:
            known = self._facts.find(tenant, ref, Wanted(body.query, body.categories, body.topics, body.top_k), reader)
            items += [_fact(fact, ranked, body.explain) for fact, ranked in known.best]
            if not body.categories or Category.CONSTRAINT in body.categories:
                always += [_fact(fact, ranked, body.explain) for fact, ranked in known.always]
            warnings += known.warnings
        if Searched.TURN in body.kinds:
            recalled = self._recalling.find(tenant, subject, ref, body.query, body.top_k, reader)
            items += [_turn(said, body.explain) for said in recalled.turns]
            warnings += recalled.warnings
        if Searched.EPISODE in body.kinds:
            done = self._episodes.find(tenant, subject, body.query, body.top_k, reader)
            items += [found(episode, ranked, explain=body.explain) for episode, ranked in done.episodes]
            warnings += done.warnings
        best = sorted(items, key=lambda item: -item.score)[: body.top_k]
        merged = sorted([*best, *always], key=lambda item: -item.score)
        return FoundMemories(items=tuple(merged), warnings=tuple(dict.fromkeys(warnings)))


def _fact(fact: Fact, ranked: Ranked, explain: bool) -> FoundFact:
    why = _why(ranked, 1.0) if explain else None
    return FoundFact(**fact.model_dump(), score=round(ranked.score, 4), why=why)


def _turn(said: Said, explain: bool) -> FoundTurn:
    """Its score is brought to the scale of the others: of 1 at most."""
    why = _why(said.ranked, TOP) if explain else None
    score = round(said.ranked.score / TOP, 4)
    return FoundTurn(**said.turn.model_dump(), session_id=said.session_id, score=score, why=why)


def _why(ranked: Ranked, scale: float) -> dict[str, float]:
    return {name: round(part / scale, 4) for name, part in ranked.why.items()}
