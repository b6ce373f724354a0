"""The audit in DynamoDB: an item an entry, numbered within its chain; the roots of days in the ledger's table.

::

    <t>#A#<day>#<chain>   ENTRY#<number>   the entry's text, its hash, the hash before
    <t>#N#audit           DAY#<day>        there are entries of it; in the timer until its root is made
    <t>#A#roots           ROOT#<day>       in the ledger's table

Appending is a put under the next number, if nothing is there: so a number is given once, and nothing is ever put over.
Whoever loses a number learns from what is there how to go on, and moves to another chain when it loses again.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from itertools import islice
from threading import Lock
from typing import Any, Final, NamedTuple

from slate.adapters.dynamodb.audited_writes import AuditedItems
from slate.adapters.dynamodb.calls import Calls, ConditionFailed, Item, Key, TransactionRefused
from slate.adapters.dynamodb.changes import put, removal
from slate.adapters.dynamodb.keys import (
    AUDIT_DAY,
    AUDIT_ENTRY,
    AUDIT_ROOT,
    audit_attributes,
    audit_day_key,
    audit_pk,
    audit_root_key,
    prefix,
    timer_attributes,
)
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import PK, SK, SUBJECT, SUBJECT_PK
from slate.domain.audit.chain import SHARDS, START, Link, Root, linked, rooted
from slate.domain.audit.entries import Entry
from slate.domain.errors import WITHHELD, Unavailable
from slate.ports.audit import About, Period

CLOSES_MS: Final = 3_600_000
"""A day is closed so long after its end: nothing that began in it is still appended."""
_TIPS: Final = 4_096
"""Chains whose end a process remembers."""
_TRIES: Final = 40
_TOGETHER: Final = 50
_SEPARATOR: Final = "\n"
_FIRST: Final = (0, START)


class _Chain(NamedTuple):
    """One of a day's."""

    tenant: str
    day: str
    shard: int


