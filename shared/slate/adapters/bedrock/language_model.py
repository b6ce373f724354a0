"""Language models through Bedrock's Converse: the answer's form is the schema of a tool that the model must call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from botocore.exceptions import ClientError

from slate.adapters.bedrock.failures import OUT_OF_REACH, code_of, is_busy
from slate.domain.errors import Unavailable
from slate.ports.language_model import Answered, Asked, ModelRefused

TOOL: Final = "answer"
_WITHHELD: Final = frozenset({"content_filtered", "guardrail_intervened", "model_context_window_exceeded"})
"""Ends that the same text would come to again."""


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
        """One Converse, at temperature 0; without a sound and whole call of the tool the answer is nothing."""
        model = self._models[asked.job]
        try:
            answer = self._client().converse(modelId=model, **_request(asked))
        except ClientError as error:
            if is_busy(error):
                raise Unavailable("the language model does not answer now; repeat the call") from error
            raise ModelRefused(f"{model} refused with {code_of(error)}") from error
        except OUT_OF_REACH as error:
            raise Unavailable("the language model is out of reach; repeat the call") from error
        usage, end = answer.get("usage", {}), answer.get("stopReason")
        if end is None:
            # botocore takes what is no JSON, or not whole, for an answer without members.
            raise Unavailable("the language model's answer broke off; repeat the call")
        tokens = usage.get("inputTokens", 0), usage.get("outputTokens", 0)
        if end in _WITHHELD:
            raise ModelRefused(f"{model} ended with {end}", *tokens)
        fault = _fault(end, asked.max_tokens)
        return Answered(None if fault else _called(answer), model, *tokens, fault=fault)


def _fault(end: str, max_tokens: int) -> str:
    # What is cut off may be sound as far as it goes, and miss what came last.
    if end == "max_tokens":
        return f"it was cut off after {max_tokens} tokens; be briefer"
    if end in ("malformed_tool_use", "malformed_model_output"):
        return f"the tool `{TOOL}` was not called in sound JSON"
    return ""


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
    """What the tool was called with; calls of tools that nobody offered are passed over."""
    content = answer.get("output", {}).get("message", {}).get("content", [])
    calls = (block["toolUse"] for block in content if "toolUse" in block)
    return next((call.get("input") for call in calls if call.get("name") == TOOL), None)
