"""Keeps tenants' settings."""

from __future__ import annotations

from typing import Protocol

from slate.domain.tenants import TenantSettings


class TenantStore(Protocol):
    """A tenant's settings, whole."""

    def get(self, tenant: str) -> TenantSettings:
        """The settings; the defaults where none were set."""
        ...

    def put(self, tenant: str, settings: TenantSettings) -> TenantSettings:
        """Replace the settings of the version before ``settings.version``.

        Raises:
            VersionMismatch: they are at another version.
        """
        ...
