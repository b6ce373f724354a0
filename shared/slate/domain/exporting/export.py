"""An export of what is kept about a person: asked for, made page by page, kept for a while, gone with the person."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant


class ExportState(StrEnum):
    """How far it is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


class Export(BaseModel):
    """An export; its pages are read once it is done."""

    model_config = ConfigDict(frozen=True)

    export_id: str
    subject: str
    agent: str = Field(description="whose key asked for it")
    state: ExportState = ExportState.QUEUED
    pages: int = Field(default=0, description="pages that are made")
    lines: dict[str, int] = Field(default_factory=dict, description="lines so far, by their kind")
    created_at: Instant
    updated_at: Instant
    expires_at: Instant = Field(description="it is gone then")
    version: int = 1
