"""API keys: made, listed, revoked. A secret is shown once and kept only as a hash."""

from __future__ import annotations

from pydantic import JsonValue

from slate.contract.access import CreatedKey, CreateKey, KeyPage
from slate.domain.access import ApiKey, Principal
from slate.domain.credentials import key_credential, secret_digest
from slate.domain.errors import Forbidden
from slate.ports.access_store import ApiKeyStore, StoredKey
from slate.ports.clock import Clock
from slate.ports.ids import Ids
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors


class Access:
    """Gives out keys."""

    def __init__(
        self,
        store: ApiKeyStore,
        idempotency: Idempotency,
        cursors: Cursors,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._store = store
        self._idempotency = idempotency
        self._cursors = cursors
        self._ids = ids
        self._clock = clock

    def create(self, principal: Principal, body: CreateKey, idempotency_key: str | None) -> CreatedKey:
        """A new key, shown this once; it reaches no further than the key that made it.

        Raises:
            Forbidden: the maker is bound to a subject, or to roles of which the new key names none.
            RoleMissing: it would work for a role outside the maker's own.
        """
        _unbound(principal)
        if principal.roles and not body.roles:
            raise Forbidden("this key is bound to roles; name roles among them for the new key")
        principal.may_work_for(frozenset(body.roles))

        def do(seed: str) -> tuple[CreatedKey, JsonValue]:
            made = self.issue(principal.tenant, body, made_by=principal.agent, key_id=f"k-{seed}")
            return made, made.model_dump(mode="json")

        request: JsonValue = ["POST /v1/keys", body.model_dump(mode="json")]
        return self._idempotency.once(
            principal, idempotency_key, request, do, CreatedKey.model_validate, about=body.subject
        )

    def issue(self, tenant: str, body: CreateKey, *, made_by: str, key_id: str | None = None) -> CreatedKey:
        """A key for a tenant, without asking who may: for the first key, and for ``create``."""
        secret, salt = self._ids.secret(), self._ids.secret().encode()
        key = ApiKey(
            key_id=key_id or f"k-{self._ids.new()}",
            agent=body.agent,
            scopes=tuple(sorted(set(body.scopes))),
            roles=tuple(sorted(set(body.roles))),
            subject=body.subject,
            created_at=self._clock.now(),
            created_by=made_by,
        )
        self._store.put(tenant, StoredKey(key, salt, secret_digest(salt, secret)))
        return CreatedKey(**key.model_dump(), key=key_credential(tenant, key.key_id, secret))

    def list(self, principal: Principal, limit: int, cursor: str | None) -> KeyPage:
        """The tenant's keys, revoked ones too, never with their secrets.

        Raises:
            Forbidden: the caller is bound to a subject.
        """
        _unbound(principal)
        position = self._cursors.position(principal.tenant, "keys", cursor)
        page = self._store.page(principal.tenant, position, limit)
        return KeyPage(items=tuple(page.items), next_cursor=self._cursors.next(principal.tenant, "keys", page.position))

    def revoke(self, principal: Principal, key_id: str) -> ApiKey:
        """Close a key; where its decision is cached it lives up to a minute longer. A repeat changes nothing.

        Raises:
            Forbidden: the caller is bound to a subject.
            NotFound: there is no such key.
        """
        _unbound(principal)
        return self._store.revoke(principal.tenant, key_id)


def _unbound(principal: Principal) -> None:
    """A key that reaches one person's data has no say over keys, which reach everybody's."""
    if principal.subject is not None:
        raise Forbidden("this key is bound to one subject; use one that is not to see to keys")
