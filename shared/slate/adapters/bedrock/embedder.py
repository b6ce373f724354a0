"""Vectors from Amazon Titan Text Embeddings v2 through Bedrock's InvokeModel, of the dimension asked for."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Final

from botocore.exceptions import ClientError

from slate.adapters.bedrock.failures import OUT_OF_REACH, code_of, is_busy
from slate.domain.errors import Internal, Unavailable
from slate.domain.vectors import Vector, normalised

MAX_CHARACTERS: Final = 30_000
"""Titan takes 8,192 tokens, or 50,000 characters."""
_CUTS: Final = 4
"""Where characters take more tokens than in English, a text is cut by half so often until it is taken."""


class _TooLong(Exception):  # stays within this file
    """It has more tokens than the model takes."""


class BedrockEmbedder:
    """Asks the model; one text a call, several calls side by side."""

    same_topic = 0.35
    share = 0.5

    def __init__(self, client: Callable[[], Any], model: str, dimension: int, executor: Executor) -> None:
        self._client = client
        self._model = model
        self._executor = executor
        self.dimension = dimension
        self.name = f"{model}-{dimension}"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Each text by itself; one that says nothing is not asked about.

        Raises:
            Unavailable: the model is busy, or out of reach.
            Internal: it refuses to be asked so, or gives no vector of the dimension.
        """
        return list(self._executor.map(self._embedded, texts))

    def _embedded(self, text: str) -> Vector:
        if not text.strip():
            return (0.0,) * self.dimension
        length = min(len(text), MAX_CHARACTERS)
        while True:
            try:
                values = self._asked(text[:length])
                break
            except _TooLong:
                length //= 2
                if length < MAX_CHARACTERS >> _CUTS:
                    raise Internal("the embedder refused a text: too long, however it is cut") from None
        if len(values) != self.dimension or not all(isinstance(v, int | float) and math.isfinite(v) for v in values):
            raise Internal("the embedder gave a vector of another dimension, or of no numbers")
        return normalised(values)

    def _asked(self, text: str) -> list[Any]:
        body = {"inputText": text, "dimensions": self.dimension, "normalize": True}
        try:
            answer = self._client().invoke_model(
                modelId=self._model, body=json.dumps(body), accept="application/json", contentType="application/json"
            )
            return list(json.loads(answer["body"].read())["embedding"])
        except ClientError as error:
            if is_busy(error):
                raise Unavailable("the embedder is busy; repeat the call") from error
            if "token" in error.response["Error"].get("Message", "").lower():
                raise _TooLong from error
            raise Internal(f"the embedder refused a text: {code_of(error)}") from error
        except (*OUT_OF_REACH, ValueError, KeyError, TypeError) as error:
            # Also where the answer broke off, or is somebody else's.
            raise Unavailable("the embedder is out of reach; repeat the call") from error
