"""Vectors from WordLlama's table of word pieces (256 numbers each, MIT): no network, no torch, a fraction of a ms.

The package's own loader looks for its tokenizer where the wheel does not have it, and would download; so only its two
files are read here. A text's vector is the mean of those of its pieces.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from tokenizers import Tokenizer

from slate.domain.vectors import Vector

DIMENSION: Final = 256
_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_PIECES: Final = "tokenizers/l2_supercat_tokenizer_config.json"
_HEADER: Final = 8
MAX_PIECES: Final = 4_000


def _package() -> Path:
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("wordllama is not installed: pip install 'agent-slate[embedder]'")
    return Path(next(iter(spec.submodule_search_locations)))


def _table(path: Path) -> Any:
    """The one tensor of a safetensors file: a header in JSON, then its numbers."""
    content = path.read_bytes()
    size = int.from_bytes(content[:_HEADER], "little")
    header = json.loads(content[_HEADER : _HEADER + size])
    (tensor,) = (value for name, value in header.items() if name != "__metadata__")
    numbers = np.frombuffer(content, dtype=np.float16, offset=_HEADER + size)
    return numbers.reshape(tensor["shape"]).astype(np.float32)


class WordLlamaEmbedder:
    """The embedder that needs a file, and no network."""

    name = f"wordllama-l2-{DIMENSION}-1"
    dimension = DIMENSION
    same_topic = 0.24
    share = 0.5

    def __init__(self) -> None:
        package = _package()
        self._table = _table(package / _WEIGHTS)
        self._tokenizer = Tokenizer.from_file(str(package / _PIECES))

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Each text by itself."""
        return [self._embedded(text) for text in texts]

    def _embedded(self, text: str) -> Vector:
        pieces = self._tokenizer.encode(text, add_special_tokens=False).ids[:MAX_PIECES]
        if not pieces:
            return (0.0,) * DIMENSION
        mean = self._table[pieces].mean(axis=0)
        length = float(np.linalg.norm(mean))
        return tuple((mean / length).tolist()) if length else (0.0,) * DIMENSION
