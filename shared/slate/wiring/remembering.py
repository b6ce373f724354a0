"""Puts together what decides about facts and what lets them fade, over whichever stores there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slate.ports.clock import Clock
from slate.ports.context_store import ContextStore
from slate.ports.counts import Counts
from slate.ports.fact_fading import FactFading
from slate.ports.fact_records import FactRecords
from slate.ports.fact_store import FactStore
from slate.ports.holds import Held, never_held
from slate.ports.keyring import Keyring, Operate
from slate.ports.memory_timer import MemoryKind, MemoryTimer
from slate.ports.queue import Queue
from slate.service.decay import Decay, Tick
from slate.service.facts.deciding import Deciding
from slate.service.forgetting.evicting import Evicting
from slate.service.forgetting.fading import Fading
from slate.service.forgetting.waking import Waking
from slate.service.tenants import Tenants


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStores:
    """Where facts are kept, what stands beside them, and what falls due of them."""

    facts: FactStore
    fades: FactFading
    records: FactRecords
    contexts: ContextStore
    timer: MemoryTimer


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembering:
    """The use cases."""

    deciding: Deciding
    evicting: Evicting
    waking: Waking
    fading: Fading
    decay: Decay


def remembering_of(
    stores: FactStores,
    tenants: Tenants,
    keyring: Keyring,
    queue: Queue,
    clock: Clock,
    counts: Counts,
    *,
    operate: Operate,
    cap: int,
    share_ms: int,
    others: Mapping[MemoryKind, Tick],
    held: Held = never_held,
) -> Remembering:
    """Put it together; ``operate`` begins what falls due, of which a tenant has ``cap`` acts in ``share_ms``.

    ``others``: what else falls due by the same timer.
    """
    evicting = Evicting(stores.fades, tenants, queue, clock, counts, held=held)
    fading = Fading(
        stores.fades,
        stores.facts,
        tenants,
        stores.timer,
        clock,
        counts,
        evicting.ask,
        cap=cap,
        share_ms=share_ms,
        held=held,
    )
    ticks = {
        **others,
        MemoryKind.FACT: lambda due, _: fading.tick(due),
        MemoryKind.LIVING: lambda due, _: fading.tick(due),
    }
    return Remembering(
        deciding=Deciding(stores.facts, stores.records, tenants, clock, evicting.decided),
        evicting=evicting,
        waking=Waking(stores.fades, stores.contexts, tenants, keyring, queue, clock, counts),
        fading=fading,
        decay=Decay(stores.timer, ticks, operate, clock, begins=fading.begin, passes=fading.passes),
    )
