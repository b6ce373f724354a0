"""A request as the routes' arguments are read from it: a view of an event of payload format 2.0."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from slate.domain.access import Principal, Scope
from slate.domain.errors import Invalid, Malformed, TooLarge, Unauthenticated

MAX_BODY_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; what is not asked for is not read."""

    event: Mapping[str, Any]
    raw_path: Mapping[str, str]
    """The path's parameters as they stand in it."""

    @property
    def request_id(self) -> str:
        """The id to quote when something went wrong."""
        return str(self.event.get("requestContext", {}).get("requestId", ""))

    def header(self, name: str) -> str | None:
        """A header's value, or None."""
        value = self.event.get("headers", {}).get(name.lower())
        return None if value is None else str(value)

    def path(self, name: str) -> str:
        """A parameter of the path. An id holds no ``%``, so that nothing is decoded that was decoded before."""
        return unquote(self.raw_path[name], errors="replace")

    def query(self) -> dict[str, str]:
        """The query's parameters, from the raw text: the gateway's own mapping joins repeated ones by commas.

        Raises:
            Invalid: one is given twice.
        """
        pairs = parse_qsl(self.event.get("rawQueryString", ""), keep_blank_values=True, errors="replace")
        names = [name for name, _ in pairs]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise Invalid([{"field": name, "message": "given more than once; give it once"} for name in twice])
        return dict(pairs)

    def body(self) -> bytes:
        """The body; empty where there is none.

        Raises:
            TooLarge: it is over 1,000,000 bytes.
            Malformed: it is text that no UTF-8 can carry.
        """
        text = self.event.get("body") or ""
        try:
            raw = base64.b64decode(text, validate=True) if self.event.get("isBase64Encoded") else text.encode()
        except ValueError:
            raise Malformed("the body is not UTF-8; send JSON in UTF-8") from None
        if len(raw) > MAX_BODY_BYTES:
            raise TooLarge(
                f"the body has {len(raw):,} bytes, at most {MAX_BODY_BYTES:,} are taken; send it in parts",
                limit=MAX_BODY_BYTES,
            )
        return raw

    def caller(self) -> Principal | None:
        """Who calls, as the authorizer found out, whose context carries texts alone; none: nobody was asked for."""
        context = self.event.get("requestContext", {}).get("authorizer", {}).get("lambda") or {}
        if not context.get("tenant"):
            return None
        given, expires_at = context["scopes"].split(), context.get("expires_at")
        return Principal(
            tenant=context["tenant"],
            agent=context["agent"],
            key_id=context["key_id"],
            scopes=frozenset(scope for scope in Scope if scope in given),
            roles=frozenset(context.get("roles", "").split()),
            subject=context.get("subject") or None,
            expires_at=int(expires_at) if expires_at else None,
        )

    def principal(self) -> Principal:
        """Who calls.

        Raises:
            Unauthenticated: no authorizer has let this request pass.
        """
        principal = self.caller()
        if principal is None:
            raise Unauthenticated("send a credential: `Authorization: Bearer <api key or token>`")
        return principal
