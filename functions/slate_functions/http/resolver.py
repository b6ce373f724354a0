"""Powertools' resolver for HTTP APIs, made safe to share between threads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

_PARAMETER: Final = re.compile(r"\\\{(\w+)\\\}")


@dataclass(slots=True)
class _Current:
    """What Powertools remembers while it serves one request."""

    current_event: Any
    lambda_context: Any
    context: dict[str, Any] = field(default_factory=dict)
    processed_stack_frames: list[str] = field(default_factory=list)


_CURRENT: ContextVar[_Current | None] = ContextVar("slate_http_current", default=None)


class _OfTheRequest:
    """An attribute that each request has to itself, where Powertools has one for the whole class."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, resolver: object, owner: type | None = None) -> Any:
        current = _CURRENT.get()
        if current is None:
            raise RuntimeError(f"{self._name} exists only while a request is served")
        return getattr(current, self._name)

    def __set__(self, resolver: object, value: object) -> None:
        current = _CURRENT.get()
        # The constructor sets what every request starts with anyway.
        if current is not None:
            setattr(current, self._name, value)


class HttpResolver(APIGatewayHttpResolver):
    """No request ever sees another's event, however many threads serve at once.

    Powertools keeps the current event on the class: right for a Lambda, which serves one request at a time, wrong for
    a server with threads. Here it lives in a context variable. Production runs the same class, so that what is tested
    is what runs. Paths are written ``/graphs/{graph_id}``; a parameter is one segment, never empty.
    """

    current_event = _OfTheRequest()
    lambda_context = _OfTheRequest()
    context = _OfTheRequest()
    processed_stack_frames = _OfTheRequest()

    def __init__(self) -> None:
        # Never taken from the environment: with debug, Powertools prints whole events.
        super().__init__(debug=False)

    def register(self, method: str, path: str, serve: Callable[..., Response[Any]]) -> None:
        """Serve a method of a path; the path's parameters are passed by name."""
        self.route(path, method)(serve)
        # Powertools builds this when a route is first called, and two first calls at once would build it twice.
        for route in (*self._static_routes, *self._dynamic_routes):
            if not route._middleware_stack_built:  # noqa: SLF001
                route._build_middleware_stack(self._router_middlewares, self)  # noqa: SLF001

    def resolve(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Answer an event of payload format 2.0."""
        token = _CURRENT.set(_Current(self._to_proxy_event(dict(event)), context))
        try:
            return self._build_response(self._resolve())
        finally:
            _CURRENT.reset(token)

    def methods_at(self, path: str) -> frozenset[str]:
        """The methods that a path is served with; none: the path is unknown."""
        routes = (*self._static_routes, *self._dynamic_routes)
        return frozenset(route.method for route in routes if route.rule.match(path))

    @staticmethod
    def _compile_regex(rule: str, base_regex: str = "") -> re.Pattern[str]:
        del base_regex  # Powertools' own pattern would leave out characters that an id must be refused for, by name
        if rule == ".*":  # Powertools' route for what no route serves
            return re.compile(rule, re.DOTALL)
        return re.compile(_PARAMETER.sub(r"(?P<\1>[^/]+)", re.escape(rule)) + r"\Z")
