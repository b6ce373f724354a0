"""Puts together what is said and remembered."""

from __future__ import annotations

from slate.adapters.dynamodb.answered_store import DynamoAnsweredStore
from slate.adapters.dynamodb.context_store import DynamoContextStore
from slate.adapters.dynamodb.document_store import DynamoDocumentStore
from slate.adapters.dynamodb.episode_store import DynamoEpisodeStore
from slate.adapters.dynamodb.export_store import DynamoExportStore
from slate.adapters.dynamodb.extraction_store import DynamoExtractionStore
from slate.adapters.dynamodb.fact_fading import DynamoFactFading
from slate.adapters.dynamodb.fact_records import DynamoFactRecords
from slate.adapters.dynamodb.fact_store import DynamoFactStore
from slate.adapters.dynamodb.fact_versions import DynamoFactVersions
from slate.adapters.dynamodb.graph_store import DynamoGraphStore
from slate.adapters.dynamodb.memory_timer import DynamoMemoryTimer
from slate.adapters.dynamodb.scrub_store import DynamoScrubs
from slate.adapters.dynamodb.session_store import DynamoSessionStore
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.subject_records import DynamoSubjectRecords
from slate.adapters.dynamodb.task_store import DynamoTaskStore
from slate.adapters.dynamodb.tenant_store import DynamoTenantStore
from slate.adapters.dynamodb.usage_meter import DynamoUsageMeter
from slate.adapters.dynamodb.value_store import DynamoValueStore
from slate.adapters.dynamodb.view_store import DynamoViewStore
from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.domain.forgetting.policy import DecayPolicy
from slate.domain.topics import Topics
from slate.domain.transcript import Window
from slate.ports.holds import Held
from slate.ports.memory_timer import MemoryKind
from slate.service.context.giving import Contexts
from slate.service.context.memory_source import MemorySource
from slate.service.context.session_source import SessionSource
from slate.service.context.task_source import TaskSource
from slate.service.exporting import Exporting
from slate.service.facts.extracting import Extracting, TurnWatch
from slate.service.facts.remembering import Facts
from slate.service.facts.reviewing import Reviewing
from slate.service.forgetting.examining import Examining
from slate.service.forgetting.feedback import Learning
from slate.service.forgetting.leaving import Leaving
from slate.service.forgetting.repeating import Repeating
from slate.service.forgetting.scrubbing import Scrubbing
from slate.service.forgetting.undoing import Undoing
from slate.service.forgetting.waking import Waking
from slate.service.idempotency import Idempotency
from slate.service.paging import Cursors
from slate.service.search.finished import Finished
from slate.service.search.retrieval import Retrieval, Stores
from slate.service.sessions.ending import Ending
from slate.service.sessions.keeping import Sessions
from slate.service.sessions.pinning import Pinning
from slate.service.sessions.talking import Talking
from slate.service.summaries import CALIBRATED, RULES_ONLY, Summaries, SummaryBounds
from slate.service.tenants import Tenants
from slate.service.watches import Watches
from slate.settings import Settings
from slate.wiring.parts import MEMORY, Audit, Forgetting, Memory, Parts
from slate.wiring.remembering import FactStores, remembering_of


