"""Which places an index holds anything of: a check starts from them, so that nothing is left where all else is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from slate.adapters.opensearch.aliases import DEPLOYED, Aliases
from slate.adapters.opensearch.transport import Transport
from slate.domain.indexed import Kind, Place

_PAGE: Final = 1_000
_PARTS: Final = ("tenant", "kind", "scope")


def places(transport: Transport, tenant: str | None = None, aliases: Aliases = DEPLOYED) -> Iterator[Place]:
    """Each once, a page after the other; of one tenant where it is given.

    Raises:
        Unavailable: the index does not answer.
    """
    after: dict[str, str] | None = None
    while True:
        by: dict[str, Any] = {"size": _PAGE, "sources": [{part: {"terms": {"field": part}}} for part in _PARTS]}
        if after is not None:
            by["after"] = after
        body: dict[str, Any] = {"size": 0, "aggs": {"places": {"composite": by}}}
        if tenant is not None:
            body["query"] = {"bool": {"filter": [{"term": {"tenant": tenant}}]}}
        answer = transport.ask("POST", f"{aliases.searched}/_search", body)
        if answer is None:
            return
        found = answer["aggregations"]["places"]
        for bucket in found["buckets"]:
            key = bucket["key"]
            yield Place(key["tenant"], Kind(key["kind"]), key["scope"])
        after = found.get("after_key")
        if after is None:
            return
