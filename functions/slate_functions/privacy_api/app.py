"""The privacy API's app: its groups of routes over the use cases."""

from __future__ import annotations

from typing import Final

from slate.wiring.parts import Slate
from slate_functions.privacy_api.routes_audit import AuditRoutes
from slate_functions.privacy_api.routes_erasures import ErasureRoutes
from slate_functions.privacy_api.routes_exports import ExportRoutes
from slate_functions.privacy_api.routes_holds import HoldRoutes
from slate_functions.privacy_api.routes_receipts import ReceiptRoutes

GROUPS: Final = (ErasureRoutes, ReceiptRoutes, HoldRoutes, ExportRoutes, AuditRoutes)
"""In the order of the document."""


def privacy_groups(slate: Slate) -> tuple[object, ...]:
    """Every group of routes of the privacy API."""
    privacy = slate.privacy
    return (
        ErasureRoutes(privacy.erasing),
        ReceiptRoutes(privacy.proving),
        HoldRoutes(privacy.holding),
        ExportRoutes(slate.memory.exporting),
        AuditRoutes(slate.audit.reading),
    )
