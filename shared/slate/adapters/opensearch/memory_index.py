"""The index in OpenSearch. An id says tenant, kind and item; the tenant is the route, and a filter of every search.

Entries are written at their own version (external, greater or equal), so that a late write of an older one is refused.
Both legs of a search are asked for together; then each leg is asked for what only the other found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from slate.adapters.opensearch.aliases import DEPLOYED, Aliases
from slate.adapters.opensearch.expunging import Expunging
from slate.adapters.opensearch.mapping import SHOWN, likeness_of
from slate.adapters.opensearch.transport import TRIES, Transport
from slate.domain.errors import Internal, Unavailable
from slate.domain.indexed import PERSONAL, Entry, Kind
from slate.ports.memory_index import Hit, Listed, Mark, Name, Probe

NAME_SHARE: Final = 0.1
SEPARATOR: Final = "#"
_BUSY: Final = frozenset({429, 500, 502, 503, 504})
_NEWER: Final = 409
_MISSING: Final = 404
_WRONG: Final = 400
_PAGE: Final = 1_000

_Action = tuple[dict[str, Any], dict[str, Any] | None]
"""What a bulk is to do, and the document it takes for it."""


class OpenSearchMemoryIndex:
    """Keeps entries in OpenSearch."""

    def __init__(self, transport: Transport, aliases: Aliases = DEPLOYED, *, native: bool = True) -> None:
        self._transport = transport
        self._aliases = aliases
        self._native = native
        self._expunging = Expunging(transport, aliases.kept)

    # ---- writing

    def put(self, tenant: str, entries: Sequence[Entry]) -> None:
        """One bulk request for each index that is kept."""
        kept = self._kept()
        if not kept:
            raise Unavailable("the index is not there (yet); it is made by `slate reindex`")
        for index in kept:
            actions = [(_index_action(index, tenant, entry), _document(tenant, entry)) for entry in entries]
            self._bulk(actions)

    def remove(self, tenant: str, gone: Sequence[Name]) -> None:
        """Each as it is there, and only where it is; what is written in between is looked at again.

        A delete of nothing is no less an operation, and each one makes the tombstone newer, until what is made anew
        is older than it.
        """
        for index in self._kept() if gone else ():
            for attempt in range(TRIES):
                if self._bulk(self._deletes(index, tenant, gone)):
                    break
                self._transport.pause(attempt)
            else:
                raise Unavailable("entries change while they are removed; repeat the call")

    def _deletes(self, index: str, tenant: str, gone: Sequence[Name]) -> list[_Action]:
        docs = [{"_index": index, "_id": _id(tenant, name), "routing": tenant, "_source": False} for name in gone]
        answer = self._transport.ask("POST", "_mget", {"docs": docs}) or {"docs": []}
        if any("error" in found for found in answer["docs"]):
            raise Unavailable("a part of the index did not answer; repeat the call")
        return [(_delete_action(tenant, found), None) for found in answer["docs"] if found["found"]]

    def _kept(self) -> list[str]:
        return sorted(self._transport.ask("GET", f"_alias/{self._aliases.kept}") or {})

    def _bulk(self, actions: Sequence[_Action]) -> bool:
        """Send actions; those that met a busy shard are sent again, and only those. False: some met what is newer."""
        left, newer = list(actions), False
        for attempt in range(TRIES):
            if not left:
                return not newer
            lines = [line for action in left for line in action if line is not None]
            answer = self._transport.ask_lines("_bulk", lines)
            results = [next(iter(item.values())) for item in answer["items"]]
            newer = newer or any(result["status"] == _NEWER for result in results)
            left = [action for action, result in zip(left, results, strict=True) if _again(result)]
            if left:
                self._transport.pause(attempt)
        if left:
            raise Unavailable(f"the index did not take {len(left)} of {len(actions)} entries; repeat the call")
        return not newer

    # ---- searching

    def seek(self, tenant: str, probe: Probe) -> list[Hit]:
        """Two requests at most, of two searches each."""
        where = _filter(tenant, probe)
        words = {"match": {"terms": {"query": " ".join(probe.terms)}}} if probe.terms else None
        lexical, vectors = self._legs(tenant, probe, words, where, where)
        only_vector = [each for each in vectors if each not in lexical]
        only_words = [each for each in lexical if each not in vectors]
        if (words and only_vector) or (any(probe.vector) and only_words):
            more_words, more_vectors = self._legs(
                tenant,
                probe,
                words,
                [*where, _ids(tenant, probe, only_vector)],
                [*where, _ids(tenant, probe, only_words)],
            )
            lexical |= {each: more_words[each] for each in only_vector if each in more_words}
            vectors |= {each: more_vectors[each] for each in only_words if each in more_vectors}
        return [self._hit(each, lexical.get(each), vectors.get(each)) for each in sorted({*lexical, *vectors})]

    def _legs(
        self,
        tenant: str,
        probe: Probe,
        words: dict[str, Any] | None,
        by_words: list[dict[str, Any]],
        by_vector: list[dict[str, Any]],
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        searches: list[dict[str, Any]] = []
        if words is not None:
            searches.append({"bool": {"must": [words], "filter": by_words}})
        if any(probe.vector):
            near = [*by_vector, {"term": {"embedder": probe.embedder}}]
            clause = {"vector": list(probe.vector), "k": probe.limit, "filter": {"bool": {"filter": near}}}
            searches.append({"knn": {"vector": clause}})
        if not searches:
            return {}, {}
        lines: list[dict[str, Any]] = []
        for query in searches:
            lines += [
                {"index": self._aliases.searched, "routing": tenant},
                {"size": probe.limit, "_source": list(SHOWN), "query": query, "track_total_hits": False},
            ]
        answers = [self._hits(answer) for answer in self._transport.ask_lines("_msearch", lines)["responses"]]
        found = iter(answers)
        lexical = next(found) if words is not None else {}
        return lexical, next(found, {})

    @staticmethod
    def _hits(answer: Mapping[str, Any]) -> dict[str, Any]:
        """The hits of one search, by the entry's id.

        Raises:
            Unavailable: a shard did not answer: part of the truth is none.
        """
        if "error" in answer:
            if answer.get("status") in _BUSY:
                raise Unavailable("the index is busy; repeat the call")
            raise Internal(f"the index refused a search: {answer.get('status')}")
        if answer.get("timed_out") or answer.get("_shards", {}).get("failed"):
            raise Unavailable("a part of the index did not answer; repeat the call")
        return {hit["_source"]["id"]: hit for hit in answer["hits"]["hits"]}

    def _hit(self, entry_id: str, by_words: Mapping[str, Any] | None, by_vector: Mapping[str, Any] | None) -> Hit:
        source = (by_words or by_vector or {})["_source"]
        return Hit(
            id=entry_id,
            scope=source["scope"],
            group=source["group"],
            version=source["entry_version"],
            at=source["at"],
            lexical=0.0 if by_words is None else float(by_words["_score"]),
            likeness=0.0 if by_vector is None else likeness_of(float(by_vector["_score"]), native=self._native),
            speaker=source["speaker"],
            words=source["words"],
            question=source["question"],
            timed=source["timed"],
            readers=tuple(source["readers"]),
        )

    def names(self, tenant: str, kind: Kind, scopes: Collection[str], words: Iterable[str]) -> frozenset[str]:
        """One search that gives no hits: how many there are, and in how many each word stands as a name."""
        asked = list(dict.fromkeys(words))
        if not asked:
            return frozenset()
        where = [{"term": {"tenant": tenant}}, {"term": {"kind": kind.value}}, {"terms": {"scope": list(scopes)}}]
        filters = {f"w{place}": {"term": {"names": word}} for place, word in enumerate(asked)}
        body = {
            "size": 0,
            "track_total_hits": True,
            "query": {"bool": {"filter": where}},
            "aggs": {"names": {"filters": {"filters": filters}}},
        }
        answer = self._transport.ask("POST", f"{self._aliases.searched}/_search?routing={tenant}", body)
        if answer is None:
            raise Unavailable("the index is not there (yet); it is made by `slate reindex`")
        total, buckets = answer["hits"]["total"]["value"], answer["aggregations"]["names"]["buckets"]
        return frozenset(
            word for place, word in enumerate(asked) if buckets[f"w{place}"]["doc_count"] > NAME_SHARE * total
        )

    def listed(self, tenant: str, kind: Kind, scope: str) -> Iterator[Listed]:
        """A page after the other, by id."""
        where = [{"term": {"tenant": tenant}}, {"term": {"kind": kind.value}}, {"term": {"scope": scope}}]
        after: list[Any] | None = None
        while True:
            body: dict[str, Any] = {
                "size": _PAGE,
                "_source": ["id", "entry_version", "embedder"],
                "query": {"bool": {"filter": where}},
                "sort": [{"id": "asc"}],
                **({} if after is None else {"search_after": after}),
            }
            answer = self._transport.ask("POST", f"{self._aliases.searched}/_search?routing={tenant}", body)
            hits = [] if answer is None else answer["hits"]["hits"]
            for hit in hits:
                source = hit["_source"]
                yield Listed(Name(kind, source["id"]), source["entry_version"], source["embedder"])
            if len(hits) < _PAGE:
                return
            after = hits[-1]["sort"]

    # ---- erasing

    def count(self, tenant: str, scope: str, kinds: Collection[Kind] = PERSONAL) -> int:
        """A refresh, so that nothing is on its way, then a count."""
        where = [{"term": {"tenant": tenant}}, {"terms": {"kind": sorted(kinds)}}, {"term": {"scope": scope}}]
        self._transport.ask_all("POST", f"{self._aliases.kept}/_refresh")
        body = {"query": {"bool": {"filter": where}}}
        answer = self._transport.ask_all("POST", f"{self._aliases.kept}/_count?routing={tenant}", body)
        return 0 if answer is None else int(answer["count"])

    def expunge(self, since: Mark | None = None) -> Mark | None:
        """Waits for the copies' retention leases, then flushes, merges and refreshes, a step a call."""
        return self._expunging.go_on(since)


