"""What a client proves itself by: an API key that stays, or tokens that are renewed."""

from __future__ import annotations

from collections.abc import Callable, Generator
from http import HTTPStatus

import httpx

from slate.domain.errors import Invalid

Credential = str | Callable[[], str]
"""An API key or a token; or a function that gives the token to send now, and renews it when that is due."""


class Bearer(httpx.Auth):
    """Puts the credential on every request.

    A function is asked before each, from whatever thread calls: it keeps its token for as long as the token stands. A
    401 means that nothing was done: if the function then gives another token, the request is sent once more.
    """

    def __init__(self, credential: Credential) -> None:
        self._credential = credential
        if isinstance(credential, str):
            _checked(credential)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send, and once more with a new token."""
        sent = self._now()
        request.headers["Authorization"] = f"Bearer {sent}"
        response = yield request
        if response.status_code == HTTPStatus.UNAUTHORIZED and (renewed := self._now()) != sent:
            request.headers["Authorization"] = f"Bearer {renewed}"
            yield request

    def _now(self) -> str:
        return self._credential if isinstance(self._credential, str) else _checked(self._credential())


def _checked(credential: str) -> str:
    if not credential or not credential.isascii() or not credential.isprintable() or " " in credential:
        raise Invalid.field(
            "key", "a credential is one word of ASCII: an API key as `slate keys create` printed it, or a token"
        )
    return credential
