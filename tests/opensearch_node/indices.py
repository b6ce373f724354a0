"""Indices on a node, each by names of its own, so that any number of tests may share the node."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple
from uuid import uuid4

from slate.adapters.opensearch.admin import OpenSearchAdmin
from slate.adapters.opensearch.aliases import Aliases
from slate.adapters.opensearch.breaker import Breaker
from slate.adapters.opensearch.memory_index import OpenSearchMemoryIndex
from slate.adapters.opensearch.signed import BotocoreSender
from slate.adapters.opensearch.transport import Transport
from slate.domain.errors import Internal
from slate.ports.embedder import Embedder
from slate.ports.memory_index import MemoryIndex

SLOW_SECONDS: Final = 30
"""A machine that runs tests beside it may be so slow; nothing here is measured by a time-out."""
LEASES_MS: Final = 30_000
"""Between two moves of the retention leases, by default and in production."""
LEASES: Final = "index.soft_deletes.retention_lease.sync_interval"


class FoundAtOnce(BotocoreSender):
    """What is written is found by the next search, not a second later."""

    def send(self, method: str, path: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        return super().send(method, "_bulk?refresh=true" if path == "_bulk" else path, body, content_type)


class Made(NamedTuple):
    """An index, and what it goes by."""

    index: OpenSearchMemoryIndex
    transport: Transport
    aliases: Aliases


def expunged(index: MemoryIndex, *, seconds: float = 90) -> int:
    """Ask until it is done, as a timer would; how many times it was asked."""
    until, asked, mark = time.monotonic() + seconds, 1, index.expunge()
    while mark is not None:
        assert time.monotonic() < until, f"not expunged within {seconds} s: {mark}"
        time.sleep(0.1)
        mark, asked = index.expunge(mark), asked + 1
    return asked


@contextmanager
def made_on(
    address: str, embedder: Embedder, *, native: bool = True, leases_ms: int = LEASES_MS, at_once: bool = True
) -> Iterator[Made]:
    """An index with the mapping of production; it goes with the context.

    ``leases_ms``: so often its retention leases move, where the node lets them; its own request says nothing of it. Without
    ``at_once`` what is written is found when the index is refreshed, as in production.
    """
    prefix = f"test-{leases_ms}-"
    aliases = Aliases.of(f"{prefix}{uuid4().hex}")
    sender = (FoundAtOnce if at_once else BotocoreSender)(address, "eu-central-1", timeout_seconds=SLOW_SECONDS)
    transport = Transport(sender, Breaker(time.monotonic), random.Random(1), time.sleep)  # noqa: S311  # repeatable
    admin = OpenSearchAdmin(transport, aliases, native=native)
    if leases_ms != LEASES_MS:
        template = {"index_patterns": [f"{prefix}*"], "template": {"settings": {LEASES: f"{leases_ms}ms"}}}
        with suppress(Internal):  # a node that knows no such setting takes its time
            transport.ask("PUT", f"_index_template/{prefix}", template)
    admin.begin(embedder, 1)
    try:
        yield Made(OpenSearchMemoryIndex(transport, aliases, native=native), transport, aliases)
    finally:
        admin.remove()
