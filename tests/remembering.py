"""What is known of people, with the use cases that decide, serve and forget, over the stores of either kind.

Both are put together by the wiring that the service itself has. What is served goes the way of a context: found, drafted
within a budget, kept as a receipt, told to those who wake it; the queue's messages are delivered at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from hashlib import blake2b
from itertools import count
from typing import Any, Final, NamedTuple

from slate.adapters.dynamodb.context_store import DynamoContextStore
from slate.adapters.dynamodb.fact_fading import DynamoFactFading
from slate.adapters.dynamodb.fact_records import DynamoFactRecords
from slate.adapters.dynamodb.fact_store import DynamoFactStore
from slate.adapters.dynamodb.memory_timer import DynamoMemoryTimer
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.tenant_store import DynamoTenantStore
from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.inprocess.context_store import InProcessContextStore
from slate.adapters.inprocess.counts import ProcessCounts
from slate.adapters.inprocess.facts.fact_fading import InProcessFactFading
from slate.adapters.inprocess.facts.fact_records import InProcessFactRecords
from slate.adapters.inprocess.facts.fact_store import InProcessFactStore
from slate.adapters.inprocess.facts.memory_timer import InProcessMemoryTimer
from slate.adapters.inprocess.facts.people import People
from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.adapters.inprocess.tenant_store import InProcessTenantStore
from slate.domain.assembly import Occasion, assemble
from slate.domain.context import Budget
from slate.domain.facts.model import Candidate, Decision
from slate.domain.fences import Intent
from slate.domain.remembered import facts_draft, reconfirm_draft
from slate.domain.tenants import DEFAULTS
from slate.ports.ids import Ids
from slate.ports.memory_timer import DueMemory, MemoryKind, MemoryTimer
from slate.ports.queue import Message
from slate.service.facts.deciding import Author
from slate.service.forgetting.evicting import EVICT
from slate.service.forgetting.waking import WAKE
from slate.service.search.asking import Reader, Seeking
from slate.service.search.known import FactSearch, Known, Wanted
from slate.service.tenants import Tenants
from slate.wiring.remembering import FactStores, remembering_of

TENANT: Final = "acme"
EVERYBODY: Final = Reader(lambda _readers, _agent: True, None)
OF_FACTS: Final = frozenset({MemoryKind.FACT, MemoryKind.LIVING})
SHARE_MS: Final = 3_240_000
RECEIPT_MS: Final = 30 * 86_400_000


def words(text: str) -> int:
    """Counts for tokens here: what is served is far below any budget."""
    return len(text.split())


class Kept(NamedTuple):
    """The stores, and what else differs between the two kinds."""

    stores: FactStores
    tenants: Tenants
    keyring: Any


class FactTimer:
    """Of a timer, what falls due of facts: nothing else is worked off here."""

    def __init__(self, timer: MemoryTimer) -> None:
        self._timer = timer

    def due(self, shard: int, at_once: int, *, by: int | None = None) -> Iterator[DueMemory]:
        return (due for due in self._timer.due(shard, at_once, by=by) if due.kind in OF_FACTS)

    def postpone(self, due: DueMemory, ms: int) -> None:
        self._timer.postpone(due, ms)


class Names:
    """Stands for a keyring where nothing is sealed: somebody is known by their own name."""

    def ref(self, _tenant: str, subject: str) -> str:
        return subject

    def operation(self, *_of: object) -> Any:
        return nullcontext()


class Numbered:
    """Ids in order, so that a run makes the same ones each time; alike to no other's."""

    def __init__(self) -> None:
        self._count = count(1)

    def new(self) -> str:
        return blake2b(str(next(self._count)).encode(), digest_size=16).hexdigest()

    def secret(self) -> str:
        return self.new()


