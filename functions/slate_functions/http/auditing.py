"""What of a request is written down: who asks for what, about whom and in which session, and what is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from pydantic import BaseModel

from slate.domain.access import Principal
from slate.domain.audit.deeds import Deed
from slate.domain.audit.entries import Verb
from slate.domain.fences import Intent
from slate.service.audit.writing import Asked, Auditing
from slate_functions.http.answers import Answer
from slate_functions.http.routes import Declaration

Audit = Callable[[Declaration, Principal | None, Mapping[str, Any], str], AbstractContextManager[Deed]]
"""Writes a request down: by its route, its caller, its arguments and its id."""
AUDITED: Final = ("memory:", "privacy:")
"""Scopes of the routes that read or change memory."""
_ID: Final = "_id"
_NAMED: Final = {"subject": ("subject",), "session": ("session_id", "session")}


def is_audited(declared: Declaration) -> bool:
    """Whether a route is written down."""
    return declared.scope is not None and declared.scope.startswith(AUDITED)


@contextmanager
def unaudited(_: Declaration, __: Principal | None, ___: Mapping[str, Any], ____: str) -> Iterator[Deed]:
    """Writes nothing down: for apps without a route of memory."""
    yield Deed(lambda _: None)


def audited(auditing: Auditing) -> Audit:
    """Routes of memory and privacy are written down; no other is."""

    @contextmanager
    def audit(
        declared: Declaration, principal: Principal | None, arguments: Mapping[str, Any], request_id: str
    ) -> Iterator[Deed]:
        if principal is None or not is_audited(declared):
            yield Deed(lambda _: None)
            return
        asked = Asked(
            principal=principal,
            verb=verb_of(declared),
            act=declared.key,
            request_id=request_id,
            subject=_named(arguments, *_NAMED["subject"]),
            session=_named(arguments, *_NAMED["session"]),
            named=_in_path(declared, arguments),
        )
        with auditing.request(asked) as deed:
            yield deed
            if isinstance(deed.answer, Answer):
                deed.answer = deed.answer.content

    return audit


def verb_of(declared: Declaration) -> Verb:
    """What a route does with memory; where Slate chooses what to answer, it serves."""
    if declared.intent is Intent.READ:
        return Verb.READ if declared.method == "GET" else Verb.SERVE
    return Verb.DELETE if declared.intent is Intent.DELETE else Verb.WRITE


def _named(arguments: Mapping[str, Any], *names: str) -> str | None:
    """What the path, the query or the body names so."""
    for holder in (arguments, *(vars(each) for each in arguments.values() if isinstance(each, BaseModel))):
        for name in names:
            if isinstance(holder.get(name), str):
                return str(holder[name])
    return None


def _in_path(declared: Declaration, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Items that the path names: of ``{export_id}`` an export."""
    return tuple(
        (name.removesuffix(_ID), value)
        for name, value in arguments.items()
        if name.endswith(_ID) and name != "session_id" and f"{{{name}}}" in declared.path
    )
