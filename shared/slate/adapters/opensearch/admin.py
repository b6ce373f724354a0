"""Indices made, filled beside the one that is searched, and taken into use in one step: a new embedder, no downtime."""

from __future__ import annotations

import re
from typing import Any, Final

from slate.adapters.opensearch.aliases import DEPLOYED, Aliases
from slate.adapters.opensearch.mapping import index_body
from slate.adapters.opensearch.transport import Transport
from slate.ports.embedder import Embedder

_UNSUITED: Final = re.compile(r"[^a-z0-9-]+")


class OpenSearchAdmin:
    """What `slate reindex` does to a domain."""

    def __init__(
        self, transport: Transport, aliases: Aliases = DEPLOYED, *, shards: int = 1, native: bool = True
    ) -> None:
        self._transport = transport
        self._aliases = aliases
        self._shards = shards
        self._native = native

    def begin(self, embedder: Embedder, at: int) -> str:
        """Make an index for this embedder's vectors, kept from now on beside the one that is searched."""
        name = f"{self._aliases.searched}-{_UNSUITED.sub('-', embedder.name.lower())}-{at}"
        body = index_body(embedder.dimension, embedder.name, shards=self._shards, native=self._native)
        self._transport.ask("PUT", name, body)
        actions = [{"add": {"index": name, "alias": self._aliases.kept}}]
        if not self._of(self._aliases.searched):
            actions.append({"add": {"index": name, "alias": self._aliases.searched}})
        self._change(actions)
        return name

    def finish(self, name: str) -> list[str]:
        """Search this index from now on; in the same step the others go, those too that nobody finished."""
        before = [other for other in self._kept() if other != name]
        gone = [{"remove_index": {"index": other}} for other in before]
        self._change([*gone, {"add": {"index": name, "alias": self._aliases.searched}}])
        return before

    def remove(self) -> None:
        """Take all indices away, with what is in them."""
        kept = self._kept()
        if kept:
            self._change([{"remove_index": {"index": name}} for name in kept])

    def _kept(self) -> list[str]:
        return sorted({name for alias in self._aliases for name in self._of(alias)})

    def _of(self, alias: str) -> list[str]:
        return sorted(self._transport.ask("GET", f"_alias/{alias}") or {})

    def _change(self, actions: list[dict[str, Any]]) -> None:
        self._transport.ask("POST", "_aliases", {"actions": actions})
