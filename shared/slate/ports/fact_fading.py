"""How facts fade, wake and move in importance: each a conditional step on the fact as it was read.

As in ``fact_store``, every method may be repeated, and ``ref`` stands for the subject.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from slate.domain.facts.model import Fact, FactState
from slate.domain.forgetting.acts import Act


class Fade(NamedTuple):
    """Where a fact goes, and what the log says of it."""

    state: FactState
    act: Act


class Settled(NamedTuple):
    """A fact after a look at it."""

    fact: Fact
    was: FactState
    due: int | None
    """When it was due, as its entry in the timer said."""

    @property
    def went(self) -> bool:
        """Whether it went anywhere."""
        return self.fact.state is not self.was


class FactFading(Protocol):
    """Lets facts fade and wake."""

    def settle(self, tenant: str, ref: str, fact_id: str, decide: Callable[[Fact], Fade | None]) -> Settled | None:
        """Look at a fact: let it go where ``decide`` says, with its entry in the log, or look at it again later.

        Nothing where there is no such fact any more.
        """
        ...

    def wake(self, tenant: str, ref: str, fact_ids: Sequence[str], change: Callable[[Fact], Fact | None]) -> list[Fact]:
        """Write what ``change`` makes of each; what comes back from limbo is noted in the log. Answers what woke."""
        ...

    def step(self, tenant: str, ref: str, fact_id: str, once: str, reason: str, change: Callable[[Fact], Fact]) -> bool:
        """Move a fact's importance, logged; the same ``once`` moves it once. Answers whether it moved."""
        ...

    def deleted(self, tenant: str, ref: str, fact_ids: Sequence[str]) -> set[str]:
        """Those of these facts that somebody forgot on purpose, or of which nothing is left."""
        ...

    def living(self, tenant: str, ref: str) -> list[Fact]:
        """Every fact that is active or in limbo: one query."""
        ...

    def count(self, tenant: str, ref: str, most: int) -> int:
        """How many these are; counting ends above ``most``."""
        ...

    def note_query(self, tenant: str, ref: str, query: str) -> None:
        """Remember what was asked about a person; the last few different queries are kept, sealed."""
        ...

    def note_served(self, tenant: str, ref: str, session_id: str, fact_ids: Sequence[str]) -> None:
        """Remember that a session was served these facts; its close looks at what became of them."""
        ...

    def served(self, tenant: str, ref: str, session_id: str) -> list[str]:
        """The facts that a session was served."""
        ...

    def queries(self, tenant: str, ref: str) -> list[str]:
        """What was asked lately, the oldest first."""
        ...
