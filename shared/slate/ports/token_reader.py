"""Tokens that somebody else signs."""

from __future__ import annotations

from typing import Protocol

from slate.domain.claims import Claims


class TokenReader(Protocol):
    """Tells a token that an issuer signed from any other text."""

    def read(self, token: str) -> Claims:
        """What the token says. Only that the issuer says so is certain: for whom and until when is still to be checked.

        Raises:
            Unauthenticated: it is no token, or not signed by a key of the issuer's.
            Unavailable: the issuer's keys cannot be had now, so that nothing is known of the token.
        """
        ...
