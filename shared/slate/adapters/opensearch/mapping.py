"""What an index looks like: strict, terms analysed by us, one vector an entry, and nothing readable but ids.

``terms`` are stems that were made before they came here; the analyzer only parts them, so that this index and the
one of a laptop match alike. ``_source`` leaves out terms, names and vectors.
"""

from __future__ import annotations

from typing import Any, Final

KEYWORD: Final = {"type": "keyword"}
NAME: Final = {**KEYWORD, "ignore_above": 200}
SHOWN: Final = ("id", "scope", "group", "entry_version", "at", "speaker", "words", "question", "timed", "readers")
"""What a hit tells."""
GRAPH_FROM: Final = 15_000
"""Entries of a segment from which a graph of neighbours is built; fewer are compared one by one, exactly."""
HIDDEN: Final = ("terms", "names", "vector")


def index_body(dimension: int, embedder: str, *, shards: int = 1, native: bool = True) -> dict[str, Any]:
    """The body that makes an index. ``native``: faiss; otherwise Lucene's own engine, for a node without it."""
    method = {
        "name": "hnsw",
        "engine": "faiss" if native else "lucene",
        # Vectors have length one: faiss has no cosine of its own for all versions, the inner product is the same.
        "space_type": "innerproduct" if native else "cosinesimil",
        "parameters": {"m": 16, "ef_construction": 128},
    }
    return {
        "settings": {
            "index": {
                "knn": True,
                "number_of_shards": shards,
                "knn.advanced.approximate_threshold": GRAPH_FROM,
                # A delete only marks; a merge for its sake must take every segment.
                "merge": {"policy": {"expunge_deletes_allowed": 0}},
            },
            "analysis": {"analyzer": {"parted": {"type": "custom", "tokenizer": "whitespace"}}},
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": {"embedder": embedder},
            "_routing": {"required": True},
            "_source": {"excludes": list(HIDDEN)},
            "properties": {
                "tenant": KEYWORD,
                "kind": KEYWORD,
                "id": KEYWORD,
                "scope": KEYWORD,
                "group": KEYWORD,
                "entry_version": {"type": "long"},
                "embedder": KEYWORD,
                "at": {"type": "long"},
                "terms": {"type": "text", "analyzer": "parted", "index_options": "freqs", "norms": True},
                "vector": {"type": "knn_vector", "dimension": dimension, "method": method},
                "names": NAME,
                "speaker": NAME,
                "words": {"type": "integer"},
                "question": {"type": "boolean"},
                "timed": {"type": "boolean"},
                "readers": KEYWORD,
                "open": {"type": "boolean"},
            },
        },
    }


def likeness_of(score: float, *, native: bool = True) -> float:
    """The cosine behind a k-NN score: 1 + d for an inner product d of at least 0, 1 / (1 - d) below."""
    if not native:
        return 2 * score - 1
    return score - 1 if score >= 1 else 1 - 1 / max(score, 1e-9)
