"""Takes batches of the table's stream: each graph's changes are numbered together, and each graph fails by itself.

A record that nobody can read is reported at once and leaves a gap, so that it never holds up the shard. Whatever
fails otherwise is given back, from the first failed record on; what comes again with it was numbered, and changes
nothing.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from slate.adapters.dynamodb.feed_records import Record, Unreadable, read_record
from slate.domain.events import Step
from slate.domain.fences import Intent
from slate.ports.feed_store import Feeding
from slate.ports.keyring import Operate
from slate.ports.queue import Queue

BatchAnswer = dict[str, list[dict[str, str]]]
_REASON: Final = "unreadable"

_log = logging.getLogger(__name__)


class _Place(NamedTuple):
    tenant: str
    graph_id: str


class FeedConsumer:
    """The function: an event of the stream in, the failed records' numbers out."""

    def __init__(self, feeds: Feeding, failures: Queue, operate: Operate) -> None:
        self._feeds = feeds
        self._failures = failures
        self._operate = operate

    def __call__(self, event: Mapping[str, Any], _: object) -> BatchAnswer:
        """Number a batch; answer where it is to be taken up again."""
        steps: defaultdict[_Place, list[Step]] = defaultdict(list)
        first: dict[_Place, int] = {}
        failed: list[int] = []
        records: Sequence[Mapping[str, Any]] = event["Records"]
        for i, raw in enumerate(records):
            try:
                record = self._read(raw)
            except Exception as error:  # noqa: BLE001  # it could not even be reported: it comes again
                _log.error("a record could not be reported: %s", type(error).__name__)  # may quote it
                failed.append(i)
                continue
            if record is not None:
                place = _Place(record.tenant, record.graph_id)
                steps[place].append(record.step)
                first.setdefault(place, i)
        failed += [first[place] for place, some in steps.items() if not self._number(place, some)]
        return {"batchItemFailures": [{"itemIdentifier": _number_of(records[i])} for i in sorted(failed)]}

    def _read(self, raw: Mapping[str, Any]) -> Record | None:
        try:
            return read_record(raw)
        except Unreadable as unreadable:
            gap = unreadable.gap
            _log.error("a record of the stream cannot be read", extra={"sequence_number": _number_of(raw)})
            self._failures.send({"reason": _REASON, "sequence_number": _number_of(raw), **_where(raw)})
            return gap

    def _number(self, place: _Place, steps: Sequence[Step]) -> bool:
        try:
            with self._operate(Intent.WRITE, place.tenant):
                self._feeds.number(place.tenant, place.graph_id, steps)
        except Exception as error:  # noqa: BLE001  # one graph must not keep the others from being numbered
            # Its kind alone: a message may quote what a caller said.
            kind = type(error).__name__
            _log.error("a graph's changes could not be numbered: %s", kind, extra={"graph": tuple(place)})
            return False
        return True


def _number_of(raw: Mapping[str, Any]) -> str:
    # Without a number the whole batch is given back: that is what AWS makes of an empty identifier.
    return str(raw.get("dynamodb", {}).get("SequenceNumber", ""))


def _where(raw: Mapping[str, Any]) -> dict[str, str]:
    """The keys of the record's item, which hold ids alone, and the stream it came from."""
    keys = raw.get("dynamodb", {}).get("Keys", {})
    named = {name: str(keys[name].get("S", "")) for name in ("pk", "sk") if isinstance(keys.get(name), Mapping)}
    return {**named, "stream": str(raw.get("eventSourceARN", ""))}
