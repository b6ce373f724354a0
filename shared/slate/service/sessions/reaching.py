"""Who reaches which session: one read of its head, before anything else of it is read or changed."""

from __future__ import annotations

from slate.domain.access import Principal
from slate.domain.errors import Conflict, NotFound
from slate.domain.sessions import Session, SessionState
from slate.domain.values import Owner, OwnerKind
from slate.ports.keyring import Keyring
from slate.ports.session_store import SessionStore


def reaches(principal: Principal, session: Session) -> bool:
    """Whether it is within the credential's bounds, and names the caller as a reader if it names any."""
    return principal.may_reach(session.subject) and principal.may_read(session.readers, session.agent)


def unknown(session_id: str) -> NotFound:
    """There is no such session, for this caller."""
    return NotFound(f"there is no session {session_id!r}")


def reached(store: SessionStore, principal: Principal, session_id: str) -> Session:
    """The head.

    Raises:
        NotFound: there is none, it is being deleted, or it is not this caller's to see.
    """
    session = store.head(principal.tenant, session_id)
    if not reaches(principal, session):
        raise unknown(session_id)
    return session


class SessionOwners:
    """Sessions as owners of values, which may be changed while the session is open, and go when it closes."""

    def __init__(self, store: SessionStore, keyring: Keyring) -> None:
        self._store = store
        self._keyring = keyring

    def find(self, principal: Principal, owner_id: str, *, writing: bool) -> Owner:
        """One read of the head."""
        session = reached(self._store, principal, owner_id)
        if writing and session.state is SessionState.CLOSED:
            raise Conflict("the session is closed; append a turn to open it again", session_state=session.state)
        ref = None if session.subject is None else self._keyring.ref(principal.tenant, session.subject)
        return Owner(OwnerKind.SESSION, owner_id, ref, session.subject)
