"""What a fact said before it was edited: read by whoever has a version of it in an entry of the audit."""

from __future__ import annotations

from typing import Protocol

from slate.domain.facts.model import Fact


class FactVersions(Protocol):
    """Gives facts as they were."""

    def at(self, tenant: str, ref: str, fact_id: str, version: int) -> Fact | None:
        """The fact at the last version that said what this one did; none where it has said that ever since.

        Raises:
            SubjectErased, SubjectHeld: the person's data is not to be read now.
        """
        ...
