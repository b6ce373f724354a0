"""Names nobody has used, and secrets nobody can guess, injected so that a test can know them."""

from __future__ import annotations

from typing import Protocol


class Ids(Protocol):
    """Makes ids and secrets."""

    def new(self) -> str:
        """An id that is unique, and valid as an id everywhere."""
        ...

    def secret(self) -> str:
        """At least 128 bits of randomness as text that is valid in a header."""
        ...
