"""Holds: somebody's reason why a person's data must stay for now. While one stands nothing of it is served either."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant


class Hold(BaseModel):
    """A hold on one person's data; there may be several, and each ends by itself or is lifted."""

    model_config = ConfigDict(frozen=True)

    hold_id: str
    subject: str | None = Field(default=None, description="the person; null where nothing is left that names them")
    reason: str | None = Field(default=None, description="why; null likewise")
    until: Instant | None = Field(default=None, description="when it ends by itself; null: when it is lifted")
    created_at: Instant
    created_by: str

    def stands(self, now: int) -> bool:
        """Whether its time is not over."""
        return self.until is None or self.until > now
