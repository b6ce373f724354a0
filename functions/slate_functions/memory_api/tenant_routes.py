"""The routes of a tenant's settings."""

from __future__ import annotations

from slate.contract.tenants import PutTenant, ShownTenant
from slate.domain.access import Principal, Scope
from slate.service.tenants import Tenants
from slate_functions.http.dependencies import IfMatch
from slate_functions.http.routes import get, put
from slate_functions.memory_api import tenant_examples as examples


class TenantRoutes:
    """What a tenant sets for all that is kept for it."""

    def __init__(self, tenants: Tenants) -> None:
        self._tenants = tenants

    @get("/v1/tenant", scope=Scope.ADMIN, gives=examples.TENANT)
    def show_tenant(self, principal: Principal) -> ShownTenant:
        """The tenant's settings; version 0 where none were ever set."""
        return self._tenants.show(principal)

    @put("/v1/tenant", scope=Scope.ADMIN, sends=examples.PUT_TENANT, gives=examples.TENANT)
    def put_tenant(self, principal: Principal, body: PutTenant, if_match: IfMatch) -> ShownTenant:
        """Replace all settings: one that is left out has its default again. They apply within a minute."""
        return self._tenants.put(principal, body, if_match)
