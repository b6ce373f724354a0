"""What an app tells of its work. No content, no path, no message of an exception: only what names nobody."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from pathlib import PurePath
from traceback import extract_tb
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request that was answered."""

    request_id: str
    route: str
    """Such as ``GET /v1/graphs/{graph_id}``: never the path itself, which carries ids."""
    status: int
    milliseconds: float
    tenant: str | None
    key_id: str | None
    code: str | None
    """Of the problem, where it was refused."""

    @property
    def fault(self) -> bool:
        """Whether it came to nothing by a fault of ours."""
        return self.status == HTTPStatus.INTERNAL_SERVER_ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An exception nobody expected, without its message: messages quote what callers sent."""

    request_id: str
    route: str
    kinds: tuple[str, ...]
    """The exception's class, its cause's, and so on."""
    frames: tuple[str, ...]
    """Where it went through: file, line and function."""

    @classmethod
    def of(cls, error: BaseException, request_id: str, route: str) -> Fault:
        """What may be told of an exception."""
        kinds: list[str] = []
        frames: list[str] = []
        cause: BaseException | None = error
        while cause is not None and len(kinds) < 10:  # noqa: PLR2004  # a chain may be a ring
            kinds.append(f"{type(cause).__module__}.{type(cause).__qualname__}")
            frames += [f"{PurePath(f.filename).name}:{f.lineno} {f.name}" for f in extract_tb(cause.__traceback__)]
            cause = cause.__cause__ or cause.__context__
        return cls(request_id=request_id, route=route, kinds=tuple(kinds), frames=tuple(frames))


class Observer(Protocol):
    """Is told what an app does."""

    def served(self, served: Served) -> None:
        """A request was answered."""
        ...

    def failed(self, fault: Fault) -> None:
        """A request met a fault of ours, and was answered with 500."""
        ...
