"""Holds: put, listed, lifted, and ended by themselves.

While one stands reads and deletes of the person are refused (423), by everybody and everything; writes are taken, and
an erasure waits. Whoever holds data answers for it: each of these calls needs a scope of privacy, and a credential
that is bound to one person makes none of them.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from slate.contract.holds import CreateHold, HoldPage
from slate.domain.access import Principal
from slate.domain.errors import Conflict, Forbidden, Invalid, NotFound, SubjectErased
from slate.domain.holds import Hold
from slate.ports.clock import Clock
from slate.ports.fences import Fences
from slate.ports.hold_store import HoldStore
from slate.ports.keyring import Keyring
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors

_HOLDS = "holds"


class Holding:
    """What a privacy officer does with holds, and what their end does."""

    def __init__(
        self,
        store: HoldStore,
        fences: Fences,
        keyring: Keyring,
        idempotency: Idempotency,
        cursors: Cursors,
        clock: Clock,
        *,
        ended: Callable[[str, str], object],
    ) -> None:
        """``ended`` is told of whom (tenant, ref) a hold has ended: an erasure may be waiting for it."""
        self._store = store
        self._fences = fences
        self._keyring = keyring
        self._idempotency = idempotency
        self._cursors = cursors
        self._clock = clock
        self._ended = ended

    def create(self, principal: Principal, body: CreateHold, idempotency_key: str | None) -> Hold:
        """Hold a person's data from now on.

        Raises:
            Forbidden: the caller is bound to a subject.
            Invalid: its end is past.
            SubjectErased: the person is being erased: nothing is left to hold.
        """
        _unbound(principal)
        if body.until is not None and body.until <= self._clock.now():
            raise Invalid.field("until", "must lie in the future; leave it out for a hold that is lifted by hand")
        ref = self._keyring.name(principal.tenant, body.subject)

        def do(seed: str) -> tuple[Hold, JsonValue]:
            made = self._made(principal, ref, body, f"h-{seed}")
            return made, made.hold_id

        def again(hold_id: JsonValue) -> Hold:
            held = self._store.get(principal.tenant, str(hold_id))
            if held is None:
                raise Conflict("this hold was made under this key, and has ended since; send another key for a new one")
            return held.hold.model_copy(update={"subject": body.subject, "reason": body.reason})

        request: JsonValue = ["POST /v1/holds", body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, again, about=body.subject)

    def _made(self, principal: Principal, ref: str, body: CreateHold, hold_id: str) -> Hold:
        hold = Hold(
            hold_id=hold_id,
            subject=body.subject,
            reason=body.reason,
            until=body.until,
            created_at=self._clock.now(),
            created_by=principal.agent,
        )
        held = self._store.put(principal.tenant, ref, hold)
        self.settle(principal.tenant, hold_id)
        return hold.model_copy(update={"created_at": held.hold.created_at})

    def list(self, principal: Principal, limit: int, cursor: str | None) -> HoldPage:
        """The holds that stand, by id.

        Raises:
            Forbidden: the caller is bound to a subject.
        """
        _unbound(principal)
        position = self._cursors.position(principal.tenant, _HOLDS, cursor)
        page = self._store.page(principal.tenant, position, limit)
        return HoldPage(
            items=tuple(page.items), next_cursor=self._cursors.next(principal.tenant, _HOLDS, page.position)
        )

    def standing(self, tenant: str) -> int:
        """How many stand, by the ledger."""
        return len(self._store.all_noted(tenant))

    def lift(self, principal: Principal, hold_id: str) -> None:
        """End a hold; a repeat finds none.

        Raises:
            Forbidden: the caller is bound to a subject.
            NotFound: there is no such hold (any more).
        """
        _unbound(principal)
        held = self._store.get(principal.tenant, hold_id)
        if held is None:
            raise NotFound(f"there is no hold {hold_id!r} (any more)")
        self._end(principal.tenant, held.ref, hold_id)

    def settle(self, tenant: str, hold_id: str) -> None:
        """Make the fence agree with the ledger; a hold whose time is over ends here. Any number may do so at once.

        Raises:
            SubjectErased: an erasure closed the fence before the hold came there: it never stood, and ends.
        """
        held = self._store.get(tenant, hold_id)
        if held is None:
            if (kept := self._store.kept(tenant, hold_id)) is not None:
                self._release(tenant, kept.ref, hold_id)
        elif not held.hold.stands(self._clock.now()):
            self._end(tenant, held.ref, hold_id)
        else:
            try:
                self._fences.hold(tenant, held.ref, hold_id)
            except SubjectErased:
                self._end(tenant, held.ref, hold_id)
                raise
            self._store.look_at(tenant, held.hold)
            # Lifted meanwhile? Whoever did may have released before this held: then this releases, too.
            if self._store.get(tenant, hold_id) is None:
                self._release(tenant, held.ref, hold_id)

    def _end(self, tenant: str, ref: str, hold_id: str) -> None:
        self._store.lift(tenant, hold_id)
        self._release(tenant, ref, hold_id)

    def _release(self, tenant: str, ref: str, hold_id: str) -> None:
        self._fences.release(tenant, ref, hold_id)
        self._store.drop(tenant, hold_id)
        self._ended(tenant, ref)


def _unbound(principal: Principal) -> None:
    if principal.subject is not None:
        raise Forbidden("this key is bound to one subject, and a hold is not that person's to see; use another key")
