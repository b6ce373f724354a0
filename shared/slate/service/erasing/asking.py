"""Erasures as they are asked for, looked at and listed.

The fence is closed before the request is answered, so that from the answer on nothing of the person is served; the
rest is the eraser's. A person has one erasure that is open: whoever asks again meanwhile is answered that one.
"""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from slate.contract.erasures import AskErasure, ErasurePage, ErasureStatus
from slate.domain.access import Principal
from slate.domain.erasing.erasure import Days, Erasure, received
from slate.domain.erasing.steps import Step
from slate.domain.errors import Invalid, NotFound, SubjectErased, Unavailable
from slate.domain.fences import Intent
from slate.ports.clock import Clock
from slate.ports.eraser_start import EraserStart
from slate.ports.erasure_store import ErasureStore
from slate.ports.keyring import Keyring
from slate.service.erasing.running import Running
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors

SKEW_MS: Final = 60_000
FENCE_MS: Final = 10_000
_TRIES: Final = 3
_LIST: Final = "erasures"


class Erasing:
    """What a privacy officer, or the person, does with erasures."""

    def __init__(
        self,
        store: ErasureStore,
        running: Running,
        keyring: Keyring,
        idempotency: Idempotency,
        cursors: Cursors,
        clock: Clock,
        start: EraserStart,
        *,
        days: Days,
    ) -> None:
        """``days`` is how long copies lie that nobody can reach into."""
        self._store = store
        self._running = running
        self._keyring = keyring
        self._idempotency = idempotency
        self._cursors = cursors
        self._clock = clock
        self._start = start
        self._days = days

    def ask(self, principal: Principal, body: AskErasure, idempotency_key: str | None) -> ErasureStatus:
        """Erase everything about a person; the one that is open, if there is one.

        Raises:
            NotFound: the person is out of the credential's reach.
            Invalid: it was requested in the future.
        """
        if not principal.may_reach(body.subject):
            raise NotFound(f"there is no subject {body.subject!r}")
        now = self._clock.now()
        if body.requested_at is not None and body.requested_at > now + SKEW_MS:
            raise Invalid.field("requested_at", "must not lie in the future: it is when the person asked")
        tenant, ref = principal.tenant, self._keyring.name(principal.tenant, body.subject)

        def do(seed: str) -> tuple[ErasureStatus, JsonValue]:
            erasure_id = f"e{now:012x}{seed[-20:]}"
            asked_at = now if body.requested_at is None else body.requested_at
            new = received(erasure_id, ref, body.subject, body.reason, principal.agent, asked_at, now)
            begun = self._begun(tenant, new)
            self._running.step(tenant, begun.erasure_id, now + FENCE_MS)
            self._start()
            return self._status(self._store.get(tenant, begun.erasure_id)), begun.erasure_id

        def again(erasure_id: JsonValue) -> ErasureStatus:
            return self._status(self._store.get(tenant, str(erasure_id)))

        # Not about the person, for the storage: the record of the call stands when all that is theirs has gone.
        request: JsonValue = ["POST /v1/erasures", body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, again)

    def _begun(self, tenant: str, new: Erasure) -> Erasure:
        """Kept, or the one that was there first."""
        for _ in range(_TRIES):
            if (open_one := self._store.running(tenant, new.ref)) is not None:
                if not self._opened(tenant, open_one):
                    return open_one
                self._running.step(tenant, open_one.erasure_id, new.received_at + FENCE_MS)
                continue
            try:
                # An operation of its own: what it seals is meant to be closed off right after.
                with self._keyring.operation(Intent.WRITE):
                    return self._store.begin(tenant, new)
            except SubjectErased:
                continue  # another came first, and has closed the fence
        raise Unavailable("other erasures of this person begin and end just now; repeat the call")

    def _opened(self, tenant: str, erasure: Erasure) -> bool:
        """Whether all but its last note is done: the person may be back, and what they brought it does not erase."""
        if erasure.state is not Step.VERIFIED:
            return False
        try:
            with self._keyring.operation(Intent.WRITE):
                self._keyring.admit(tenant, erasure.ref)
        except SubjectErased:
            return False
        return True

    def get(self, principal: Principal, erasure_id: str) -> ErasureStatus:
        """One.

        Raises:
            NotFound: there is none, or it is of somebody out of the credential's reach.
        """
        erasure = self._store.get(principal.tenant, erasure_id)
        if self._own(principal) not in (None, erasure.ref):
            raise NotFound(f"there is no erasure {erasure_id!r}")
        return self._status(erasure)

    def list(self, principal: Principal, subject: str | None, limit: int, cursor: str | None) -> ErasurePage:
        """Those within reach, the newest first; of one person where they are named."""
        tenant, ref = principal.tenant, self._own(principal)
        if subject is not None:
            if not principal.may_reach(subject):
                return ErasurePage(items=(), next_cursor=None)
            ref = self._keyring.name(tenant, subject)
        of = f"{_LIST} {ref}"
        page = self._store.page(tenant, ref, self._cursors.position(tenant, of, cursor), limit)
        items = tuple(self._status(each) for each in page.items)
        return ErasurePage(items=items, next_cursor=self._cursors.next(tenant, of, page.position))

    def _own(self, principal: Principal) -> str | None:
        return None if principal.subject is None else self._keyring.name(principal.tenant, principal.subject)

    def _status(self, erasure: Erasure) -> ErasureStatus:
        return ErasureStatus.of(erasure, self._days)