def memory_of(
    settings: Settings,
    parts: Parts,
    storage: Storage,
    sessions: DynamoSessionStore,
    idempotency: Idempotency,
    cursors: Cursors,
    held: Held,
    audit: Audit,
) -> Memory:
    """The use cases of memory, over the parts given and the stores that tasks share with it."""
    clock, ids, counter, queue = parts.clock, parts.ids, parts.counter, parts.queues(MEMORY)
    tenants = Tenants(DynamoTenantStore(storage, ids), clock, parts.counts, cache_seconds=settings.tenant_cache_seconds)
    summaries = Summaries(
        sessions,
        tenants,
        parts.embedder,
        counter,
        queue,
        DynamoUsageMeter(storage),
        model=None if settings.summary_model == RULES_ONLY else parts.model,
        bounds=SummaryBounds(
            settings.segment_exchanges,
            settings.segment_window_percent,
            settings.default_window,
            settings.summary_tokens,
            settings.merged_summary_tokens,
        ),
        similarity=None if settings.topic_similarity == CALIBRATED else float(settings.topic_similarity),
        leaves=Leaving(sessions, DynamoFactRecords(storage), storage.codec.keyring).out,
    )
    keyring, records = storage.codec.keyring, DynamoFactRecords(storage)
    ending = Ending(
        sessions,
        summaries,
        queue,
        ids,
        clock,
        idle_seconds=settings.session_idle_seconds,
        held=lambda tenant, subject: held(tenant, keyring.name(tenant, subject)),
    )
    pinning = Pinning(sessions, counter)

    def days(tenant: str) -> int:
        return tenants.of(tenant).session_retention_days or settings.session_retention_days

    def policies(tenant: str) -> DecayPolicy:
        return tenants.of(tenant).decay

    facts, fades = DynamoFactStore(storage, ids, policies), DynamoFactFading(storage, ids, policies)
    exporting = Exporting(
        DynamoExportStore(storage),
        DynamoSubjectRecords(storage),
        keyring,
        idempotency,
        cursors,
        queue,
        clock,
        days=settings.export_days,
    )
    remembering = remembering_of(
        FactStores(
            facts=facts,
            fades=fades,
            records=records,
            contexts=DynamoContextStore(storage),
            timer=DynamoMemoryTimer(storage),
        ),
        tenants,
        keyring,
        queue,
        clock,
        parts.counts,
        operate=audit.writing.jobs("decay"),
        cap=settings.decay_acts_per_tenant,
        share_ms=settings.decay_minutes * 54_000,
        others={
            MemoryKind.SESSION: lambda due, deadline: ending.tick(due.tenant, due.owner, deadline),
            MemoryKind.CONTENT: lambda due, _: sessions.drop_content(due.tenant, due.owner, due.name),
            MemoryKind.AUDIT: lambda due, _: audit.reading.close(due.tenant, due.owner),
            MemoryKind.EXPORT: lambda due, deadline: exporting.tick(due.tenant, due.owner, deadline),
            MemoryKind.SCRUB: lambda due, deadline: scrubbing.tick(due, deadline),  # noqa: PLW0108  # it is made below
        },
        held=held,
    )
    deciding, waking = remembering.deciding, remembering.waking
    knowing = Facts(
        facts,
        records,
        deciding,
        tenants,
        keyring,
        idempotency,
        cursors,
        clock,
        versions=DynamoFactVersions(storage),
        counts=parts.counts,
    )
    watches = Watches(summaries, TurnWatch(tenants, queue))
    stores = Stores(
        sessions=sessions,
        facts=facts,
        records=records,
        episodes=DynamoEpisodeStore(storage),
        documents=DynamoDocumentStore(storage, ids),
        keyring=keyring,
    )
    retrieval = Retrieval.over(
        stores,
        index=parts.index,
        scratch=InProcessMemoryIndex,
        embedder=parts.embedder,
        tenants=tenants,
        idempotency=idempotency,
        ids=ids,
        clock=clock,
    )
    repeating = Repeating(DynamoAnsweredStore(storage), sessions, keyring)
    contexts = _contexts(settings, parts, storage, stores, retrieval, waking, repeating)
    timer, scrubs = DynamoMemoryTimer(storage), DynamoScrubs(storage)
    scrubbing = Scrubbing(
        scrubs, knowing, records, tenants, timer, clock, contexts.redacted, unsaid=repeating.unsaid, held=held
    )
    learning = Learning(fades, contexts, sessions, tenants, keyring, parts.counts)
    return Memory(
        sessions=Sessions(sessions, ending, pinning, idempotency, cursors, ids, clock, retention_days=days),
        talking=Talking(sessions, watches, counter, idempotency, cursors, clock),
        pinning=pinning,
        summaries=summaries,
        extracting=Extracting(
            sessions,
            DynamoExtractionStore(storage),
            deciding,
            tenants,
            keyring,
            idempotency,
            queue,
            ids=ids,
            clock=clock,
            model=None if settings.extraction_model == RULES_ONLY else parts.model,
            heard=waking.heard,
            listened=repeating.listened,
            closed=learning.reflect,
        ),
        facts=knowing,
        reviewing=Reviewing(records, knowing, deciding, tenants, keyring, cursors, clock),
        tenants=tenants,
        decay=remembering.decay,
        contexts=contexts,
        retrieval=retrieval,
        finished=Finished(
            DynamoGraphStore(storage), DynamoTaskStore(storage), DynamoViewStore(storage), stores.episodes
        ),
        exporting=exporting,
        forgetting=Forgetting(
            fading=remembering.fading,
            evicting=remembering.evicting,
            waking=waking,
            learning=learning,
            undoing=Undoing(records, knowing, keyring, cursors, clock),
            examining=Examining(fades, records, tenants, keyring, clock),
        ),
    )


def _contexts(
    settings: Settings,
    parts: Parts,
    storage: Storage,
    stores: Stores,
    retrieval: Retrieval,
    waking: Waking,
    repeating: Repeating,
) -> Contexts:
    """Each source of sections that a context may have."""
    graphs, counter, sessions = DynamoGraphStore(storage), parts.counter, stores.sessions
    likeness = (
        parts.embedder.same_topic if settings.topic_similarity == CALIBRATED else float(settings.topic_similarity)
    )
    window = Window(settings.window_exchanges_least, settings.window_exchanges_most)
    digests = settings.context_summaries != "off"
    sources = (
        SessionSource(
            sessions,
            parts.embedder,
            Topics(likeness),
            counter,
            window,
            summaries=digests,
            counts=parts.counts,
            earlier=repeating.earlier,
        ),
        TaskSource(graphs, DynamoTaskStore(storage), DynamoValueStore(storage), storage.codec.keyring, counter),
    )
    memory = MemorySource(
        retrieval.facts,
        retrieval.recalling,
        retrieval.episodes,
        retrieval.knowledge,
        stores.records,
        sessions,
        stores.keyring,
        counter,
    )
    return Contexts(
        sources,
        memory,
        DynamoContextStore(storage),
        sessions,
        graphs,
        counter,
        parts.ids,
        parts.clock,
        window=settings.default_window,
        receipt_days=settings.context_receipt_days,
        given=waking.given,
        deleted=waking.deleted,
    )
