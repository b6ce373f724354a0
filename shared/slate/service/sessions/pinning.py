"""The pinned state: goal, constraints, entities, decisions, plan; each write names the version that it is meant for."""

from __future__ import annotations

from slate.contract.sessions import PatchPinned, PutPinned
from slate.domain import pinned as rules
from slate.domain.access import Principal
from slate.domain.errors import VersionMismatch
from slate.domain.pinned import PinnedState
from slate.domain.sessions import Pinned
from slate.ports import session_store
from slate.ports.session_store import SessionStore
from slate.ports.token_counter import TokenCounter
from slate.service.sessions.reaching import reached

_TRIES = 10


class Pinning:
    """The use cases of the pinned state."""

    def __init__(self, store: SessionStore, counter: TokenCounter) -> None:
        self._store = store
        self._counter = counter

    def get(self, principal: Principal, session_id: str) -> PinnedState:
        """As it stands.

        Raises:
            NotFound: there is no such session within reach.
        """
        reached(self._store, principal, session_id)
        return self.shown(self._store.pinned(principal.tenant, session_id))

    def put(self, principal: Principal, session_id: str, body: PutPinned, if_match: int | None) -> PinnedState:
        """Replace all of it; without a version, over any.

        Raises:
            NotFound: as in ``get``.
            VersionMismatch: it is at another version; ``current`` is the pinned state.
            TooLarge: it is over its bound.
        """
        pinned = Pinned.model_validate(body.model_dump(mode="json"))
        rules.check_size(pinned)
        reached(self._store, principal, session_id)
        return self._put(principal.tenant, session_id, pinned, if_match)

    def patch(self, principal: Principal, session_id: str, body: PatchPinned, if_match: int | None) -> PinnedState:
        """Merge into it; without a version, into whatever is there when it is written.

        Raises:
            NotFound, VersionMismatch, TooLarge: as in ``put``.
            Invalid: what comes of it is no pinned state.
        """
        reached(self._store, principal, session_id)
        for attempt in range(_TRIES):
            before = self._store.pinned(principal.tenant, session_id)
            if if_match not in (None, before.version):
                raise VersionMismatch(self.shown(before).model_dump(mode="json"))
            after = rules.patched(before.pinned, body.patch())
            try:
                return self._put(principal.tenant, session_id, after, before.version)
            except VersionMismatch:
                if if_match is not None or attempt == _TRIES - 1:
                    raise
        raise AssertionError  # the last try has returned or raised

    def _put(self, tenant: str, session_id: str, pinned: Pinned, version: int | None) -> PinnedState:
        try:
            return self.shown(self._store.put_pinned(tenant, session_id, pinned, version))
        except VersionMismatch as mismatch:
            current = mismatch.data["current"]
            there = Pinned.model_validate({name: current[name] for name in Pinned.model_fields})
            shown = self.shown(session_store.PinnedState(there, current["version"]))
            raise VersionMismatch(shown.model_dump(mode="json")) from None

    def shown(self, state: session_store.PinnedState) -> PinnedState:
        """With its text, what it costs, and what is unwise about it."""
        text = rules.text_of(state.pinned)
        tokens = self._counter.count(text) if text else 0
        return PinnedState(
            **state.pinned.model_dump(),
            text=text,
            tokens=tokens,
            warnings=rules.warnings_of(tokens),
            version=state.version,
        )
