"""The index of a Slate on one machine: in the process, or on an OpenSearch node that the settings name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.adapters.opensearch.admin import OpenSearchAdmin
from slate.adapters.opensearch.aliases import DEPLOYED, Aliases
from slate.adapters.opensearch.memory_index import OpenSearchMemoryIndex
from slate.domain.errors import Unavailable
from slate.ports.embedder import Embedder
from slate.ports.memory_index import MemoryIndex
from slate.settings import Settings
from slate.wiring.choices import search_transport

SLOW_SECONDS: Final = 15
"""A node that has just been started, on a machine that does all else too, is not given up sooner."""


@contextmanager
def local_index(settings: Settings, embedder: Embedder, own: str) -> Iterator[MemoryIndex]:
    """An index that goes with the context. A node is asked unsigned, and may serve many: names end in ``own`` there.

    Raises:
        ValueError: no node answers at the address that is set.
    """
    transport = search_transport(settings, None, timeout_seconds=SLOW_SECONDS)
    if transport is None:
        yield InProcessMemoryIndex()
        return
    aliases = Aliases.of(f"{DEPLOYED.searched}-{own}")
    admin = OpenSearchAdmin(transport, aliases)
    try:
        admin.begin(embedder, 1)
    except Unavailable:
        raise ValueError(f"no OpenSearch node answers at {settings.search_endpoint}; is it running?") from None
    try:
        yield OpenSearchMemoryIndex(transport, aliases)
    finally:
        with suppress(Unavailable):  # it went first
            admin.remove()
