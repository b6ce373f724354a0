"""The few endpoints of OpenSearch that Slate uses, over HTTP, with what matters of their behaviour.

External versions, tombstones, strict mapping, aliases, filters inside the knn clause, and failures on demand: a status
for whole requests, or for single items of a bulk.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Index:
    body: dict[str, Any]
    docs: dict[str, dict[str, Any]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    routes: dict[str, str] = field(default_factory=dict)
    seq_nos: dict[str, int] = field(default_factory=dict)
    """The last operation on each."""
    retained: int | None = None
    """The first operation that a copy may still want; None: none."""


@dataclass
class Stub:
    indices: dict[str, Index] = field(default_factory=dict)
    aliases: dict[str, set[str]] = field(default_factory=dict)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    refuse: list[int] = field(default_factory=list)
    """Statuses of the next requests."""
    refuse_items: list[int] = field(default_factory=list)
    """Statuses of the next items of bulks."""
    shards_failed: int = 0
    meanwhile: list[Callable[[], None]] = field(default_factory=list)
    """What happens between a look at entries and the next request."""
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Merges under way, and those that ended."""
    url: str = ""

    def answer(self, method: str, path: str, body: str) -> tuple[int, Any]:
        self.requests.append((method, path, body))
        if self.refuse:
            return self.refuse.pop(0), {"error": {"type": "busy"}}
        name, _, rest = path.partition("/")
        fixed = {
            ("POST", "_bulk"): self._bulk,
            ("POST", "_msearch"): self._msearch,
            ("POST", "_mget"): self._mget,
            ("GET", "_tasks"): lambda _: self._task(rest),
            ("GET", "_alias"): lambda _: self._alias(rest),
            ("POST", "_aliases"): self._aliases,
        }
        of_an_index = {
            "PUT": lambda text: self._make(name, text),
            "DELETE": lambda _: self._unmake(name),
            "POST": lambda text: self._one_index(name, rest, text),
            "GET": lambda _: self._one_index(name, rest, ""),
        }
        return (fixed.get((method, name)) or of_an_index[method])(body)

    def _alias(self, alias: str) -> tuple[int, Any]:
        found = self.aliases.get(alias, set())
        return (200, {each: {"aliases": {alias: {}}} for each in found}) if found else (404, {"error": "missing"})

    def _aliases(self, body: str) -> tuple[int, Any]:
        for action in json.loads(body)["actions"]:
            ((verb, what),) = action.items()
            if verb == "remove_index":
                self._unmake(what["index"])
                continue
            names = self.aliases.setdefault(what["alias"], set())
            (names.add if verb == "add" else names.discard)(what["index"])
        return 200, {"acknowledged": True}

    def _make(self, name: str, body: str) -> tuple[int, Any]:
        self.indices[name] = Index(json.loads(body))
        return 200, {"acknowledged": True}

    def _unmake(self, name: str) -> tuple[int, Any]:
        del self.indices[name]
        for names in self.aliases.values():
            names.discard(name)
        return 200, {"acknowledged": True}

    def _msearch(self, body: str) -> tuple[int, Any]:
        lines = [json.loads(line) for line in body.splitlines()]
        pairs = zip(lines[::2], lines[1::2], strict=True)
        return 200, {"responses": [self._search(head["index"], head["routing"], query) for head, query in pairs]}

    def _mget(self, body: str) -> tuple[int, Any]:
        docs = [self._got(asked["_index"], asked["_id"]) for asked in json.loads(body)["docs"]]
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return 200, {"docs": docs}

    def _got(self, name: str, doc_id: str) -> dict[str, Any]:
        index = self.indices[name]
        if doc_id not in index.docs:
            return {"_index": name, "_id": doc_id, "found": False}
        return {"_index": name, "_id": doc_id, "found": True, "_seq_no": index.seq_nos[doc_id], "_primary_term": 1}

    def _task(self, task: str) -> tuple[int, Any]:
        return (200, self.tasks[task]) if task in self.tasks else (404, {"error": {"type": "missing"}})

    def _one_index(self, name: str, rest: str, body: str) -> tuple[int, Any]:
        if not self.aliases.get(name):
            return 404, {"error": {"type": "index_not_found_exception"}}
        shards = {"_shards": {"failed": self.shards_failed}}
        match rest.partition("?")[0]:
            case "_search":
                return 200, self._search(name, rest.partition("routing=")[2], json.loads(body))
            case "_count":
                answer = self._count(name, rest.partition("routing=")[2], json.loads(body)["query"])
                return 200, shards | {"count": answer}
            case "_stats/docs":
                return 200, shards | {"indices": {each: self._shards(each) for each in self.aliases[name]}}
            case "_forcemerge":
                self.tasks[f"node:{len(self.tasks)}"] = {"completed": True, "response": shards}
                return 200, {"task": f"node:{len(self.tasks) - 1}"}
            case "_refresh" | "_flush":
                return 200, shards
        raise AssertionError(f"the stub knows nothing of {rest}")

    def _count(self, name: str, routing: str, query: dict[str, Any]) -> int:
        indices = [self.indices[each] for each in self.aliases[name]]
        return sum(
            index.routes[doc_id] == routing and _fits(doc, doc_id, query)
            for index in indices
            for doc_id, doc in index.docs.items()
        )

    def _shards(self, name: str) -> dict[str, Any]:
        index = self.indices[name]
        reached = max(index.seq_nos.values(), default=-1)
        lease = {"retaining_seq_no": reached + 1 if index.retained is None else index.retained}
        return {"shards": {"0": [{"seq_no": {"max_seq_no": reached}, "retention_leases": {"leases": [lease]}}]}}

    # ---- writing

    def _bulk(self, body: str) -> tuple[int, Any]:
        results: list[dict[str, Any]] = []
        left = iter([json.loads(line) for line in body.splitlines()])
        for action in left:
            ((verb, head),) = action.items()
            document = next(left) if verb == "index" else None
            status = self.refuse_items.pop(0) if self.refuse_items else self._apply(head, document)
            results.append({verb: {"_id": head["_id"], "status": status, "error": {"type": "refused"}}})
        return 200, {"errors": any(next(iter(r.values()))["status"] >= 400 for r in results), "items": results}

    def _apply(self, head: dict[str, Any], document: dict[str, Any] | None) -> int:
        index, doc_id = self.indices[head["_index"]], head["_id"]
        there = index.versions.get(doc_id)
        next_seq_no = max(index.seq_nos.values(), default=-1) + 1
        if document is None:
            if doc_id not in index.docs or head["if_seq_no"] != index.seq_nos[doc_id]:
                return 409
            index.versions[doc_id], index.seq_nos[doc_id] = (there or 0) + 1, next_seq_no
            del index.docs[doc_id]
            return 200
        if set(document) - set(index.body["mappings"]["properties"]):
            return 400
        dimension = index.body["mappings"]["properties"]["vector"]["dimension"]
        if "vector" in document and len(document["vector"]) != dimension:
            return 400
        if there is not None and head["version"] < there:
            return 409
        index.docs[doc_id], index.seq_nos[doc_id] = document, next_seq_no
        index.versions[doc_id], index.routes[doc_id] = head["version"], head["routing"]
        return 200

    # ---- searching

    def _search(self, name: str, routing: str, body: dict[str, Any]) -> dict[str, Any]:
        (real,) = self.aliases.get(name, {name})
        index = self.indices[real]
        docs = {i: d for i, d in index.docs.items() if index.routes[i] == routing}
        scores = self._scores(docs, body["query"])
        ordered = sorted(scores, key=lambda i: (-scores[i], i))
        if "sort" in body:
            ordered = sorted(scores, key=lambda i: docs[i]["id"])
            after = body.get("search_after", [""])[0]
            ordered = [i for i in ordered if docs[i]["id"] > after]
        hidden = index.body["mappings"]["_source"]["excludes"]
        hits = [
            {
                "_id": i,
                "_score": scores[i],
                "_source": {k: docs[i][k] for k in body.get("_source", docs[i]) if k not in hidden},
                "sort": [docs[i]["id"]],
            }
            for i in ordered[: body["size"]]
        ]
        answer: dict[str, Any] = {
            "timed_out": False,
            "_shards": {"failed": self.shards_failed},
            "hits": {"total": {"value": len(scores)}, "hits": hits},
        }
        if "aggs" in body:
            filters = body["aggs"]["names"]["filters"]["filters"]
            buckets = {key: {"doc_count": sum(_fits(docs[i], i, f) for i in scores)} for key, f in filters.items()}
            answer["aggregations"] = {"names": {"buckets": buckets}}
        return answer

    def _scores(self, docs: dict[str, dict[str, Any]], query: dict[str, Any]) -> dict[str, float]:
        if "knn" in query:
            clause = query["knn"]["vector"]
            near = {i: d for i, d in docs.items() if "vector" in d and _fits(d, i, clause["filter"])}
            dots = {i: sum(a * b for a, b in zip(d["vector"], clause["vector"], strict=True)) for i, d in near.items()}
            best = sorted(dots, key=lambda i: -dots[i])[: clause["k"]]
            return {i: 1 + dots[i] if dots[i] >= 0 else 1 / (1 - dots[i]) for i in best}
        fitting = {i: d for i, d in docs.items() if _fits(d, i, {"bool": {"filter": query["bool"]["filter"]}})}
        words = [part["match"]["terms"]["query"].split() for part in query["bool"].get("must", ())]
        if not words:
            return dict.fromkeys(fitting, 0.0)
        return {i: score for i, score in _bm25(docs, words[0]).items() if i in fitting}


