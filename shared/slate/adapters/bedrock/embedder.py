"""Vectors from Amazon Titan Text Embeddings v2 through Bedrock's InvokeModel, of the dimension asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from slate.domain.errors import Internal, Unavailable
from slate.domain.vectors import Vector, normalised

MAX_CHARACTERS: Final = 30_000
"""Titan takes 8,192 tokens, or 50,000 characters."""
_BUSY: Final = frozenset(
    {
        "ThrottlingException",
        "ServiceUnavailableException",
        "ModelNotReadyException",
        "ModelTimeoutException",
        "InternalServerException",
        "ServiceQuotaExceededException",
    }
)


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
        """
        return list(self._executor.map(self._embedded, texts))

    def _embedded(self, text: str) -> Vector:
        if not text.strip():
            return (0.0,) * self.dimension
        body = {"inputText": text[:MAX_CHARACTERS], "dimensions": self.dimension, "normalize": True}
        try:
            answer = self._client().invoke_model(
                modelId=self._model, body=json.dumps(body), accept="application/json", contentType="application/json"
            )
            values = json.loads(answer["body"].read())["embedding"]
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code in _BUSY:
                raise Unavailable("the embedder is busy; repeat the call") from error
            raise Internal(f"the embedder refused a text: {code}") from error
        except BotoCoreError as error:
            raise Unavailable("the embedder is out of reach; repeat the call") from error
        if len(values) != self.dimension:
            raise Internal("the embedder gave a vector of another dimension")
        return normalised(values)
