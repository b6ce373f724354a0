"""API keys, and the records that make a repeated POST harmless."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pydantic import JsonValue

from slate.domain.access import ApiKey
from slate.ports.graph_store import Page


class StoredKey(NamedTuple):
    """A key with what its secret is checked against."""

    key: ApiKey
    salt: bytes
    digest: bytes


class ApiKeyStore(Protocol):
    """Keeps API keys by id; the secret itself is never stored."""

    def put(self, tenant: str, stored: StoredKey) -> None:
        """Keep a new key.

        Raises:
            Conflict: the id is taken.
        """
        ...

    def get(self, tenant: str, key_id: str) -> StoredKey:
        """One key, revoked or not, strongly consistent.

        Raises:
            NotFound: there is none.
        """
        ...

    def page(self, tenant: str, position: str | None, limit: int) -> Page[ApiKey]:
        """Keys by id."""
        ...

    def revoke(self, tenant: str, key_id: str) -> ApiKey:
        """Revoke a key now; one revoked before keeps its instant.

        Raises:
            NotFound: there is none.
        """
        ...


class Remembered(NamedTuple):
    """What is known of a call made earlier under one Idempotency-Key."""

    answer: JsonValue
    """None while the first call is still at work."""
    seed: str
    """The same for every try of this call: ids made from it are the same too."""


class Call(NamedTuple):
    """A call that may come again."""

    tenant: str
    key_id: str
    """The credential: another one, of whatever agent, may reach less, and gets no answer of this one's."""
    bound: str | None
    """The one person that the credential reaches; people who use one app have tokens that differ in this alone."""
    key: str
    """The caller's Idempotency-Key."""
    subject: str | None
    """Whom it is about: what is kept of it goes with that person."""


class IdempotencyStore(Protocol):
    """Remembers calls for 24 h, sealed under the key of whom they are about."""

    def begin(self, call: Call, request: JsonValue, seed: str) -> Remembered:
        """Open the record, or find the one that is there; ``request`` is the whole of what was asked.

        Raises:
            Invalid: the key was used with another request.
            InProgress: the first call began less than 30 s ago and has not answered.
        """
        ...

    def finish(self, call: Call, answer: JsonValue) -> None:
        """Keep the answer."""
        ...

    def reopen(self, call: Call) -> None:
        """Let the next try begin at once, with the same seed: this one failed and may be repeated."""
        ...

    def forget(self, call: Call) -> None:
        """Drop the record of a call that was refused and changed nothing, so that it can be mended and sent again."""
        ...
