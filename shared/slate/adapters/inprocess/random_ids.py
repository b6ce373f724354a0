"""Ids and secrets from the operating system's randomness."""

from __future__ import annotations

import secrets
import uuid


class RandomIds:
    """Makes random ids and secrets."""

    def new(self) -> str:
        """32 hexadecimal digits, 122 of its bits random."""
        return uuid.uuid4().hex

    def secret(self) -> str:
        """256 random bits in URL-safe text."""
        return secrets.token_urlsafe(32)
