"""The client's methods for erasures: everything about a person goes, and a receipt proves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from slate.client.answers import pages, parse, segment
from slate.client.calls import Calls
from slate.contract.erasures import ErasurePage, ErasureStatus
from slate.domain.erasing.steps import OPEN
from slate.domain.instants import format_instant

_JOSE: Final = "application/jose"
LOOK_SECONDS: Final = 2.0


class Erasures:
    """Erasures: ``client.erasures.ask("u-17", "request by the person")``."""

    def __init__(self, calls: Calls, new_id: Callable[[], str], sleep: Callable[[float], None]) -> None:
        self._calls = calls
        self._new_id = new_id
        self._sleep = sleep

    def ask(
        self, subject: str, reason: str, *, requested_at: int | None = None, idempotency_key: str | None = None
    ) -> ErasureStatus:
        """Erase everything about a person; from the answer on nothing of theirs is served.

        ``requested_at`` is when the person asked, in milliseconds since 1970 UTC, if that was before. Where one of this
        person is open already, that one is answered. Under a hold it waits as HELD.

        Raises:
            Invalid: it was requested in the future.
        """
        body = {"subject": subject, "reason": reason}
        body |= {} if requested_at is None else {"requested_at": format_instant(requested_at)}
        key = idempotency_key or self._new_id()
        return parse(ErasureStatus, self._calls.call("POST", "/v1/erasures", body=body, idempotency_key=key))

    def get(self, erasure_id: str) -> ErasureStatus:
        """How far one is.

        Raises:
            NotFound: there is none.
        """
        return parse(ErasureStatus, self._calls.call("GET", _path(erasure_id)))

    def list(self, subject: str | None = None) -> Iterator[ErasureStatus]:
        """All, or one person's; the newest first, page after page as they are asked for."""
        params = {} if subject is None else {"subject": subject}
        return pages(self._calls, "/v1/erasures", partial(parse, ErasurePage), params)

    def follow(self, erasure_id: str, every_seconds: float = LOOK_SECONDS) -> Iterator[ErasureStatus]:
        """How far it is, again and again, until it is receipted; that takes days, since late messages are waited for.

        Raises:
            NotFound: there is none.
        """
        while True:
            status = self.get(erasure_id)
            yield status
            if status.state not in OPEN:
                return
            self._sleep(every_seconds)

    def receipt(self, erasure_id: str) -> str:
        """The receipt: a compact JWS, which `slate verify-receipt` checks.

        Raises:
            NotFound: there is none yet.
        """
        return self._calls.text(f"{_path(erasure_id)}/receipt", accept=_JOSE).content


def _path(erasure_id: str) -> str:
    return f"/v1/erasures/{segment('erasure_id', erasure_id)}"
