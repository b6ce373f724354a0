"""The OpenAPI 3.1 document of groups of routes, made from their declarations and signatures: it cannot disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from inspect import cleandoc, getdoc
from typing import Any, Final, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from slate.contract.problems import MEDIA_TYPE, STATUS
from slate.domain.access import Scope
from slate.domain.fences import Intent
from slate_functions.http.binding import Signature, answer_model
from slate_functions.http.dependencies import Query
from slate_functions.http.problems import example_problem
from slate_functions.http.routes import Declaration, declarations

API_KEY: Final = "apiKey"
TOKEN: Final = "token"  # noqa: S105  # the name of a scheme
_ID_SCHEMA: Final = {"type": "string", "minLength": 1, "maxLength": 128}
_SCHEMAS: Final = "#/components/schemas/{model}"
_Mode = Literal["validation", "serialization"]
_References = Mapping[Any, Any]
"""By model and mode: how a schema refers to it."""


@dataclass(frozen=True)
class Operation:
    """One route as the document shows it."""

    group: type
    name: str
    declaration: Declaration

    @cached_property
    def signature(self) -> Signature:
        """What it takes and gives."""
        return Signature.of(getattr(self.group, self.name), self.declaration.path)

    def models(self) -> Iterator[tuple[type[BaseModel], _Mode]]:
        """The models it needs."""
        if self.signature.body is not None:
            yield self.signature.body[1], "validation"
        answer = answer_model(self.signature.answer)
        if answer is not None:
            yield answer, "serialization"

    def refusals(self) -> list[HTTPStatus]:
        """The statuses of the problems it may answer with."""
        signature = self.signature
        # Who administers reaches nobody's data; everything else may be about a person.
        about_somebody = self.declaration.scope not in (None, Scope.ADMIN)
        given = {
            HTTPStatus.BAD_REQUEST: signature.body is not None,
            HTTPStatus.UNAUTHORIZED: not self.declaration.public,
            HTTPStatus.FORBIDDEN: not self.declaration.public,
            HTTPStatus.NOT_FOUND: bool(signature.path),
            HTTPStatus.PRECONDITION_FAILED: any(header.name == "If-Match" for _, header in signature.headers),
            HTTPStatus.PRECONDITION_REQUIRED: any(header.required for _, header in signature.headers),
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE: signature.body is not None,
            HTTPStatus.UNPROCESSABLE_ENTITY: not self.declaration.public,
            HTTPStatus.GONE: not self.declaration.public,
            HTTPStatus.LOCKED: about_somebody and self.declaration.intent is not Intent.WRITE,
            HTTPStatus.TOO_MANY_REQUESTS: not self.declaration.public,
            HTTPStatus.INTERNAL_SERVER_ERROR: True,
            HTTPStatus.SERVICE_UNAVAILABLE: not self.declaration.public,
        }
        return sorted({status for status, may in given.items() if may} | set(self.declaration.refusals))


def document(groups: Sequence[type], *, title: str, version: str, description: str) -> dict[str, Any]:
    """The document of these groups; equal groups give equal documents, byte for byte."""
    operations = [Operation(group, name, declared) for group in groups for name, declared in declarations(group)]
    inputs = list(dict.fromkeys(model for operation in operations for model in operation.models()))
    found, definitions = models_json_schema(inputs, ref_template=_SCHEMAS)
    references: _References = dict(found)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        declared = operation.declaration
        paths.setdefault(declared.path, {})[declared.method.lower()] = _operation(operation, references)
    refused = sorted({status for operation in operations for status in operation.refusals()})
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": description},
        "tags": [{"name": _tag(group), "description": _lines(group)[0]} for group in groups],
        "paths": paths,
        "components": {
            "schemas": {**definitions.get("$defs", {}), "Problem": _PROBLEM},
            "responses": {_response_name(status): _refusal(status) for status in refused},
            "securitySchemes": _SECURITY,
        },
    }


def _operation(operation: Operation, references: _References) -> dict[str, Any]:
    declared, signature = operation.declaration, operation.signature
    summary, *more = _lines(getattr(operation.group, operation.name))
    shown: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [_tag(operation.group)],
        "summary": summary,
    }
    if more:
        shown["description"] = "\n".join(more).strip()
    parameters = list(_parameters(signature))
    if parameters:
        shown["parameters"] = parameters
    if signature.body is not None:
        model = signature.body[1]
        content = {"schema": references[model, "validation"], "example": declared.sends or {}}
        required = any(field.is_required() for field in model.model_fields.values())
        shown["requestBody"] = {"required": required, "content": {"application/json": content}}
    shown["responses"] = {
        **{str(status.value): _answer(operation, status, references) for status in (declared.status, *declared.also)},
        **{str(s.value): {"$ref": f"#/components/responses/{_response_name(s)}"} for s in operation.refusals()},
    }
    shown["security"] = [] if declared.scope is None else [{by: [declared.scope.value]} for by in _SECURITY]
    return shown


def _parameters(signature: Signature) -> Iterator[dict[str, Any]]:
    for name in signature.path:
        yield {"name": name, "in": "path", "required": True, "schema": _ID_SCHEMA}
    yield from _query_parameters(signature.query[1])
    for _, header in signature.headers:
        yield {
            "name": header.name,
            "in": "header",
            "required": header.required,
            "description": header.description,
            "schema": dict(header.schema),
        }


def _query_parameters(query: type[Query]) -> Iterator[dict[str, Any]]:
    _, schema = models_json_schema([(query, "validation")], ref_template=_SCHEMAS)
    definitions = schema.get("$defs", {})
    model = definitions.pop(query.__name__)
    for name, field in model.get("properties", {}).items():
        # A query's parameters are few and flat: what they refer to is shown in place.
        shown = _without_null({k: v for k, v in field.items() if k not in ("title", "description")}, definitions)
        parameter = {"name": name, "in": "query", "required": name in model.get("required", ()), "schema": shown}
        if "description" in field:
            parameter["description"] = field["description"]
        yield parameter


def _without_null(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter that is left out is not null, so null is not among its values."""
    shown = {k: v for k, v in schema.items() if not (k == "default" and v is None)}
    options = [option for option in shown.pop("anyOf", []) if option != {"type": "null"}]
    if len(options) == 1:
        shown = {**options[0], **shown}
    reference = shown.pop("$ref", None)
    return shown if reference is None else {**definitions[reference.rpartition("/")[2]], **shown}


