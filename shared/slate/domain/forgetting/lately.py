"""What a person was asked about, and served, lately: it tells later what is aligned with use, and what was of use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

ASKED_KEPT: Final = 20
"""Different queries of a person that are remembered."""
SERVED_KEPT: Final = 200
"""Facts of a session."""


def with_query(asked: Sequence[str], query: str) -> list[str]:
    """The last different queries with one more, the oldest first."""
    return [*(each for each in asked if each != query), query][-ASKED_KEPT:]


def with_served(served: Sequence[str], fact_ids: Iterable[str]) -> list[str]:
    """The facts that a session was served, with some more."""
    return list(dict.fromkeys([*served, *fact_ids]))[:SERVED_KEPT]
