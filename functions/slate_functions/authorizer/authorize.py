"""Who sends this request, as API Gateway asks it: payload format 2.0, simple answer."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from slate.domain.access import Principal
from slate.domain.errors import Unauthenticated
from slate.service.recognising import Recognising

_SCHEME: Final = "bearer "
_log = logging.getLogger(__name__)


class Unauthorized(Exception):
    """Nobody we know sends this.

    API Gateway answers ``isAuthorized: false`` with 403, which says that the caller is known and may not; an
    authorizer that fails with exactly this text makes it a 401, which says to send a credential.
    """

    def __init__(self, why: str) -> None:
        super().__init__("Unauthorized")
        self.why = why


class Authorizer:
    """Asks for the credential in ``Authorization: Bearer``; which scope a call needs is its route's to say.

    So one decision, kept by API Gateway for up to a minute, serves every route.
    """

    def __init__(self, recognising: Recognising) -> None:
        self._recognising = recognising

    def __call__(self, event: Mapping[str, Any], _: Any = None) -> dict[str, Any]:
        """The decision, with the caller as texts: the only values that API Gateway hands on.

        Raises:
            Unauthorized: there is no credential, or not one of ours.
            Unavailable: that cannot be found out now.
        """
        header = str(event.get("headers", {}).get("authorization", ""))
        if header[: len(_SCHEME)].lower() != _SCHEME:
            raise Unauthorized("send a credential: `Authorization: Bearer <api key or token>`")
        try:
            principal = self._recognising.authenticate(header[len(_SCHEME) :].strip())
        except Unauthenticated as refused:
            # The gateway tells the caller nothing more; whoever sets an issuer up finds here what its tokens lack.
            _log.info("refused: %s", refused.detail)
            raise Unauthorized(refused.detail) from None
        return {"isAuthorized": True, "context": _context(principal)}


def _context(principal: Principal) -> dict[str, str]:
    return {
        "tenant": principal.tenant,
        "agent": principal.agent,
        "key_id": principal.key_id,
        "scopes": " ".join(sorted(principal.scopes)),
        "roles": " ".join(sorted(principal.roles)),
        "subject": principal.subject or "",
        # The gateway keeps a decision for as long as it was told, whatever it is about.
        "expires_at": "" if principal.expires_at is None else str(principal.expires_at),
    }