def _id(tenant: str, name: Name) -> str:
    return SEPARATOR.join((tenant, name.kind.value, name.id))


def _index_action(index: str, tenant: str, entry: Entry) -> dict[str, Any]:
    return {
        "index": {
            "_index": index,
            "_id": _id(tenant, Name(entry.kind, entry.id)),
            "routing": tenant,
            "version": entry.version,
            "version_type": "external_gte",
        }
    }


def _delete_action(tenant: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was found, and of nothing that was written since."""
    seen = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
    return {"delete": {"_index": found["_index"], "_id": found["_id"], "routing": tenant, **seen}}


def _document(tenant: str, entry: Entry) -> dict[str, Any]:
    return {
        "tenant": tenant,
        "kind": entry.kind.value,
        "id": entry.id,
        "scope": entry.scope,
        "group": entry.group,
        "entry_version": entry.version,
        "embedder": entry.embedder,
        "at": entry.at,
        "terms": " ".join(entry.terms),
        "names": sorted(entry.names),
        "speaker": entry.speaker,
        "words": entry.words,
        "question": entry.question,
        "timed": entry.timed,
        "readers": list(entry.readers),
        "open": not entry.readers,
        **({"vector": list(entry.vector)} if any(entry.vector) else {}),
    }


def _filter(tenant: str, probe: Probe) -> list[dict[str, Any]]:
    where: list[dict[str, Any]] = [{"term": {"tenant": tenant}}, {"term": {"kind": probe.kind.value}}]
    if probe.scopes is not None:
        where.append({"terms": {"scope": list(probe.scopes)}})
    if probe.groups is not None:
        where.append({"terms": {"group": list(probe.groups)}})
    if probe.readers is not None:
        mine = [{"term": {"open": True}}, {"terms": {"readers": sorted(probe.readers)}}]
        where.append({"bool": {"should": mine, "minimum_should_match": 1}})
    return where


def _ids(tenant: str, probe: Probe, entry_ids: Sequence[str]) -> dict[str, Any]:
    return {"ids": {"values": [_id(tenant, Name(probe.kind, each)) for each in entry_ids]}}


def _again(result: Mapping[str, Any]) -> bool:
    """Whether an action is to be sent again; what met something newer, or an index that is gone, is not.

    Raises:
        Internal: it will never be taken.
    """
    status = int(result["status"])
    if status in _BUSY:
        return True
    if status >= _WRONG and status not in (_NEWER, _MISSING):
        raise Internal(f"the index refused an entry: {status} {result.get('error', {}).get('type', '')}".strip())
    return False
