"""Takes batches of the table's stream: each session, person and document is indexed by itself, and fails by itself.

Whatever fails is given back, from the first failed record on; what comes again with it is indexed once more.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from slate.adapters.dynamodb.index_records import Changed, read_change
from slate.domain.fences import Intent
from slate.domain.indexed import Kind
from slate.ports.keyring import Operate
from slate.service.search.indexing import Indexing

BatchAnswer = dict[str, list[dict[str, str]]]

_log = logging.getLogger(__name__)


class _Place(NamedTuple):
    tenant: str
    kind: Kind
    owner: str | None


class IndexConsumer:
    """The function: an event of the stream in, the failed records' numbers out."""

    def __init__(self, indexing: Indexing | None, operate: Operate) -> None:
        """Without an index there is nothing to keep: the records are let go."""
        self._indexing = indexing
        self._operate = operate

    def __call__(self, event: Mapping[str, Any], _: object) -> BatchAnswer:
        """Index a batch; answer where it is to be taken up again."""
        records: Sequence[Mapping[str, Any]] = event["Records"]
        changes: defaultdict[_Place, list[Changed]] = defaultdict(list)
        first: dict[_Place, int] = {}
        for i, raw in enumerate(records):
            change = read_change(raw)
            if change is not None:
                place = _Place(change.tenant, change.kind, change.id if change.kind is Kind.CHUNK else change.owner)
                changes[place].append(change)
                first.setdefault(place, i)
        failed = sorted(first[place] for place, some in changes.items() if not self._index(place, some))
        return {"batchItemFailures": [{"itemIdentifier": _number_of(records[i])} for i in failed]}

    def _index(self, place: _Place, changes: Sequence[Changed]) -> bool:
        try:
            with self._operate(Intent.WRITE, place.tenant):
                self._do(place, changes)
        except Exception as error:  # noqa: BLE001  # one memory must not keep the others from being indexed
            # Its kind alone: a message may quote what a caller said.
            _log.error("a memory could not be indexed: %s", type(error).__name__, extra={"place": tuple(place)})
            return False
        return True

    def _do(self, place: _Place, changes: Sequence[Changed]) -> None:
        indexing, tenant = self._indexing, place.tenant
        if indexing is None:
            return
        ids = list(dict.fromkeys(change.id for change in changes))
        if place.kind is Kind.TURN and place.owner is not None:
            indexing.turns(tenant, place.owner, [int(each) for each in ids])
        elif place.kind is Kind.FACT and place.owner is not None:
            indexing.facts(tenant, place.owner, ids)
        elif place.kind is Kind.EPISODE:
            indexing.episodes(tenant, place.owner, ids)
        else:
            for change in changes:
                indexing.document(tenant, change.id, change.before)


def _number_of(raw: Mapping[str, Any]) -> str:
    # Without a number the whole batch is given back: that is what AWS makes of an empty identifier.
    return str(raw.get("dynamodb", {}).get("SequenceNumber", ""))
