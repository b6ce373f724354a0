"""Tenants' settings in this process; they go with it."""

from __future__ import annotations

from threading import Lock

from slate.domain.errors import VersionMismatch
from slate.domain.tenants import DEFAULTS, TenantSettings


class InProcessTenantStore:
    """Keeps them."""

    def __init__(self) -> None:
        self._kept: dict[str, TenantSettings] = {}
        self._lock = Lock()

    def get(self, tenant: str) -> TenantSettings:
        """The settings; the defaults where none were set."""
        return self._kept.get(tenant, DEFAULTS)

    def put(self, tenant: str, settings: TenantSettings) -> TenantSettings:
        """Over the version before."""
        with self._lock:
            current = self.get(tenant)
            if current.version != settings.version - 1:
                raise VersionMismatch(current.model_dump(mode="json"))
            self._kept[tenant] = settings
        return settings
