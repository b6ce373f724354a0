"""Examples of search, episodes and documents, for the documentation."""

from __future__ import annotations

from typing import Any, Final

from slate_functions.memory_api.facts_examples import FACT

_AT: Final = "2026-03-02T09:30:00.000Z"

SEARCH: Final[dict[str, Any]] = {"query": "where do I live?", "top_k": 5, "explain": True}
FOUND: Final[dict[str, Any]] = {
    "items": [
        {
            **FACT,
            "kind": "fact",
            "score": 0.9412,
            "why": {"relevance": 0.63, "recency": 0.0962, "importance": 0.135, "confidence": 0.08},
        }
    ],
    "warnings": [],
}
PUT_EPISODE: Final[dict[str, Any]] = {
    "task": "Refund order 4711, which arrived broken",
    "steps": [{"action": "looked the order up", "result": "39 EUR"}, {"action": "refunded it", "result": "done"}],
    "outcome": "refunded in full",
    "subject": "u-42",
}
EPISODE: Final[dict[str, Any]] = {
    **PUT_EPISODE,
    "episode_id": "e-7f3a",
    "agent": "billing-1",
    "readers": [],
    "source": None,
    "created_at": _AT,
    "version": 1,
}
SEARCH_EPISODES: Final[dict[str, Any]] = {"query": "refund a broken order", "top_k": 3}
FOUND_EPISODES: Final[dict[str, Any]] = {
    "items": [{**EPISODE, "kind": "episode", "score": 1.0, "why": {"relevance": 1.0, "words": 0.8, "vector": 0.2}}],
    "warnings": [],
}
PUT_DOCUMENT: Final[dict[str, Any]] = {
    "document_id": "handbook",
    "title": "Handbook",
    "text": "# Shipping\n\nParcels to Norway take nine days.",
    "collection": "support",
}
DOCUMENT: Final[dict[str, Any]] = {
    "document_id": "handbook",
    "title": "Handbook",
    "collection": "support",
    "readers": [],
    "parts": 1,
    "created_at": _AT,
    "updated_at": _AT,
    "version": 1,
}
SHOWN_DOCUMENT: Final[dict[str, Any]] = {**DOCUMENT, "text": "Shipping\nParcels to Norway take nine days."}
SEARCH_DOCUMENTS: Final[dict[str, Any]] = {"query": "how long do parcels to Norway take", "collection": "support"}
FOUND_PARTS: Final[dict[str, Any]] = {
    "items": [
        {
            "document_id": "handbook",
            "title": "Handbook",
            "text": "Shipping\nParcels to Norway take nine days.",
            "score": 1.0,
            "why": {"relevance": 1.0, "words": 0.8, "vector": 0.2},
            "source": {"collection": "support", "part": 0, "headings": ["Shipping"], "version": 1},
        }
    ],
    "warnings": [],
}
