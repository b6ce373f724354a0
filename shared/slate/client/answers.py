"""What every group of the client's methods shares: paths made of ids, answers read as entities, pages followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from slate.client.calls import Calls
from slate.domain.errors import Invalid, SlateError
from slate.domain.names import is_id

PAGE: Final = 200
"""Items of a page that are asked for, the most that a server gives."""
Model = TypeVar("Model", bound=BaseModel)
Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)


class Page(Protocol[Item_co]):
    """Some items of a list, and where it goes on."""

    @property
    def items(self) -> tuple[Item_co, ...]:
        """The items."""
        ...

    @property
    def next_cursor(self) -> str | None:
        """Where the next ones are; none at the end."""
        ...


def parse(model: type[Model], answer: Any) -> Model:
    """The answer as an entity.

    Raises:
        SlateError: it is none.
    """
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        raise SlateError(
            f"the server answered no {model.__name__} that this client can read; "
            f"is the url that of a Slate server, of this version? ({error.error_count()} fields differ)"
        ) from error


def pages(calls: Calls, path: str, page: Callable[[Any], Page[Item]], params: Mapping[str, str]) -> Iterator[Item]:
    """Every item of a list, page after page as they are asked for."""
    asked = {**params, "limit": str(PAGE)}
    while True:
        answer = page(calls.call("GET", path, params=asked))
        yield from answer.items
        if answer.next_cursor is None:
            return
        asked["cursor"] = answer.next_cursor


def graph_path(graph_id: str) -> str:
    """The path of a graph."""
    return f"/v1/graphs/{segment('graph_id', graph_id)}"


def task_path(graph_id: str, task_id: str) -> str:
    """The path of a task."""
    return f"{graph_path(graph_id)}/tasks/{segment('task_id', task_id)}"


def segment(name: str, text: str) -> str:
    """An id as a part of a path.

    Raises:
        Invalid: it is none: empty, or with a slash, it would reach another route than the one meant.
    """
    if not is_id(text):
        raise Invalid.field(name, f"{text!r} is not an id: 1 to 128 of A-Z a-z 0-9 . _ @ : -, a letter or digit first")
    return quote(text, safe="@:")
