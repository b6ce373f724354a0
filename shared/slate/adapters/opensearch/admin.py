"""Indices made, filled beside the one that is searched, and taken into use in one step: a new embedder, no downtime."""

from __future__ import annotations

import re
from typing import Final

from slate.adapters.opensearch.mapping import index_body
from slate.adapters.opensearch.memory_index import READ, WRITE
from slate.adapters.opensearch.transport import Transport
from slate.ports.embedder import Embedder

_UNSUITED: Final = re.compile(r"[^a-z0-9-]+")


class OpenSearchAdmin:
    """What `slate reindex` does to a domain."""

    def __init__(self, transport: Transport, *, shards: int = 1, native: bool = True) -> None:
        self._transport = transport
        self._shards = shards
        self._native = native

    def begin(self, embedder: Embedder, at: int) -> str:
        """Make an index for this embedder's vectors, kept from now on beside the one that is searched."""
        name = f"slate-{_UNSUITED.sub('-', embedder.name.lower())}-{at}"
        body = index_body(embedder.dimension, embedder.name, shards=self._shards, native=self._native)
        self._transport.ask("PUT", name, body)
        actions = [{"add": {"index": name, "alias": WRITE}}]
        if not self._searched():
            actions.append({"add": {"index": name, "alias": READ}})
        self._transport.ask("POST", "_aliases", {"actions": actions})
        return name

    def finish(self, name: str) -> list[str]:
        """Search this index from now on, in one step; the others are not kept any more, and removed."""
        before = [other for other in self._searched() if other != name]
        actions = [{"remove": {"index": other, "alias": alias}} for other in before for alias in (READ, WRITE)]
        self._transport.ask("POST", "_aliases", {"actions": [*actions, {"add": {"index": name, "alias": READ}}]})
        for other in before:
            self._transport.ask("DELETE", other)
        return before

    def _searched(self) -> list[str]:
        return sorted(self._transport.ask("GET", f"_alias/{READ}") or {})
