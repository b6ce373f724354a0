"""A worker's token: an opaque, authenticated text that carries its lease, so that no step has to read first."""

from __future__ import annotations

import json

from slate.domain.leases import Lease
from slate.ports.keyring import Keyring
from slate.service.sealing import Opaque

_FIELDS = tuple(Lease.model_fields)


class Tokens:
    """Makes and reads tokens."""

    def __init__(self, keyring: Keyring) -> None:
        self._opaque = Opaque(keyring, "token")

    def make(self, tenant: str, lease: Lease) -> str:
        """The token of a lease; the same lease is the same token."""
        values = [getattr(lease, name) for name in _FIELDS]
        return self._opaque.seal(tenant, json.dumps(values, separators=(",", ":")).encode())

    def read(self, tenant: str, token: str) -> Lease | None:
        """The lease behind a token, or None where it is not one that this tenant was given."""
        content = self._opaque.open(tenant, token)
        if content is None:
            return None
        return Lease(**dict(zip(_FIELDS, json.loads(content), strict=True)))
