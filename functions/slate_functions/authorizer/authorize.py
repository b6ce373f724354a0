"""Who sends this request, as API Gateway asks it: payload format 2.0, simple answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slate.domain.access import Principal
from slate.domain.errors import Unauthenticated
from slate.service.access import Access

_SCHEME: Final = "bearer "


class Unauthorized(Exception):
    """Nobody we know sends this.

    API Gateway answers ``isAuthorized: false`` with 403, which says that the caller is known and may not; an
    authorizer that fails with exactly this text makes it a 401, which says to send a credential.
    """

    def __init__(self) -> None:
        super().__init__("Unauthorized")


class Authorizer:
    """Asks for the credential in ``Authorization: Bearer``; which scope a call needs is its route's to say.

    So one decision, kept by API Gateway for up to a minute, serves every route.
    """

    def __init__(self, access: Access) -> None:
        self._access = access

    def __call__(self, event: Mapping[str, Any], _: Any = None) -> dict[str, Any]:
        """The decision, with the caller as texts: the only values that API Gateway hands on.

        Raises:
            Unauthorized: there is no credential, or not one of ours.
        """
        header = str(event.get("headers", {}).get("authorization", ""))
        if header[: len(_SCHEME)].lower() != _SCHEME:
            raise Unauthorized
        try:
            principal = self._access.authenticate(header[len(_SCHEME) :].strip())
        except Unauthenticated:
            raise Unauthorized from None
        return {"isAuthorized": True, "context": _context(principal)}


def _context(principal: Principal) -> dict[str, str]:
    return {
        "tenant": principal.tenant,
        "agent": principal.agent,
        "key_id": principal.key_id,
        "scopes": " ".join(sorted(principal.scopes)),
        "roles": " ".join(sorted(principal.roles)),
        "subject": principal.subject or "",
    }
