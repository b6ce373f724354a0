"""Notes of what is to be scrubbed, in the person's own partition.

::

    SCRUB    the names of what is gone, as a set; in the timer while there is one

A turn's name joins the set in the transaction that deletes the turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import groupby, takewhile
from typing import Any, Final

from slate.adapters.dynamodb.calls import ConditionFailed, Key, Write
from slate.adapters.dynamodb.changes import CONSTANTS
from slate.adapters.dynamodb.context_store import DynamoContextStore
from slate.adapters.dynamodb.keys import SCRUB, partition_of, subject_attributes, subject_pk, timer_attributes
from slate.adapters.dynamodb.storage import Storage
from slate.adapters.dynamodb.table import PK, SK, SUBJECT, SUBJECT_PK
from slate.domain.context import Context
from slate.domain.errors import NotFound, SubjectErased
from slate.ports.scrubs import Scrub

_FACT: Final = "fact "
_TURN: Final = "turn "
_ANY: Final = "attribute_exists(#pk) OR attribute_not_exists(#pk)"


def scrubbing(tenant: str, ref: str, names: Collection[str], now: int) -> Write:
    """The names join what is to be scrubbed, which is due at once, from the first receipt on."""
    key = Key(subject_pk(tenant, ref), SCRUB)
    plain = {**subject_attributes(tenant, ref), **timer_attributes(key, now, "memory")}
    values: dict[str, Any] = {**CONSTANTS, **{f":{name}": each for name, each in plain.items()}, ":more": set(names)}
    sets = ", ".join(f"#{name} = :{name}" for name in plain)
    return Write(key, _ANY, values, f"SET {sets} REMOVE #position ADD #names :more")


def turn_name(session_id: str, seq: int) -> str:
    """What a turn is called here."""
    return f"{_TURN}{session_id}/{seq}"


class DynamoScrubs:
    """Keeps them in DynamoDB."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._contexts = DynamoContextStore(storage)

    def facts_gone(self, tenant: str, ref: str, fact_ids: Collection[str]) -> None:
        """One update."""
        names = [_FACT + fact_id for fact_id in fact_ids]
        self._storage.calls.write(tenant, scrubbing(tenant, ref, names, self._storage.clock.now()))

    def read(self, tenant: str, ref: str) -> Scrub | None:
        """One read."""
        item = self._storage.calls.get(tenant, _place(tenant, ref))
        if item is None:
            return None
        names = {str(name) for name in item.get("names", ())}
        turns = [name.removeprefix(_TURN).rpartition("/") for name in names if name.startswith(_TURN)]
        facts = frozenset(name.removeprefix(_FACT) for name in names if name.startswith(_FACT))
        return Scrub(frozenset((session, int(seq)) for session, _, seq in turns), facts, item.get("position", ""))

    def receipts(self, tenant: str, ref: str, after: str) -> Iterator[Context]:
        """The index's keys, and a query for each receipt; one whose time is over goes here, and not when TTL comes."""
        about = str(subject_attributes(tenant, ref)[SUBJECT_PK])
        found = self._storage.calls.walk_index(SUBJECT, (SUBJECT_PK, about), (PK, ">", f"{tenant}#C#{after}"))
        parts = takewhile(lambda item: str(item[PK]).startswith(f"{tenant}#C#"), found)
        for pk, items in groupby(parts, key=lambda item: str(item[PK])):
            keys = [Key(item[PK], item[SK]) for item in items]
            with suppress(SubjectErased):
                try:
                    yield self._contexts.get(tenant, partition_of(pk).owner)
                except NotFound:
                    self._storage.calls.delete_many(tenant, keys)

    def redact(self, tenant: str, context: Context) -> None:
        """As ``DynamoContextStore``."""
        self._contexts.replace(tenant, context)

    def go_on(self, tenant: str, ref: str, seen: Scrub, position: str) -> None:
        """One update, unless more came."""
        now = self._storage.clock.now()
        key = _place(tenant, ref)
        timer = timer_attributes(key, now, "memory")
        values = {**CONSTANTS, ":seen": _names(seen), ":position": position, **{f":{n}": v for n, v in timer.items()}}
        sets = ", ".join(f"#{name} = :{name}" for name in ("position", *timer))
        self._quietly(tenant, Write(key, "#names = :seen", values, f"SET {sets}"))

    def done(self, tenant: str, ref: str, seen: Scrub) -> None:
        """One delete, unless more came."""
        values = {**CONSTANTS, ":seen": _names(seen)}
        self._quietly(tenant, Write(_place(tenant, ref), "#names = :seen", values, delete=True))

    def _quietly(self, tenant: str, write: Write) -> None:
        with suppress(ConditionFailed):  # more is gone since: all of it is looked through once more
            self._storage.calls.write(tenant, write)


def _names(seen: Scrub) -> set[str]:
    return {*(_FACT + fact_id for fact_id in seen.facts), *(turn_name(*turn) for turn in seen.turns)}


def _place(tenant: str, ref: str) -> Key:
    return Key(subject_pk(tenant, ref), SCRUB)
