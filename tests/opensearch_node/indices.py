"""Indices on a node, each by names of its own, so that any number of tests may share the node."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from uuid import uuid4

from slate.adapters.opensearch.admin import OpenSearchAdmin
from slate.adapters.opensearch.aliases import Aliases
from slate.adapters.opensearch.breaker import Breaker
from slate.adapters.opensearch.memory_index import OpenSearchMemoryIndex
from slate.adapters.opensearch.signed import BotocoreSender
from slate.adapters.opensearch.transport import Transport
from slate.ports.embedder import Embedder

SLOW_SECONDS = 30
"""A machine that runs tests beside it may be so slow; nothing here is measured by a time-out."""


class FoundAtOnce(BotocoreSender):
    """What is written is found by the next search, not a second later."""

    def send(self, method: str, path: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        return super().send(method, "_bulk?refresh=true" if path == "_bulk" else path, body, content_type)


class Made(NamedTuple):
    """An index, and what it goes by."""

    index: OpenSearchMemoryIndex
    transport: Transport
    aliases: Aliases


@contextmanager
def made_on(address: str, embedder: Embedder, *, native: bool = True) -> Iterator[Made]:
    """An index with the mapping of production; it goes with the context. ``native``: as in ``index_body``."""
    aliases = Aliases.of(f"test-{uuid4().hex}")
    sender = FoundAtOnce(address, "eu-central-1", timeout_seconds=SLOW_SECONDS)
    transport = Transport(sender, Breaker(time.monotonic), random.Random(1), time.sleep)  # noqa: S311  # repeatable
    admin = OpenSearchAdmin(transport, aliases, native=native)
    admin.begin(embedder, 1)
    try:
        yield Made(OpenSearchMemoryIndex(transport, aliases, native=native), transport, aliases)
    finally:
        admin.remove()
