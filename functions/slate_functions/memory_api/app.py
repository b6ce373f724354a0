"""The memory API's app: its groups of routes over the use cases."""

from __future__ import annotations

from typing import Final

from slate.wiring.parts import Slate
from slate_functions.memory_api.context_routes import ContextRoutes
from slate_functions.memory_api.facts_routes import ExtractRoutes, FactRecordRoutes, FactRoutes
from slate_functions.memory_api.forgetting_routes import ForgettingRoutes
from slate_functions.memory_api.search_routes import DocumentRoutes, EpisodeRoutes, SearchRoutes
from slate_functions.memory_api.session_routes import PinnedRoutes, SessionRoutes, TurnRoutes
from slate_functions.memory_api.session_values_routes import SessionValueRoutes
from slate_functions.memory_api.tenant_routes import TenantRoutes

GROUPS: Final = (
    SessionRoutes,
    TurnRoutes,
    PinnedRoutes,
    SessionValueRoutes,
    FactRoutes,
    ExtractRoutes,
    FactRecordRoutes,
    ForgettingRoutes,
    SearchRoutes,
    EpisodeRoutes,
    DocumentRoutes,
    ContextRoutes,
    TenantRoutes,
)
"""In the order of the document."""


def memory_groups(slate: Slate) -> tuple[object, ...]:
    """Every group of routes of the memory API."""
    memory = slate.memory
    return (
        SessionRoutes(memory.sessions),
        TurnRoutes(memory.talking),
        PinnedRoutes(memory.pinning),
        SessionValueRoutes(slate.values),
        FactRoutes(memory.facts),
        ExtractRoutes(memory.extracting),
        FactRecordRoutes(memory.reviewing),
        ForgettingRoutes(memory.forgetting.undoing, memory.forgetting.examining, memory.forgetting.learning),
        SearchRoutes(memory.retrieval.search),
        EpisodeRoutes(memory.retrieval.episodes),
        DocumentRoutes(memory.retrieval.knowledge),
        ContextRoutes(memory.contexts),
        TenantRoutes(memory.tenants),
    )
