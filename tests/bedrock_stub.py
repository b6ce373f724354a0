"""A server that speaks Bedrock's wire format on this machine, and takes nothing that Bedrock's own model forbids.

What it is sent, and what it answers, is held against the shapes that botocore has of Converse and InvokeModel: members,
types, lengths, ranges, patterns, choices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import unquote

import botocore.session

Answer = Callable[["_Handler"], None]
_ROUTE = re.compile(r"/model/([^/]+)/(converse|invoke)")
_OPERATION = {"converse": "Converse", "invoke": "InvokeModel"}


@cache
def _service() -> Any:
    return botocore.session.get_session().get_service_model("bedrock-runtime")


def mistakes(shape: Any, value: Any, where: str = "") -> list[str]:
    """Where a value is not what a shape says."""
    kind = {"structure": dict, "map": dict, "list": list, "string": str, "integer": int, "long": int, "boolean": bool}
    if getattr(shape, "is_document_type", False):
        return []
    wanted = kind.get(shape.type_name, (int, float))
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        return [f"{where}: {shape.type_name}, not {value!r}"]
    if shape.type_name == "structure":
        unknown = [f"{where}.{name}: unknown" for name in value.keys() - shape.members.keys()]
        missing = [f"{where}.{name}: missing" for name in shape.required_members if name not in value]
        if shape.is_tagged_union and len(value) != 1:
            missing.append(f"{where}: exactly one of {list(shape.members)}")
        inner = (mistakes(shape.members[n], v, f"{where}.{n}") for n, v in value.items() if n in shape.members)
        return [*unknown, *missing, *(wrong for each in inner for wrong in each)]
    bounds, size = shape.metadata, len(value) if isinstance(value, str | list | dict) else value
    found = []
    if not bounds.get("min", size) <= size <= bounds.get("max", size):
        found.append(f"{where}: {size} is out of bounds")
    if "pattern" in bounds and not re.fullmatch(bounds["pattern"], value):
        found.append(f"{where}: {value!r} is not of the pattern")
    if "enum" in bounds and value not in bounds["enum"]:
        found.append(f"{where}: {value!r} is no choice")
    if shape.type_name == "list":
        for place, each in enumerate(value):
            found += mistakes(shape.member, each, f"{where}[{place}]")
    return found


@dataclass
class Sent:
    model: str
    operation: str
    body: Any
    headers: Mapping[str, str]


@dataclass
class Bedrock:
    """Answers in order, the last again and again; keeps what it was sent."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    def will(self, *answers: Answer) -> None:
        self.answers = list(answers)


class _Handler(BaseHTTPRequestHandler):
    bedrock: Bedrock

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        found = _ROUTE.fullmatch(self.path)
        if found is None or not self.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256"):
            self.problem(404, "UnknownOperationException", "nothing is served there, or nobody signed this")
            return
        model, operation = unquote(found[1]), found[2]
        body = json.loads(raw)
        self.bedrock.sent.append(Sent(model, operation, body, dict(self.headers)))
        if wrong := self._mistakes(model, operation, body):
            self.problem(400, "ValidationException", "; ".join(wrong))
            return
        answers = self.bedrock.answers
        with suppress(OSError):
            (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def _mistakes(self, model: str, operation: str, body: Any) -> list[str]:
        shape = _service().operation_model(_OPERATION[operation]).input_shape
        if operation == "converse":
            return mistakes(shape, {**body, "modelId": model})
        # The body of InvokeModel is the model's own: here Titan's text embeddings, version 2.
        known = {"inputText": str, "dimensions": int, "normalize": bool, "embeddingTypes": list}
        wrong = [name for name, value in body.items() if not isinstance(value, known.get(name, type(None)))]
        wrong += mistakes(shape.members["modelId"], model, "modelId")
        if self.headers.get("Content-Type") != "application/json" or self.headers.get("Accept") != "application/json":
            wrong.append("not JSON")
        if body.get("dimensions") not in (256, 512, 1_024):
            wrong.append("dimensions")
        return wrong + ([] if 1 <= len(body.get("inputText", "")) <= 50_000 else ["inputText"])

    def say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def problem(self, status: int, code: str, message: str) -> None:
        self.say(status, json.dumps({"message": message}).encode(), **{"x-amzn-ErrorType": f"{code}:http://internal/"})

    def log_message(self, *_: Any) -> None:
        pass


def conversed(*content: Mapping[str, Any], stop: str = "tool_use", tokens: tuple[int, int] = (120, 30)) -> Answer:
    """A sound answer of Converse."""
    body = {
        "output": {"message": {"role": "assistant", "content": list(content)}},
        "stopReason": stop,
        "usage": {"inputTokens": tokens[0], "outputTokens": tokens[1], "totalTokens": sum(tokens)},
        "metrics": {"latencyMs": 5},
    }
    assert mistakes(_service().operation_model("Converse").output_shape, body) == []
    return raw(json.dumps(body).encode())


def called(value: Any, name: str = "answer") -> dict[str, Any]:
    return {"toolUse": {"toolUseId": "tooluse_1", "name": name, "input": value}}


def embedded(dimension: int, *, limit: int = 50_000) -> Answer:
    """What Titan answers: each character as a token, of which it takes so many."""

    def answer(handler: _Handler) -> None:
        text = handler.bedrock.sent[-1].body["inputText"]
        if len(text) > limit:
            told = f"400 Bad Request: Too many input tokens. Max input tokens: {limit}, request input token count: {len(text)} "
            handler.problem(400, "ValidationException", told)
            return
        body = {"embedding": [1.0, float(len(text)), *[0.0] * (dimension - 2)], "inputTextTokenCount": len(text)}
        handler.say(200, json.dumps(body).encode())

    return answer


def failing(status: int, code: str, message: str = "no") -> Answer:
    return lambda handler: handler.problem(status, code, message)


def raw(body: bytes, status: int = 200, **headers: str) -> Answer:
    return lambda handler: handler.say(status, body, **headers)


def silent(handler: _Handler) -> None:
    handler.bedrock.over.wait(10)


def cut_off(handler: _Handler) -> None:
    """The connection ends within the answer."""
    handler.say(200, b'{"output": ', **{"Content-Length": "5000"})
    handler.close_connection = True
    handler.connection.close()


@contextmanager
def bedrock() -> Iterator[Bedrock]:
    stub = Bedrock()
    handler = type("Handler", (_Handler,), {"bedrock": stub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        stub.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield stub
        finally:
            stub.over.set()
            server.shutdown()
