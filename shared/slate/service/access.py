"""API keys: made, listed, revoked, and told from anything else. A secret is shown once and kept only as a hash."""

from __future__ import annotations

import hmac
from collections import OrderedDict
from hashlib import sha256
from threading import Lock
from typing import Final

from pydantic import JsonValue

from slate.contract.access import CreatedKey, CreateKey, KeyPage
from slate.domain.access import ApiKey, Principal
from slate.domain.errors import Forbidden, NotFound, SubjectErased, Unauthenticated
from slate.domain.names import is_id, is_tenant
from slate.ports.access_store import ApiKeyStore, StoredKey
from slate.ports.clock import Clock
from slate.ports.ids import Ids
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors

PREFIX: Final = "slate_"
_PARTS: Final = 3
_CACHE_SIZE: Final = 10_000


class Access:
    """Gives out keys and recognises them."""

    def __init__(
        self,
        store: ApiKeyStore,
        idempotency: Idempotency,
        cursors: Cursors,
        ids: Ids,
        clock: Clock,
        *,
        cache_seconds: int,
    ) -> None:
        self._store = store
        self._idempotency = idempotency
        self._cursors = cursors
        self._ids = ids
        self._clock = clock
        self._cache_ms = cache_seconds * 1000
        self._decisions: OrderedDict[bytes, tuple[int, Principal]] = OrderedDict()
        self._lock = Lock()

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
        self._store.put(tenant, StoredKey(key, salt, _hash(salt, secret)))
        credential = f"{PREFIX}{tenant}.{key.key_id}.{secret}"
        return CreatedKey(**key.model_dump(), key=credential)

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

    def authenticate(self, credential: str) -> Principal:
        """Who holds this credential.

        Raises:
            Unauthenticated: nobody: it is not of ours, or was revoked.
        """
        fingerprint = sha256(credential.encode(errors="replace")).digest()
        known = self._decided(fingerprint)
        if known is not None:
            return known
        principal = self._checked(credential)
        with self._lock:
            self._decisions[fingerprint] = (self._clock.now() + self._cache_ms, principal)
            while len(self._decisions) > _CACHE_SIZE:
                self._decisions.popitem(last=False)
        return principal

    def _decided(self, fingerprint: bytes) -> Principal | None:
        with self._lock:
            entry = self._decisions.get(fingerprint)
            return entry[1] if entry is not None and self._clock.now() < entry[0] else None

    def _checked(self, credential: str) -> Principal:
        parts = credential.removeprefix(PREFIX).split(".", _PARTS - 1)
        # A key id is "k-" and hexadecimal: it holds no dot, so the parts are told apart.
        if not credential.startswith(PREFIX) or len(parts) != _PARTS:
            raise _unknown()
        tenant, key_id, secret = parts
        if not is_tenant(tenant) or not is_id(key_id):
            raise _unknown()
        try:
            stored = self._store.get(tenant, key_id)
        except (NotFound, SubjectErased):
            raise _unknown() from None
        if not hmac.compare_digest(_hash(stored.salt, secret), stored.digest) or stored.key.revoked_at is not None:
            raise _unknown()
        return Principal(
            tenant=tenant,
            agent=stored.key.agent,
            key_id=key_id,
            scopes=frozenset(stored.key.scopes),
            roles=frozenset(stored.key.roles),
            subject=stored.key.subject,
        )


def _unbound(principal: Principal) -> None:
    """A key that reaches one person's data has no say over keys, which reach everybody's."""
    if principal.subject is not None:
        raise Forbidden("this key is bound to one subject; use one that is not to see to keys")


def _hash(salt: bytes, secret: str) -> bytes:
    # The secret is 256 random bits: a slow hash would add nothing that guessing does not already lack.
    return hmac.digest(salt, secret.encode(errors="replace"), sha256)


def _unknown() -> Unauthenticated:
    return Unauthenticated("this credential is not known; send `Authorization: Bearer <api key>`")