def _answer(operation: Operation, status: HTTPStatus, references: _References) -> dict[str, Any]:
    model = answer_model(operation.signature.answer)
    headers = {"X-Request-Id": {"description": "to quote when something is wrong", "schema": {"type": "string"}}}
    answer: dict[str, Any] = {"description": status.phrase, "headers": headers}
    if status is operation.declaration.status and operation.declaration.media:
        return {**answer, "content": {media: {"schema": _written(media)} for media in operation.declaration.media}}
    if model is None:
        return answer
    if "version" in model.model_fields and model.model_fields["version"].annotation is int:
        headers["ETag"] = {"description": "the version, for If-Match", "schema": {"type": "string"}}
    content = {"schema": references[model, "serialization"], "example": operation.declaration.gives}
    return {**answer, "content": {"application/json": content}}


def _written(media: str) -> dict[str, str]:
    """What an answer of a media type of its own is, where no model says it."""
    return {"type": "object" if media.endswith(("/json", "+json")) else "string"}


def _refusal(status: HTTPStatus) -> dict[str, Any]:
    codes = sorted(code for code, of in STATUS.items() if of is status)
    content = {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example_problem(status)}
    return {"description": " or ".join(f"`{code}`" for code in codes), "content": {MEDIA_TYPE: content}}


def _response_name(status: HTTPStatus) -> str:
    return f"Problem{status.value}"


def _tag(group: type) -> str:
    return group.__name__.removesuffix("Routes")


def _lines(documented: Any) -> list[str]:
    return cleandoc(getdoc(documented) or "").splitlines() or [""]


_PROBLEM: Final = {
    "type": "object",
    "title": "Problem",
    "description": "A refusal (RFC 9457). What a caller needs to go on stands beside these members.",
    "required": ["type", "title", "status", "code", "detail", "retryable", "request_id"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "enum": sorted(STATUS)},
        "detail": {"type": "string"},
        "retryable": {"type": "boolean", "description": "whether the same call may succeed later"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "description": "of `invalid`: every field that is wrong",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "current": {"type": "object", "description": "of `version_mismatch`: the entity as it is"},
    },
}
_SECURITY: Final = {
    API_KEY: {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "slate_<tenant>.<key_id>.<secret>",
        "description": "An API key. The tenant comes from it alone; each route names the scope it needs.",
    },
    TOKEN: {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A token of the OpenID Connect issuer that this Slate takes, where one is set. Its claims name "
        "the tenant, the agent, scopes, roles, and the one person it is bound to.",
    },
}
"""Either will do."""
