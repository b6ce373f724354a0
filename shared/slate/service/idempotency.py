"""A POST that creates or claims may be sent again under one Idempotency-Key, for 24 h, and happens once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from pydantic import JsonValue

from slate.domain.access import Principal
from slate.domain.errors import SlateError, Unavailable
from slate.ports.access_store import Call, IdempotencyStore
from slate.ports.ids import Ids

T = TypeVar("T")


class Idempotency:
    """Runs a call once for each key."""

    def __init__(self, store: IdempotencyStore, ids: Ids) -> None:
        self._store = store
        self._ids = ids

    def once(
        self,
        principal: Principal,
        key: str | None,
        request: JsonValue,
        do: Callable[[str], tuple[T, JsonValue]],
        again: Callable[[JsonValue], T],
        *,
        about: str | None = None,
    ) -> T:
        """Do it, given an id that is the same for every try, and remember the ids it answers with.

        A repeat is answered by ``again`` from those ids. A refusal that cannot change is forgotten, so that the
        request can be mended and sent under the same key. ``about`` is the person whom the request names.

        Raises:
            Invalid: the key was used with another request.
            InProgress: the first call is still at work.
        """
        if key is None:
            return do(self._ids.new())[0]
        call = Call(principal.tenant, principal.key_id, principal.subject, key, about)
        known = self._store.begin(call, request, self._ids.new())
        if known.answer is not None:
            return again(known.answer)
        try:
            result, answer = do(known.seed)
        except SlateError as error:
            with suppress(Unavailable):  # the error itself says more; the record is free again in half a minute
                (self._store.reopen if error.retryable else self._store.forget)(call)
            raise
        with suppress(Unavailable):  # it is done, and the caller is told so
            self._store.finish(call, answer)
        return result
