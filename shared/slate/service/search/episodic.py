"""Episodes: kept when a run is over, and found when such a task comes again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from slate.contract.search import FoundEpisode, FoundEpisodes, PutEpisode, SearchEpisodes
from slate.domain.access import Principal
from slate.domain.episodes import Episode, text_of
from slate.domain.errors import NotFound
from slate.domain.indexed import Entry, Kind, entry_of_text
from slate.domain.ranking.passages import best_passages
from slate.domain.ranking.turns import Ranked
from slate.ports.clock import Clock
from slate.ports.episode_store import EpisodeStore
from slate.ports.keyring import Keyring
from slate.service.idempotency import Idempotency
from slate.service.search.asking import Reader, Seeking
from slate.service.search.indexing import NOBODY

NEWEST = 300
"""Episodes that are looked through where the index does not answer."""


class Done(NamedTuple):
    """Episodes that answer, the most similar first."""

    episodes: list[tuple[Episode, Ranked]]
    warnings: tuple[str, ...] = ()


class Episodes:
    """The use cases of episodes."""

    def __init__(
        self, store: EpisodeStore, seeking: Seeking, keyring: Keyring, idempotency: Idempotency, clock: Clock
    ) -> None:
        self._store = store
        self._seeking = seeking
        self._keyring = keyring
        self._idempotency = idempotency
        self._clock = clock

    def put(self, principal: Principal, body: PutEpisode, idempotency_key: str | None) -> Episode:
        """Keep what was done.

        Raises:
            Forbidden: the agent, or the subject, is another's.
        """
        subject, agent = principal.acting_subject(body.subject), principal.acting_agent(body.agent)
        tenant = principal.tenant

        def do(seed: str) -> tuple[Episode, JsonValue]:
            episode = Episode(
                episode_id=f"e-{seed}",
                task=body.task,
                steps=body.steps,
                outcome=body.outcome,
                subject=subject,
                agent=agent,
                readers=body.readers,
                created_at=self._clock.now(),
            )
            kept = self._store.put(tenant, episode)
            return kept, kept.episode_id

        def again(kept: JsonValue) -> Episode:
            ref = None if subject is None else self._keyring.ref(tenant, subject)
            found = self._store.many(tenant, ref, [str(kept)])
            if not found:
                raise NotFound("the episode that this call made is gone")
            return found[0]

        request: JsonValue = ["POST episode", body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, again, about=subject)

    def search(self, principal: Principal, body: SearchEpisodes) -> FoundEpisodes:
        """Episodes of similar tasks: of this person, or of all within the credential's reach.

        Raises:
            Forbidden: the subject is another's.
        """
        subject = principal.acting_subject(body.subject)
        done = self.find(principal.tenant, subject, body.query, body.top_k, Reader.of(principal))
        items = tuple(found(episode, ranked) for episode, ranked in done.episodes)
        return FoundEpisodes(items=items, warnings=done.warnings)

    def find(self, tenant: str, subject: str | None, query: str, count: int, reader: Reader) -> Done:
        """The most similar episodes: about this person, or about anybody and nobody."""
        ref = None if subject is None else self._keyring.ref(tenant, subject)
        scopes = None if ref is None else [ref]
        sought = self._seeking.seek(tenant, Kind.EPISODE, scopes, query, reader, lambda: self._newest(tenant, ref))
        refs = {hit.id: None if hit.scope == NOBODY else hit.scope for hit in sought.hits}
        ranked = best_passages(
            {hit.id: hit.lexical for hit in sought.hits},
            {hit.id: hit.likeness for hit in sought.hits},
            share=self._seeking.share,
            count=len(sought.hits),
        )
        # Only what was asked for is read, and some more: a few may be gone, or closed to this reader.
        ranked = ranked[: count * 2 + 10]
        there = self._read(tenant, refs, ranked)
        open_ones = [
            (there[each.name], each)
            for each in ranked
            if each.name in there and reader.may_read(there[each.name].readers, there[each.name].agent)
        ]
        return Done(open_ones[:count], sought.warnings)

    def _read(self, tenant: str, refs: dict[str, str | None], ranked: Sequence[Ranked]) -> dict[str, Episode]:
        by_ref: defaultdict[str | None, list[str]] = defaultdict(list)
        for each in ranked:
            by_ref[refs[each.name]].append(each.name)
        return {
            episode.episode_id: episode
            for ref, names in by_ref.items()
            for episode in self._store.many(tenant, ref, names)
        }

    def _newest(self, tenant: str, ref: str | None) -> list[Entry]:
        return [
            entry_of_text(
                Kind.EPISODE,
                episode.episode_id,
                text_of(episode),
                scope=ref or NOBODY,
                group="",
                version=episode.version,
                at=episode.created_at,
                readers=(),
            )
            for episode in self._store.some(tenant, ref, NEWEST)
        ]


def found(episode: Episode, ranked: Ranked, *, explain: bool = True) -> FoundEpisode:
    """An episode as an answer shows it."""
    why = {name: round(part, 4) for name, part in ranked.why.items()} if explain else None
    return FoundEpisode(**episode.model_dump(), score=round(ranked.score, 4), why=why)
