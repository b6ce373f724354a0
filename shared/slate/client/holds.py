"""The client's methods for holds: what must stay as it is for now, and is not served meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from slate.client.answers import pages, parse, segment
from slate.client.calls import Calls
from slate.contract.holds import HoldPage
from slate.domain.holds import Hold
from slate.domain.instants import format_instant


class Holds:
    """Holds: ``client.holds.create("u-17", "claim 2026-118 is before the court")``."""

    def __init__(self, calls: Calls, new_id: Callable[[], str]) -> None:
        self._calls = calls
        self._new_id = new_id

    def create(
        self, subject: str, reason: str, *, until: int | None = None, idempotency_key: str | None = None
    ) -> Hold:
        """Hold a person's data from now on, until an instant (milliseconds since 1970 UTC) or until it is lifted.

        Raises:
            SubjectErased: the person is being erased.
            Invalid: the instant is past.
        """
        body = {"subject": subject, "reason": reason}
        body |= {} if until is None else {"until": format_instant(until)}
        key = idempotency_key or self._new_id()
        return parse(Hold, self._calls.call("POST", "/v1/holds", body=body, idempotency_key=key))

    def list(self) -> Iterator[Hold]:
        """All that stand; page after page as they are asked for."""
        return pages(self._calls, "/v1/holds", partial(parse, HoldPage), {})

    def lift(self, hold_id: str) -> None:
        """End one; an erasure that waited for the last one goes on.

        Raises:
            NotFound: there is no such hold (any more).
        """
        self._calls.call("DELETE", f"/v1/holds/{segment('hold_id', hold_id)}")
