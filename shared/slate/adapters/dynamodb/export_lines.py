"""How each kind of item reads as a line of an export: opened as its own store opens it, with where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import Item
from slate.adapters.dynamodb.context_store import DynamoContextStore
from slate.adapters.dynamodb.episode_store import DynamoEpisodeStore
from slate.adapters.dynamodb.fact_items import FactItems
from slate.adapters.dynamodb.graph_store import DynamoGraphStore
from slate.adapters.dynamodb.key_store import DynamoApiKeyStore
from slate.adapters.dynamodb.keys import partition_of
from slate.adapters.dynamodb.session_items import SessionItems
from slate.adapters.dynamodb.session_store import DynamoSessionStore
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.task_items import TaskReader
from slate.adapters.dynamodb.value_items import ValueItems, is_live
from slate.domain.errors import NotFound
from slate.domain.exporting.records import Provenance, Record
from slate.domain.facts.model import Fact, Source

Line = Callable[[str, Item], Record | None]
"""The line of an item of a tenant; none where the item says nothing, or its time is over."""


class ExportLines:
    """Reads items as lines; ``kinds`` maps each kind of line to what reads it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._facts = FactItems(storage)
        self._sessions = SessionItems(storage)
        self._values = ValueItems(storage)
        self._tasks = TaskReader(storage)
        self._graphs = DynamoGraphStore(storage)
        self._episodes = DynamoEpisodeStore(storage)
        self._contexts = DynamoContextStore(storage)
        self._extractions = DynamoSessionStore(storage)
        self._keys = DynamoApiKeyStore(storage.calls, storage.codec, storage.clock)
        self.kinds: Final[Mapping[str, Line]] = {
            "fact": self._fact,
            "earlier_fact": self._earlier_fact,
            "notice": self._notice,
            "quarantined": self._quarantined,
            "forgetting": self._forgetting,
            "consents": self._consents,
            "queries": self._queries,
            "session": self._session,
            "system": self._system,
            "pinned": self._pinned,
            "summary": self._summary,
            "segment": self._segment,
            "turn": self._turn,
            "value": self._value,
            "earlier_value": self._value,
            "extraction": self._extraction,
            "material": self._material,
            "episode": self._episode,
            "context": self._context,
            "graph": self._graph,
            "task": self._task,
            "api_key": self._api_key,
        }

    # ---- what is known

    def _fact(self, tenant: str, item: Item) -> Record:
        fact = self._facts.fact(tenant, item)
        made = {"at": fact.created_at, "agent": fact.agent, "version": fact.version, **_source(fact.source)}
        return _record("fact", fact.fact_id, "facts", fact, **made)

    def _earlier_fact(self, tenant: str, item: Item) -> Record:
        fact = Fact.model_validate(self._facts.opened(tenant, item))
        made = {"at": fact.updated_at, "agent": fact.agent, "version": fact.version, **_source(fact.source)}
        return _record("earlier_fact", f"{fact.fact_id}/versions/{fact.version}", "facts", fact, **made)

    def _notice(self, tenant: str, item: Item) -> Record:
        notice = self._facts.notice(tenant, item)
        return _record("notice", notice.notice_id, "notices", notice, at=notice.at, version=notice.version)

    def _quarantined(self, tenant: str, item: Item) -> Record:
        held = self._facts.held(tenant, item)
        made = {"at": held.at, "version": held.version, **_source(held.source)}
        return _record("quarantined", held.quarantine_id, "quarantine", held, **made)

    def _forgetting(self, tenant: str, item: Item) -> Record:
        entry = self._facts.log_entry(tenant, item)
        made = {"at": entry.at, "agent": entry.actor, "session": entry.session_id, "rule": entry.rule}
        return _record("forgetting", entry.log_id, "forgetting_log", entry, version=entry.version, **made)

    def _consents(self, tenant: str, item: Item) -> Record:
        consents = self._facts.consents(tenant, item)
        return _record("consents", "consents", "consents", consents, version=consents.version)

    def _queries(self, tenant: str, item: Item) -> Record:
        asked = self._facts.opened(tenant, item)
        return _record("queries", "queries", "use", {"queries": asked}, version=item["version"])

    # ---- what was said

    def _session(self, tenant: str, item: Item) -> Record:
        session = self._sessions.session(tenant, item)
        made = {"at": session.created_at, "agent": session.agent, "session": session.session_id}
        return _record("session", session.session_id, "sessions", session, version=session.version, **made)

    def _system(self, tenant: str, item: Item) -> Record:
        said = {"system": self._sessions.opened(tenant, item)}
        return _record("system", f"{_owner(item)}/system", "sessions", said, session=_owner(item))

    def _pinned(self, tenant: str, item: Item) -> Record:
        state = self._sessions.pinned(tenant, item)
        made = {"session": _owner(item), "version": state.version}
        return _record("pinned", f"{_owner(item)}/pinned", "sessions", state.pinned, **made)

    def _summary(self, tenant: str, item: Item) -> Record | None:
        merged = self._sessions.merged(tenant, item)
        if merged is None or not merged.segments:
            return None  # it was withdrawn
        made = {"session": _owner(item), "version": merged.version}
        return _record("summary", f"{_owner(item)}/summary", "summaries", merged, **made)

    def _segment(self, tenant: str, item: Item) -> Record:
        segment = self._sessions.segment(tenant, item)
        by = None if segment.summary is None else segment.summary.made_by
        made = {"session": _owner(item), "rule": by, "version": segment.edition}
        return _record("segment", f"{_owner(item)}/segments/to-{segment.last_seq}", "summaries", segment, **made)

    def _turn(self, tenant: str, item: Item) -> Record | None:
        for turn in self._sessions.whole_turns(tenant, [item]):
            made = {"at": turn.at, "agent": turn.agent, "session": _owner(item), "seq": turn.seq}
            return _record("turn", f"{_owner(item)}/turns/{turn.seq}", "sessions", turn, version=turn.version, **made)
        return None  # what was too large for its item was deleted meanwhile

    def _extraction(self, tenant: str, item: Item) -> Record | None:
        try:
            found = self._extractions.extraction(tenant, _owner(item))
        except NotFound:
            return None
        made = {"at": found.created_at, "session": found.session_id, "version": found.version}
        return _record("extraction", found.extraction_id, "extractions", found, **made)

    def _material(self, tenant: str, item: Item) -> Record:
        said = {"material": contents.read(self._storage, tenant, item)}
        return _record("material", f"{_owner(item)}/material", "extractions", said)

    # ---- what was done

    def _episode(self, tenant: str, item: Item) -> Record:
        episode = self._episodes.opened(tenant, item)
        made = {"at": episode.created_at, "agent": episode.agent, "source": episode.source}
        return _record("episode", episode.episode_id, "episodes", episode, version=episode.version, **made)

    def _context(self, tenant: str, item: Item) -> Record | None:
        if not str(item["sk"]).endswith("#000"):
            return None  # a further part: the first stands for all
        try:
            context = self._contexts.get(tenant, _owner(item))
        except NotFound:
            return None
        made = {"at": context.created_at, "agent": context.agent, "session": context.session, "graph": context.graph}
        return _record("context", context.context_id, "contexts", context, **made)

    def _graph(self, tenant: str, item: Item) -> Record:
        head = self._graphs.opened(tenant, item)
        made = {"at": head.created_at, "graph": head.graph_id, "version": head.version}
        return _record("graph", head.graph_id, "graphs", head, **made)

    def _task(self, tenant: str, item: Item) -> Record:
        task = self._tasks.task(tenant, item)
        made = {"at": task.created_at, "agent": task.agent, "graph": task.graph_id, "version": task.version}
        return _record("task", f"{task.graph_id}/tasks/{task.task_id}", "graphs", task, **made)

    def _value(self, tenant: str, item: Item) -> Record | None:
        if not is_live(item) or (contents.CONTENT not in item and contents.BLOB not in item):
            return None  # deleted: what is left of it says nothing
        value = self._values.value(tenant, item)
        kind = "value" if str(item["sk"]).startswith("V#") else "earlier_value"
        owner = "graph" if partition_of(item["pk"]).letter == "G" else "session"
        made: dict[str, Any] = {"at": value.updated_at, "agent": value.updated_by, owner: _owner(item)}
        name = f"{_owner(item)}/values/{value.key}"
        return _record(kind, name, "values", value, version=value.version, **made)

    def _api_key(self, tenant: str, item: Item) -> Record:
        key = self._keys.opened(tenant, item)
        made = {"at": key.created_at, "agent": key.created_by, "version": key.version}
        return _record("api_key", key.key_id, "api_keys", key, **made)


def _record(kind: str, name: str, store: str, thing: BaseModel | dict[str, Any], **made: Any) -> Record:
    data = thing.model_dump(mode="json") if isinstance(thing, BaseModel) else thing
    return Record(kind=kind, id=name, provenance=Provenance(store=store, **made), data=data)


def _source(source: Source | str | None) -> dict[str, Any]:
    """Where a statement was taken from."""
    if isinstance(source, Source):
        return {"session": source.session_id, "seq": source.seq, "source": source.name}
    return {"source": source}


def _owner(item: Item) -> str:
    """The session, the graph, or the extraction, whose partition it is."""
    return partition_of(item["pk"]).owner