def _fits(doc: dict[str, Any], doc_id: str, condition: dict[str, Any]) -> bool:
    ((kind, what),) = condition.items()
    if kind == "bool":
        every = all(_fits(doc, doc_id, each) for each in what.get("filter", ()))
        return every and ("should" not in what or any(_fits(doc, doc_id, each) for each in what["should"]))
    if kind == "ids":
        return doc_id in what["values"]
    ((name, wanted),) = what.items()
    values = doc[name] if isinstance(doc[name], list) else [doc[name]]
    return bool(set(values) & set(wanted if kind == "terms" else [wanted]))


def _bm25(docs: dict[str, dict[str, Any]], words: list[str]) -> dict[str, float]:
    counts = {i: Counter(d["terms"].split()) for i, d in docs.items()}
    mean = sum(c.total() for c in counts.values()) / max(len(counts), 1)
    found: dict[str, float] = {}
    for word in dict.fromkeys(words):
        having = [i for i, c in counts.items() if c[word]]
        weight = log(1 + (len(docs) - len(having) + 0.5) / (len(having) + 0.5))
        for i in having:
            times = counts[i][word]
            norm = 1.2 * (0.25 + 0.75 * counts[i].total() / mean)
            found[i] = found.get(i, 0.0) + weight * times * 2.2 / (times + norm)
    return found


@contextmanager
def served() -> Iterator[Stub]:
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            url = urlsplit(self.path)
            path = url.path.lstrip("/") + (f"?{url.query}" if url.query else "")
            body = self.rfile.read(length).decode()
            status, answer = stub.answer(self.command, path, body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815  # http.server's names

        def log_message(self, *args: Any) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
