"""The two names that a Slate's indices go by in a domain, whichever they are at the moment."""

from __future__ import annotations

from typing import Final, NamedTuple, Self


class Aliases(NamedTuple):
    """Several Slates may share a domain, each by a name of its own."""

    searched: str
    """One index."""
    kept: str
    """All that entries are put into and removed from: two while one is made anew."""

    @classmethod
    def of(cls, name: str) -> Self:
        """Those of the Slate whose index goes by this name."""
        return cls(name, f"{name}-write")


DEPLOYED: Final = Aliases.of("slate-memories")
"""Those of a domain of one's own."""
