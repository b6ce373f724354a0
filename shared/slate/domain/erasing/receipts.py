"""What a receipt claims: of which stores something was counted, erased and looked for again, and until when copies lie.

A receipt is handed to people outside: it holds no content, no subject's id and no ref. ``subject_digest`` binds it to
the person all the same, for whoever has the ref: it is salted with the erasure's id, so that two receipts of one person
show no likeness, and a ref has 128 bits, so that none is found by trying.
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.instants import Instant

FORMAT: Final = 1
"""Of the claims; it grows when one changes its meaning."""
ISSUER: Final = "slate"


class Erased(StrEnum):
    """Of what the receipt says that it is gone."""

    SUBJECT = "subject"
    TENANT = "tenant"


class StoreCount(BaseModel):
    """One store: what was found in it, what was taken out, what was left when it was looked through again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    counted: int = Field(ge=0, description="what was there when the fence was up")
    erased: int = Field(ge=0, description="what was removed; more than counted where late writes were swept up")
    after: int = Field(ge=0, description="what was left when all was looked through again: 0")


class Horizons(BaseModel):
    """When the last copy goes that nobody can reach into: what it holds is sealed, and its keys are gone earlier."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: Instant = Field(description="when point-in-time recovery of the keys ends: sealed copies open no more")
    snapshots: Instant = Field(description="when the last automatic snapshot of the search index is dropped")
    backups: Instant = Field(description="when point-in-time recovery, and the bucket's old versions, end")


class ReceiptClaims(BaseModel):
    """What is signed. As JSON it is the payload of the receipt: instants as RFC 3339, names as they stand here."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    iss: str = ISSUER
    jti: str = Field(description="the erasure's id")
    format: int = FORMAT
    slate: str = Field(description="the version of Slate that erased")
    erased: Erased = Erased.SUBJECT
    tenant: str
    subject_digest: str | None = Field(default=None, description="of the ref, see `subject_digest`; none of a tenant")
    epoch: int | None = Field(default=None, description="the epoch that began with it: content of earlier ones is gone")
    requested_at: Instant
    fenced_at: Instant = Field(description="from then on nothing was served")
    verified_at: Instant = Field(description="when every store was found empty")
    signed_at: Instant
    keys_shredded: int = Field(ge=0, description="data keys that were destroyed")
    stores: dict[str, StoreCount] = Field(description="every store that there is, by its name")
    horizons: Horizons


def subject_digest(erasure_id: str, ref: str) -> str:
    """What binds a receipt to a person: SHA-256 over erasure and ref, in hexadecimal."""
    # A NUL stands in neither, so that no two pairs read alike.
    return sha256(f"{erasure_id}\0{ref}".encode()).hexdigest()
