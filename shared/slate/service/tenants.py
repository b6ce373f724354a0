"""A tenant's settings: read by every use case through a small cache, set by who may see to all of the tenant."""

from __future__ import annotations

from typing import Final

from slate.contract.tenants import PutTenant, ShownTenant
from slate.domain.access import Principal
from slate.domain.errors import FieldError, Forbidden, Invalid, VersionMismatch
from slate.domain.lapsing import Lapsing
from slate.domain.summary_schema import faults, warnings
from slate.domain.tenants import DEFAULTS, TenantSettings
from slate.ports.clock import Clock
from slate.ports.counts import Count, Counts, NoCounts
from slate.ports.tenant_store import TenantStore

_CACHE_SIZE: Final = 1_000


class Tenants:
    """Gives and takes settings."""

    def __init__(self, store: TenantStore, clock: Clock, counts: Counts | None = None, *, cache_seconds: int) -> None:
        self._store = store
        self._counts = NoCounts() if counts is None else counts
        self._clock = clock
        self._cache_ms = cache_seconds * 1000
        self._cached = Lapsing[str, TenantSettings](_CACHE_SIZE)

    def of(self, tenant: str) -> TenantSettings:
        """The settings to work by: those of at most ``cache_seconds`` ago."""
        return self._cached.get(tenant, self._clock.now()) or self._keep(tenant, self._store.get(tenant))

    def show(self, principal: Principal) -> ShownTenant:
        """The settings as they are.

        Raises:
            Forbidden: the key is bound to a subject.
        """
        _unbound(principal)
        return _shown(self._keep(principal.tenant, self._store.get(principal.tenant)))

    def put(self, principal: Principal, body: PutTenant, version: int | None) -> ShownTenant:
        """Replace all settings, at this version if one is given; elsewhere they apply within ``cache_seconds``.

        Raises:
            Forbidden: the key is bound to a subject.
            Invalid: lists every setting that is wrong.
            VersionMismatch: they are at another version.
        """
        _unbound(principal)
        wrong = [*([] if body.summary_schema is None else faults(body.summary_schema)), *_thresholds(body)]
        if wrong:
            raise Invalid(wrong)
        current = self._store.get(principal.tenant)
        if version is not None and version != current.version:
            raise VersionMismatch(_shown(current).model_dump(mode="json"))
        kept = self._store.put(principal.tenant, _replaced(current, body))
        self._counts.add(Count.SETTINGS)
        return _shown(self._keep(principal.tenant, kept))

    def _keep(self, tenant: str, settings: TenantSettings) -> TenantSettings:
        now = self._clock.now()
        return self._cached.keep(tenant, settings, now + self._cache_ms, now)


def _replaced(current: TenantSettings, body: PutTenant) -> TenantSettings:
    schema = DEFAULTS.summary_schema if body.summary_schema is None else body.summary_schema
    changed = schema != current.summary_schema
    given = body.model_dump(exclude={"summary_schema"}, exclude_none=True)
    if body.half_lives is not None:
        given["half_lives"] = {**DEFAULTS.half_lives, **body.half_lives}
    return TenantSettings(
        **given,
        summary_schema=schema,
        summary_schema_version=current.summary_schema_version + changed,
        version=current.version + 1,
    )


def _thresholds(body: PutTenant) -> list[FieldError]:
    limbo = DEFAULTS.limbo_below if body.limbo_below is None else body.limbo_below
    forget = DEFAULTS.forget_below if body.forget_below is None else body.forget_below
    if forget < limbo:
        return []
    message = f"must lie below limbo_below ({limbo:g}): a fact is in limbo before it is forgotten"
    return [{"field": "forget_below", "message": message}]


def _shown(settings: TenantSettings) -> ShownTenant:
    return ShownTenant(**settings.model_dump(), warnings=tuple(warnings(settings.summary_schema)))


def _unbound(principal: Principal) -> None:
    """A key that reaches one person's data has no say over settings, which apply to everybody's."""
    if principal.subject is not None:
        raise Forbidden("this key is bound to one subject; use one that is not to see to the tenant's settings")
