"""Episodes in DynamoDB: one sealed item each, in the partition of whom it is about."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import ConditionFailed, Item
from slate.adapters.dynamodb.changes import put
from slate.adapters.dynamodb.keys import EPISODE, episode_key, episodes_pk, prefix
from slate.adapters.dynamodb.storage import Storage
from slate.domain.episodes import Episode
from slate.domain.errors import WITHHELD, Conflict

_SEALED: Final = frozenset({"task", "steps", "outcome", "subject", "source"})


class DynamoEpisodeStore:
    """Keeps episodes in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def put(self, tenant: str, episode: Episode) -> Episode:
        """One put, of an item that holds the words, or names the object that does."""
        ref = self._ref(tenant, episode.subject)
        key = episode_key(tenant, ref, episode.episode_id)
        said = episode.model_dump(mode="json", include=set(_SEALED))
        item: Item = {
            **contents.item_for(self._storage, tenant, ref, key, said),
            "agent": episode.agent or "",
            "readers": list(episode.readers),
            "created_at": episode.created_at,
            "version": episode.version,
        }
        try:
            self._storage.calls.write(tenant, put(item))
        except ConditionFailed as failed:
            there = None if failed.old is None else self.opened(tenant, failed.old)
            if there is None or there.model_copy(update={"created_at": episode.created_at}) != episode:
                raise Conflict("an episode of this id is there with other content") from None
            return there
        return episode

    def many(self, tenant: str, ref: str | None, episode_ids: Sequence[str]) -> list[Episode]:
        """A batch of reads."""
        keys = [episode_key(tenant, ref, each) for each in dict.fromkeys(episode_ids)]
        found = self._storage.calls.get_many(tenant, keys)
        return self._episodes(tenant, [found[key] for key in keys if key in found])

    def some(self, tenant: str, ref: str | None, limit: int) -> list[Episode]:
        """One query."""
        items = self._storage.calls.query(tenant, episodes_pk(tenant, ref), between=prefix(EPISODE), backward=True)
        return self._episodes(tenant, list(islice(items, limit)))

    def _episodes(self, tenant: str, items: Sequence[Item]) -> list[Episode]:
        found: list[Episode] = []
        for item in items:
            with suppress(*WITHHELD):
                found.append(self.opened(tenant, item))
        return found

    def opened(self, tenant: str, item: Item) -> Episode:
        """An episode from its item; a call more where its words are an object."""
        said = contents.read(self._storage, tenant, item)
        return Episode.model_validate(
            {
                **said,
                "episode_id": str(item["sk"]).removeprefix(EPISODE),
                "agent": item["agent"] or None,
                "readers": item["readers"],
                "created_at": item["created_at"],
                "version": item["version"],
            }
        )

    def _ref(self, tenant: str, subject: str | None) -> str | None:
        return None if subject is None else self._storage.codec.keyring.ref(tenant, subject)
