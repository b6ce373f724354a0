"""Whether a recognised credential may make one more call now: it still stands, and has not made too many."""

from __future__ import annotations

import math
from collections import OrderedDict
from threading import Lock
from typing import Final, NamedTuple

from slate.domain.access import Principal
from slate.domain.errors import Throttled, Unauthenticated
from slate.domain.throttling import Bucket, Pace
from slate.ports.clock import Clock

_REMEMBERED: Final = 10_000
"""Callers, the latest; one that is forgotten starts anew."""


class _Caller(NamedTuple):
    """Who has a bucket: people who share an app's credential do not share its pace."""

    tenant: str
    key_id: str
    subject: str | None


class Admission:
    """Asked before each call, it lets pass what keeps to the pace.

    It counts what this process serves: where there are several, each gives every caller its whole pace.
    """

    def __init__(self, pace: Pace, clock: Clock) -> None:
        self._pace = pace
        self._clock = clock
        self._buckets: OrderedDict[_Caller, Bucket] = OrderedDict()
        self._lock = Lock()

    def admit(self, principal: Principal) -> None:
        """Let a call pass, and take it from the caller's share.

        A gateway may hand on for a while what the authorizer said before the credential expired.

        Raises:
            Unauthenticated: the credential has expired.
            Throttled: too many calls were made; ``retry_after`` is in whole seconds, and enough.
        """
        now = self._clock.now()
        if principal.expires_at is not None and now >= principal.expires_at:
            raise Unauthenticated("the token has expired; get a new one")
        seconds = self._take(_Caller(principal.tenant, principal.key_id, principal.subject), now)
        if seconds > 0:
            wait = math.ceil(seconds)
            raise Throttled(
                f"this credential may make {self._pace.rate} calls a second and {self._pace.burst} at once; "
                f"wait {wait} s, or spread the calls",
                retry_after=wait,
            )

    def _take(self, caller: _Caller, now: int) -> float:
        with self._lock:
            bucket, seconds = self._pace.taken(self._buckets.get(caller), now)
            self._buckets[caller] = bucket
            self._buckets.move_to_end(caller)
            if len(self._buckets) > _REMEMBERED:
                self._buckets.popitem(last=False)
        return seconds
