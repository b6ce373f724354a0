"""How a route is declared: beside the function that serves it, with the scope it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeVar

from slate.domain.access import Scope
from slate.domain.fences import Intent

Function = TypeVar("Function", bound=Callable[..., Any])
_MARK: Final = "__slate_route__"


class UndeclaredAccess(Exception):
    """A route says neither which scope it needs nor that anybody may call it; no app starts with such a route."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """All that is said of a route beside its function's signature."""

    method: str
    path: str
    scope: Scope | None
    public: bool
    waits: bool
    """It may wait in real time: on AWS a function of its own serves it, so that waiting never uses up the others'."""
    status: HTTPStatus
    """Of the usual answer; a function that answers with ``Answer`` may choose one of ``also``."""
    also: tuple[HTTPStatus, ...]
    refusals: tuple[HTTPStatus, ...]
    """Refusals of its own, beyond those that follow from its signature: for the documentation."""
    sends: Mapping[str, Any] | None
    """An example of the body."""
    gives: Any
    """An example of the answer."""
    media: tuple[str, ...]
    """Of an answer that is no model: what it may be; for the documentation."""

    @property
    def intent(self) -> Intent:
        """What it is about to do with a person's data: what needs a scope to read serves it, whatever its method."""
        if self.scope is None or self.scope.endswith(":read"):
            return Intent.READ
        return Intent.DELETE if self.method == "DELETE" and self.scope is not Scope.ADMIN else Intent.WRITE

    @property
    def key(self) -> str:
        """The route's name in logs and metrics, which holds no id."""
        return f"{self.method} {self.path}"

    def serves(self, method: str, path: str) -> bool:
        """Whether a request for this path is this route's."""
        steps, asked = self.path.split("/"), path.split("/")
        same = all(step == got or (step.startswith("{") and got) for step, got in zip(steps, asked, strict=False))
        return method == self.method and len(steps) == len(asked) and same


def route(
    method: str,
    path: str,
    *,
    scope: Scope | None = None,
    public: bool = False,
    waits: bool = False,
    status: HTTPStatus = HTTPStatus.OK,
    also: tuple[HTTPStatus, ...] = (),
    refusals: tuple[HTTPStatus, ...] = (),
    sends: Mapping[str, Any] | None = None,
    gives: Any = None,
    media: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Declare a method of a group as the one that serves this path.

    Its signature says what it takes (see ``binding``), its docstring's first line is its summary.
    """
    declaration = Declaration(
        method=method,
        path=path,
        scope=scope,
        public=public,
        waits=waits,
        status=status,
        also=also,
        refusals=refusals,
        sends=sends,
        gives=gives,
        media=media,
    )

    def mark(function: Function) -> Function:
        setattr(function, _MARK, declaration)
        return function

    return mark


get = partial(route, "GET")
post = partial(route, "POST")
put = partial(route, "PUT")
patch = partial(route, "PATCH")
delete = partial(route, "DELETE")


def declarations(group: type) -> Iterator[tuple[str, Declaration]]:
    """The routes of a group with the names of their functions, in the order they are written.

    Raises:
        UndeclaredAccess: one says neither a scope nor ``public=True``, or says both.
    """
    for name, function in vars(group).items():
        declaration = getattr(function, _MARK, None)
        if not isinstance(declaration, Declaration):
            continue
        if (declaration.scope is None) is not declaration.public:
            raise UndeclaredAccess(
                f"{declaration.key} ({group.__name__}.{name}) must declare either the scope it needs or public=True"
            )
        yield name, declaration