def on_dynamo(storage: Storage, ids: Ids) -> Kept:
    """The stores that Slate has on AWS."""
    tenants = Tenants(DynamoTenantStore(storage, ids), storage.clock, cache_seconds=60)

    def policies(tenant: str) -> Any:
        return tenants.of(tenant).decay

    stores = FactStores(
        facts=DynamoFactStore(storage, ids, policies),
        fades=DynamoFactFading(storage, ids, policies),
        records=DynamoFactRecords(storage),
        contexts=DynamoContextStore(storage),
        timer=FactTimer(DynamoMemoryTimer(storage)),
    )
    return Kept(stores, tenants, storage.codec.keyring)


def in_process(clock: ManualClock, ids: Ids) -> Kept:
    """Those of this process."""
    tenants = Tenants(InProcessTenantStore(), clock, cache_seconds=60)
    people = People(clock, ids, lambda tenant: tenants.of(tenant).decay)
    stores = FactStores(
        facts=InProcessFactStore(people),
        fades=InProcessFactFading(people),
        records=InProcessFactRecords(people),
        contexts=InProcessContextStore(clock),
        timer=InProcessMemoryTimer(people),
    )
    return Kept(stores, tenants, Names())


class Remembered:
    """People who tell things and ask for them."""

    def __init__(self, kept: Kept, clock: ManualClock, *, cap: int = 10_000, **settings: Any) -> None:
        """``cap`` are the acts of a run; ``settings`` those of the tenant."""
        self.stores, self.tenants, self._keyring = kept
        self.clock, self.counts = clock, ProcessCounts()
        self._messages: list[Message] = []
        self._contexts = count(1)
        if settings:
            self.tenants._store.put(TENANT, DEFAULTS.model_copy(update={**settings, "version": 1}))
        self.uses = remembering_of(
            self.stores,
            self.tenants,
            self._keyring,
            self,
            clock,
            self.counts,
            operate=self._keyring.operation,
            cap=cap,
            share_ms=SHARE_MS,
            others={},
        )
        seeking = Seeking(None, None, InProcessMemoryIndex)
        self.search = FactSearch(self.stores.facts, seeking, self.tenants, clock)

    # ---- the queue

    def send(self, message: Message, *, delay_seconds: int = 0) -> None:
        assert not delay_seconds
        self._messages.append(message)

    def deliver(self) -> None:
        """Every message, and those that come of it."""
        while self._messages:
            message: Mapping[str, Any] = self._messages.pop(0)
            if message["kind"] == WAKE:
                self.uses.waking.served(message)
            else:
                assert message["kind"] == EVICT
                self.uses.evicting.check(message["tenant"], message["ref"])

    # ---- people

    def ref(self, person: str) -> str:
        return str(self._keyring.ref(TENANT, person))

    def tell(self, person: str, statement: str, **more: Any) -> Decision:
        """Somebody says something."""
        candidate = Candidate(statement=statement, observed_at=self.clock.now(), **more)
        with self._keyring.operation(Intent.WRITE, TENANT):
            (decision,) = self.uses.deciding.take(TENANT, self.ref(person), [candidate], Author("ann"))
        self.deliver()
        return decision

    def ask(self, person: str, query: str, *, top: int = 5) -> Known:
        """Somebody is asked about: what a context would show of it, and wake."""
        known = self.search.find(TENANT, self.ref(person), Wanted(query, top=top), EVERYBODY)
        drafts = [facts_draft(known.always, known.best, words), reconfirm_draft(known.asked, words)]
        occasion = Occasion(
            context_id=f"c-{next(self._contexts)}",
            agent="ann",
            subject=person,
            at=self.clock.now(),
            window=128_000,
            counted_by="words",
        )
        context = assemble(drafts, Budget(), words, occasion).model_copy(update={"query": query})
        self.stores.contexts.keep(TENANT, context, self.clock.now() + RECEIPT_MS)
        self.uses.waking.given(TENANT, context)
        self.deliver()
        return known

    # ---- time

    def pass_days(self, days: float) -> int:
        """Time passes, and decay does all that fell due."""
        self.clock.advance(days * 86_400)
        return self.decay()

    def decay(self) -> int:
        done = 0
        while now := self.uses.decay.run_once():
            done += now
        self.deliver()
        return done
