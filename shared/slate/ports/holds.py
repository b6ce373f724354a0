"""Holds, as what deletes by itself asks for them: while one stands nothing of the person goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

HELD_MS: Final = 86_400_000
"""What is due on somebody who is held is looked at again after a day."""
Held = Callable[[str, str], bool]
"""Whether something of this tenant's person (tenant, ref) must be kept now; asked once for each batch of work."""


def never_held(_tenant: str, _ref: str) -> bool:
    """Where nothing can be held."""
    return False
