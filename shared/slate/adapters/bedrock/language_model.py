"""Language models through Bedrock's Converse: the answer's form is the schema of a tool that the model must call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from slate.domain.errors import Unavailable
from slate.ports.language_model import Answered, Asked, ModelRefused

TOOL: Final = "answer"
_BUSY: Final = frozenset(
    {
        "ThrottlingException",
        "ModelTimeoutException",
        "ServiceUnavailableException",
        "InternalServerException",
        "ModelNotReadyException",
        "ModelErrorException",
    }
)


class ConverseClient(Protocol):
    """What is asked of a client of the Bedrock runtime."""

    def converse(self, **request: Any) -> Any:
        """One turn of a conversation."""
        ...


class BedrockLanguageModel:
    """Asks the model that is set for a job."""

    def __init__(self, client: Callable[[], ConverseClient], models: Mapping[str, str]) -> None:
        """``models`` names a model, or an inference profile, for each job; the client is made at the first call."""
        self._client = client
        self._models = models

    def answer(self, asked: Asked) -> Answered:
        """One Converse, at temperature 0; without a call of the tool the answer is nothing."""
        model = self._models[asked.job]
        try:
            answer = self._client().converse(modelId=model, **_request(asked))
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code in _BUSY:
                raise Unavailable("the language model does not answer now; repeat the call") from error
            raise ModelRefused(f"{model} refused with {code}") from error
        except BotoCoreError as error:
            raise Unavailable("the language model is out of reach; repeat the call") from error
        usage = answer.get("usage", {})
        return Answered(_called(answer), model, usage.get("inputTokens", 0), usage.get("outputTokens", 0))


def _request(asked: Asked) -> dict[str, Any]:
    told = asked.text if not asked.correction else f"{asked.text}\n\n{asked.correction}"
    tool = {"name": TOOL, "description": f"Takes the answer ({asked.job}).", "inputSchema": {"json": dict(asked.form)}}
    return {
        "system": [{"text": asked.instructions}],
        "messages": [{"role": "user", "content": [{"text": told}]}],
        "inferenceConfig": {"maxTokens": asked.max_tokens, "temperature": 0.0},
        "toolConfig": {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": TOOL}}},
    }


def _called(answer: Mapping[str, Any]) -> Any:
    content = answer.get("output", {}).get("message", {}).get("content", [])
    return next((block["toolUse"].get("input") for block in content if "toolUse" in block), None)
