"""Tenants' settings: one sealed item in the tenant's list of settings."""

from __future__ import annotations

from typing import Final

from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, Write
from slate.adapters.dynamodb.keys import list_pk
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import VersionMismatch
from slate.domain.tenants import DEFAULTS, TenantSettings
from slate.ports.ids import Ids

_SAID: Final = "said"


class DynamoTenantStore:
    """Keeps tenants' settings in DynamoDB."""

    def __init__(self, storage: Storage, ids: Ids) -> None:
        self._storage = storage
        self._ids = ids

    def get(self, tenant: str) -> TenantSettings:
        """One read."""
        item = self._storage.calls.get(tenant, _place(tenant))
        return DEFAULTS if item is None else self._opened(tenant, item)

    def put(self, tenant: str, settings: TenantSettings) -> TenantSettings:
        """One conditional put; a repeat after a lost reply knows its own by a mark."""
        key, by = _place(tenant), self._ids.new()
        said = settings.model_dump(mode="json", exclude={"version"})
        item: Item = {
            **key.attributes,
            "version": settings.version,
            "by": by,
            _SAID: self._storage.codec.seal(tenant, None, key, _SAID, said),
        }
        before = settings.version - 1
        condition = "#version = :before" if before else "attribute_not_exists(#pk)"
        try:
            self._storage.calls.write(tenant, Write(key, condition, {":before": before}, item=item))
        except ConditionFailed as failed:
            if failed.old is not None and failed.old["by"] == by:
                return settings
            current = DEFAULTS if failed.old is None else self._opened(tenant, failed.old)
            raise VersionMismatch(current.model_dump(mode="json")) from None
        return settings

    def _opened(self, tenant: str, item: Item) -> TenantSettings:
        said = self._storage.codec.open(tenant, None, _place(tenant), _SAID, item[_SAID])
        return TenantSettings.model_validate({**said, "version": item["version"]})


def _place(tenant: str) -> Key:
    return Key(list_pk(tenant, "settings"), "TENANT")
