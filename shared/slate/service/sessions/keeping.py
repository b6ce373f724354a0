"""A session as a whole: made, looked at, listed, closed, deleted; and what came of its close."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from slate.contract.sessions import Closed, CreateSession, SessionPage, ShownSession, SummaryPage
from slate.domain.access import Principal
from slate.domain.errors import NotFound
from slate.domain.merging import listed
from slate.domain.pinned import check_size
from slate.domain.sessions import Extraction, Pinned, Session
from slate.ports.clock import Clock
from slate.ports.ids import Ids
from slate.ports.session_store import SessionStore, Shown
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors
from slate.service.sessions.ending import Ending
from slate.service.sessions.pinning import Pinning
from slate.service.sessions.reaching import reached, reaches, unknown

INLINE_MS = 5_000
"""A call works so long at most on what the timer would do as well."""


class Sessions:
    """The use cases of sessions."""

    def __init__(
        self,
        store: SessionStore,
        ending: Ending,
        pinning: Pinning,
        idempotency: Idempotency,
        cursors: Cursors,
        ids: Ids,
        clock: Clock,
        *,
        retention_days: Callable[[str], int],
    ) -> None:
        self._store = store
        self._ending = ending
        self._pinning = pinning
        self._idempotency = idempotency
        self._cursors = cursors
        self._ids = ids
        self._clock = clock
        self._retention_days = retention_days

    def create(
        self, principal: Principal, body: CreateSession, idempotency_key: str | None
    ) -> tuple[ShownSession, bool]:
        """A new session, or the very same one again (False): then nothing changes.

        Raises:
            Forbidden: it names another's agent, or a subject that the key does not reach.
            TooLarge: the pinned state is over its bound.
            Conflict: the id is taken by other content.
        """
        subject, agent = principal.acting_subject(body.subject), principal.acting_agent(body.agent)
        pinned = body.pinned or Pinned()
        check_size(pinned)
        tenant = principal.tenant

        def do(seed: str) -> tuple[tuple[ShownSession, bool], JsonValue]:
            session = self._new(tenant, body.session_id or f"s-{seed}", body, subject, agent)
            content: JsonValue = [body.model_dump(mode="json", exclude={"session_id"}), subject, agent]
            new = self._store.create(tenant, session, pinned, content, self._ending.due(session))
            return (self._shown(self._store.shown(tenant, session.session_id)), new), session.session_id

        def again(answer: JsonValue) -> tuple[ShownSession, bool]:
            return self.get(principal, str(answer)), True

        request: JsonValue = ["POST /v1/sessions", body.model_dump(mode="json")]
        return self._idempotency.once(principal, idempotency_key, request, do, again, about=subject)

    def _new(self, tenant: str, session_id: str, body: CreateSession, subject: str | None, agent: str) -> Session:
        now = self._clock.now()
        return Session(
            session_id=session_id,
            subject=subject,
            agent=agent,
            system=body.system,
            window=body.window,
            readers=body.readers,
            retention_days=body.retention_days or self._retention_days(tenant),
            created_at=now,
            updated_at=now,
        )

    def get(self, principal: Principal, session_id: str) -> ShownSession:
        """The session with its pinned state and its merged digest, in one read.

        Raises:
            NotFound: there is none, it is being deleted, or it is not this caller's to see.
        """
        shown = self._store.shown(principal.tenant, session_id)
        if not reaches(principal, shown.session):
            raise unknown(session_id)
        return self._shown(shown)

    def _shown(self, shown: Shown) -> ShownSession:
        fields = shown.session.model_dump()
        pinned = self._pinning.shown(shown.pinned)
        return ShownSession(**fields, pinned=pinned, summary=shown.merged, model_usage=shown.usage)

    def list(self, principal: Principal, limit: int, cursor: str | None, subject: str | None) -> SessionPage:
        """Sessions, the newest first; those that the caller may not see are left out, so a page may be short."""
        tenant, about = principal.tenant, principal.acting_subject(subject)
        of = f"sessions {about or ''}"
        page = self._store.page(tenant, about, self._cursors.position(tenant, of, cursor), limit)
        seen = tuple(session for session in page.items if reaches(principal, session))
        return SessionPage(items=seen, next_cursor=self._cursors.next(tenant, of, page.position))

    def delete(self, principal: Principal, session_id: str, if_match: int | None) -> None:
        """From now on every read of it is not found; its id is free once the last of it is removed.

        Raises:
            NotFound: as in ``get``.
            VersionMismatch: it is at another version.
        """
        reached(self._store, principal, session_id)
        self._store.begin_delete(principal.tenant, session_id, if_match)
        self._store.remove(principal.tenant, session_id, self._clock.now() + INLINE_MS)

    def summaries(self, principal: Principal, session_id: str, limit: int, cursor: str | None) -> SummaryPage:
        """The digests of closed segments, the oldest first; one that is still to be made is left out.

        Raises:
            NotFound: as in ``get``.
        """
        reached(self._store, principal, session_id)
        tenant, of = principal.tenant, f"summaries {session_id}"
        page = self._store.segments(tenant, session_id, self._cursors.position(tenant, of, cursor), limit)
        made = tuple(listed(page.items, self._store.merged(tenant, session_id)))
        return SummaryPage(items=made, next_cursor=self._cursors.next(tenant, of, page.position))

    def close(self, principal: Principal, session_id: str) -> Closed:
        """Nothing more is expected; one that is closed already answers the same.

        Raises:
            NotFound: as in ``get``.
        """
        reached(self._store, principal, session_id)
        session = self._ending.close(principal.tenant, session_id, self._clock.now() + INLINE_MS)
        return Closed(extraction_id=session.extraction_id or "")

    def extraction(self, principal: Principal, extraction_id: str) -> Extraction:
        """How far the work on a closed session is, and what was decided.

        Raises:
            NotFound: there is none, or it is about what the caller does not reach.
        """
        extraction = self._store.extraction(principal.tenant, extraction_id)
        nothing = NotFound(f"there is no extraction {extraction_id!r}")
        if not principal.may_reach(extraction.subject):
            raise nothing
        if extraction.session_id is not None:
            try:
                reached(self._store, principal, extraction.session_id)
            except NotFound:
                raise nothing from None
        return extraction
