"""Turns a request into the arguments of a route's function, as the function's own signature asks for them.

- ``principal: Principal``: who calls;
- a name that stands in the path: that id;
- a ``Request`` (of ``contract``): the body; a ``Query``: the query's parameters;
- ``Annotated[..., FromHeader]``: a header.

What a signature cannot be given is found when the app starts; every field that is wrong in a request is listed at
once, wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError

from slate.contract.tasks import Request
from slate.domain.access import Principal
from slate.domain.errors import FieldError, Invalid
from slate.domain.instants import FROM_OUTSIDE
from slate.domain.wording import field_errors
from slate_functions.http.bodies import read_json
from slate_functions.http.dependencies import FromHeader, PathId, Query
from slate_functions.http.requests import HttpRequest

Source = TypeVar("Source")
Value = TypeVar("Value")

_PATH_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_PATH_ID: Final[TypeAdapter[str]] = TypeAdapter(PathId)


class NoQuery(Query):
    """A route that declares no query takes none."""


class UnknownArgument(Exception):
    """A route's function asks for something that no part of a request is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a route takes and gives."""

    principal: str | None
    path: tuple[str, ...]
    body: tuple[str, type[Request]] | None
    query: tuple[str | None, type[Query]]
    headers: tuple[tuple[str, FromHeader], ...]
    answer: Any

    @classmethod
    def of(cls, function: Callable[..., Any], path: str) -> Signature:
        """Read the signature of the function that serves a path.

        Raises:
            UnknownArgument: it takes what a request does not have, or leaves out a parameter of the path.
        """
        hints = get_type_hints(function, include_extras=True)
        answer = hints.pop("return", None)
        in_path = tuple(_PATH_PARAMETER.findall(path))
        where = f"{function.__qualname__}, which serves {path}"
        if missing := set(in_path) - hints.keys():
            raise UnknownArgument(f"{where}, takes no argument {missing.pop()!r}")
        taken: dict[type, list[tuple[str, Any]]] = {Principal: [], Request: [], Query: [], FromHeader: []}
        for name in signature(function).parameters:
            if name != "self" and name not in in_path:
                kind, value = _kind(where, name, hints.get(name))
                taken[kind].append((name, value))
        return cls(
            principal=next((name for name, _ in taken[Principal]), None),
            path=in_path,
            body=next(iter(taken[Request]), None),
            query=next(iter(taken[Query]), (None, NoQuery)),
            headers=tuple(taken[FromHeader]),
            answer=answer,
        )

    def arguments(self, request: HttpRequest, principal: Principal | None) -> dict[str, Any]:
        """The arguments for this request.

        Raises:
            Invalid: lists every field that is wrong, in path, query, headers and body.
            Malformed, TooLarge: the body cannot be read.
        """
        reading = _Reading()
        arguments: dict[str, Any] = {} if self.principal is None else {self.principal: principal}
        for name in self.path:
            arguments[name] = reading.take(_PATH_ID.validate_python, request.path(name), name)
        query_name, query = self.query
        parameters = reading.take(
            lambda asked: query.model_validate(asked.query(), context=FROM_OUTSIDE), request, "query"
        )
        if query_name is not None:
            arguments[query_name] = parameters
        for name, header in self.headers:
            arguments[name] = reading.take(header.read, request.header(header.name), header.name)
        if self.body is not None:
            name, model = self.body
            arguments[name] = reading.take(
                partial(model.model_validate, context=FROM_OUTSIDE), read_json(request.body()), "body"
            )
        if reading.errors:
            raise Invalid(reading.errors)
        return arguments


class _Reading:
    """Goes on after a wrong field, so that all are found."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def take(self, read: Callable[[Source], Value], source: Source, whole: str) -> Value | None:
        """The value, or None after taking note of what is wrong; ``whole`` names it where no single field is."""
        try:
            return read(source)
        except ValidationError as error:
            self.errors += field_errors(error, whole)
        except Invalid as error:
            self.errors += error.data["errors"]
        return None


def _kind(where: str, name: str, hint: Any) -> tuple[type, Any]:
    """Which part of a request an argument of this type is."""
    if get_origin(hint) is Annotated:
        for marker in get_args(hint)[1:]:
            if isinstance(marker, FromHeader):
                return FromHeader, marker
    if isinstance(hint, type):
        for kind in (Principal, Request, Query):
            if issubclass(hint, kind):
                return kind, hint
    raise UnknownArgument(f"{where}, takes {name!r}, and no part of a request is {hint!r}")


def answer_model(answer: Any) -> type[BaseModel] | None:
    """The model that an answer is made of: ``Task`` in ``Task``, in ``Answer[Task]``, in ``Answer[Task] | Page``."""
    if isinstance(answer, type) and issubclass(answer, BaseModel):
        return answer
    return next((model for each in get_args(answer) if (model := answer_model(each)) is not None), None)
