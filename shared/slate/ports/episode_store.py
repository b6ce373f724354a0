"""Episodes: what was asked, done, and how it ended. All reads are strongly consistent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from slate.domain.episodes import Episode


class EpisodeStore(Protocol):
    """Keeps episodes. ``ref`` stands for the person that one is about; None: about nobody."""

    def put(self, tenant: str, episode: Episode) -> Episode:
        """Keep an episode; the same again, after a lost reply, is the one that is there.

        Raises:
            Conflict: another is there under this id.
        """
        ...

    def many(self, tenant: str, ref: str | None, episode_ids: Sequence[str]) -> list[Episode]:
        """Those of these episodes that are there, in this order."""
        ...

    def some(self, tenant: str, ref: str | None, limit: int) -> list[Episode]:
        """Up to so many episodes."""
        ...