class DynamoAuditStore:
    """Keeps the audit in DynamoDB."""

    def __init__(self, storage: Storage, ledger: Calls, rng: random.Random) -> None:
        self._storage = storage
        self._ledger = ledger
        self._rng = rng
        self._items = AuditedItems(storage)
        self._shard = rng.randrange(SHARDS)
        self._tips: OrderedDict[_Chain, tuple[int, str]] = OrderedDict()
        self._lock = Lock()

    # ---- appending

    def append(self, tenant: str, entries: Sequence[Entry]) -> None:
        """One put; a transaction of puts for each fifty where there are several."""
        for start in range(0, len(entries), _TOGETHER):
            self._append(tenant, entries[start : start + _TOGETHER])

    def _append(self, tenant: str, entries: Sequence[Entry]) -> None:
        day = day_of(entries[0].at)
        for attempt in range(_TRIES):
            chain = _Chain(tenant, day, self._shard)
            links = _links(chain, self._tip(chain), entries)
            there = self._put(tenant, links, entries)
            if there is None:
                self._remember(chain, (links[-1].number, links[-1].hash))
                return
            if attempt % 2 == 0 and there:
                self._remember(chain, (_number(there), str(there["hash"])))  # perhaps the last by now
                continue
            self._forget(chain)
            self._shard = self._rng.randrange(SHARDS)
            self._storage.calls.pause(min(attempt, 4))
        raise Unavailable("the audit is busy, and nothing goes on without its entry; repeat the call")

    def _put(self, tenant: str, links: Sequence[Link], entries: Sequence[Entry]) -> Item | None:
        """Nothing, once they are there; otherwise the item that has the number of the first."""
        if links[0].number == 1:
            self._open(tenant, links[0].day)
        items = [_item(tenant, link, entry) for link, entry in zip(links, entries, strict=True)]
        try:
            self._storage.calls.together(tenant, [put(item) for item in items])
        except TransactionRefused as refused:
            there = refused.failed.get(0)
        else:
            return None
        # This very put, whose reply was lost, needs no other.
        return None if there is not None and there["hash"] == items[0]["hash"] else there or {}

    def _open(self, tenant: str, day: str) -> None:
        """Note that the day is to be closed, before its first entry is there."""
        key = audit_day_key(tenant, day)
        due = _begin_of(day) + 86_400_000 + CLOSES_MS
        with suppress(ConditionFailed):
            self._storage.calls.write(tenant, put({**key.attributes, **timer_attributes(key, due, "memory")}))

    def _tip(self, chain: _Chain) -> tuple[int, str]:
        """The number and the hash of a chain's last, as this process remembers it; else a query."""
        with self._lock:
            known = self._tips.get(chain)
        return known or self._read_tip(chain)

    def _read_tip(self, chain: _Chain) -> tuple[int, str]:
        items = self._storage.calls.query(
            chain.tenant, audit_pk(*chain), between=prefix(AUDIT_ENTRY), at_once=1, backward=True
        )
        return next(((_number(item), str(item["hash"])) for item in islice(items, 1)), _FIRST)

    def _remember(self, chain: _Chain, tip: tuple[int, str]) -> None:
        with self._lock:
            if tip[0] > self._tips.get(chain, _FIRST)[0]:
                self._tips[chain] = tip
                self._tips.move_to_end(chain)
            while len(self._tips) > _TIPS:
                self._tips.popitem(last=False)

    def _forget(self, chain: _Chain) -> None:
        with self._lock:
            self._tips.pop(chain, None)

    # ---- what changed

    def told(self, tenant: str, changes: Sequence[Any]) -> list[About]:
        """Opens what was put, as an export would."""
        return self._items.told(tenant, changes)

    def digest(self, tenant: str, ref: str | None, said: Any) -> str | None:
        """16 bytes of an HMAC, in hexadecimal."""
        with suppress(*WITHHELD):
            return self._storage.codec.digest(tenant, ref, said).hex()
        return None

    # ---- reading

    def about(self, tenant: str, ref: str, period: Period, after: str | None) -> Iterator[tuple[str, Link]]:
        """Keys from the index, a chain at a time, and batches of reads."""
        indexed = str(audit_attributes(tenant, ref)[SUBJECT_PK])
        begun = None if after is None else Key(*after.split(_SEPARATOR))
        last = f"{tenant}#A#{day_of(period.start)}" if begun is None else begun.pk
        comparison = ">" if begun is None else ">="
        end = f"{tenant}#A#{day_of(period.end)}#~"
        chain: list[Key] = []
        for item in self._storage.calls.walk_index(SUBJECT, (SUBJECT_PK, indexed), (PK, comparison, last)):
            key = Key(item[PK], item[SK])
            if key.pk > end:
                break
            if chain and chain[-1].pk != key.pk:
                yield from self._read(tenant, chain)
                chain = []
            if begun is None or key > begun:
                chain.append(key)
        yield from self._read(tenant, chain)

    def _read(self, tenant: str, chain: list[Key]) -> Iterator[tuple[str, Link]]:
        found = self._storage.calls.get_many(tenant, chain)
        return ((_SEPARATOR.join(key), _link(found[key])) for key in sorted(found))

    def within(self, tenant: str, period: Period, after: str | None) -> Iterator[tuple[str, Link]]:
        """A query for each chain that has entries, as the day's root tells; for each there may be, before that."""
        begun = None if after is None else Key(*after.split(_SEPARATOR))
        for day, shards in self._days(tenant, day_of(period.start), day_of(period.end)):
            for shard in shards:
                pk = audit_pk(tenant, day, shard)
                if begun is not None and pk < begun.pk:
                    continue
                low, high = prefix(AUDIT_ENTRY)
                start = low if begun is None or pk > begun.pk else begun.sk + " "
                for item in self._storage.calls.query(tenant, pk, between=(start, high)):
                    yield _SEPARATOR.join((pk, item[SK])), _link(item)

    def _days(self, tenant: str, first: str, last: str) -> Iterator[tuple[str, Sequence[int]]]:
        """The days that have entries, and which chains may have; of a single day every chain is looked at."""
        if first == last:
            yield first, range(SHARDS)
            return
        between = audit_root_key(tenant, first), audit_root_key(tenant, last)
        bound = self._ledger.query(tenant, between[0].pk, between=(between[0].sk, between[1].sk))
        known: dict[str, Sequence[int]] = {root.day: sorted(root.heads) for root in map(_root, bound)}
        open_ones = audit_day_key(tenant, first), audit_day_key(tenant, last)
        for item in self._storage.calls.query(tenant, open_ones[0].pk, between=(open_ones[0].sk, open_ones[1].sk)):
            known[str(item[SK]).removeprefix(AUDIT_DAY)] = range(SHARDS)
        yield from sorted(known.items())

    # ---- roots

    def close(self, tenant: str, day: str) -> Root | None:
        """The end of each chain is read, the root put once, and the day leaves the timer."""
        heads = {shard: self._read_tip(_Chain(tenant, day, shard)) for shard in range(SHARDS)}
        made = self.root(tenant, day)
        if made is None and (there := {shard: tip for shard, tip in heads.items() if tip[0]}):
            made = rooted(tenant, day, there, self._before(tenant, day))
            item = {**audit_root_key(tenant, day).attributes, "root": made.model_dump_json()}
            try:
                self._ledger.write(tenant, put(item))
            except ConditionFailed:
                made = self.root(tenant, day)
        gone = removal(audit_day_key(tenant, day))
        with suppress(ConditionFailed):
            self._storage.calls.write(tenant, gone)
        return made

    def root(self, tenant: str, day: str) -> Root | None:
        """One read of the ledger."""
        item = self._ledger.get(tenant, audit_root_key(tenant, day))
        return None if item is None else _root(item)

    def _before(self, tenant: str, day: str) -> Root | None:
        key = audit_root_key(tenant, day)
        found = self._ledger.query(tenant, key.pk, between=(AUDIT_ROOT, key.sk), at_once=2, backward=True)
        return next((_root(item) for item in islice(found, 2) if item[SK] < key.sk), None)


def day_of(at: int) -> str:
    """The day of an instant, in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def _begin_of(day: str) -> int:
    return round(datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC).timestamp() * 1000)


def _links(chain: _Chain, tip: tuple[int, str], entries: Sequence[Entry]) -> list[Link]:
    links: list[Link] = []
    for entry in entries:
        links.append(linked(*chain, tip, entry.text))
        tip = (links[-1].number, links[-1].hash)
    return links


def _item(tenant: str, link: Link, entry: Entry) -> Item:
    key = Key(audit_pk(tenant, link.day, link.shard), f"{AUDIT_ENTRY}{link.number:09d}")
    return {
        **key.attributes,
        **audit_attributes(tenant, entry.ref),
        "text": link.text,
        "hash": link.hash,
        "previous": link.previous,
    }


def _link(item: Item) -> Link:
    _, _, day, shard = str(item[PK]).split("#")
    return Link(
        day=day,
        shard=int(shard),
        number=_number(item),
        previous=item["previous"],
        hash=item["hash"],
        text=item["text"],
    )


def _root(item: Item) -> Root:
    return Root.model_validate_json(item["root"])


def _number(item: Item) -> int:
    return int(str(item[SK]).removeprefix(AUDIT_ENTRY))
