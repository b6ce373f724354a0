"""What is known about people as items, in the subject's own partition.

::

    SLOT#<digest>            a slot: what was said of it, in the order in which it was observed; sealed
    FACT#<fact>              a fact that lives: active, or in limbo
    PAST#<fact>              a fact that is past: superseded, or forgotten
    WAS#<fact>#<version>     what a fact said before it was edited
    NOTICE#<at>#<id>         what the person is to be told
    TOLD#<session>#<id>      that a session was told a notice
    QUARANTINE#<digest>      what is not taken for true until somebody has looked at it
    FORGOT#<at>#<id>         an entry of the forgetting log
    CONSENT                  what the person consented to

In clear stand states, categories, versions and instants; slots and held-back statements are named by digests under
the subject's key. The id of a fact begins with the instant of its making, so that facts sort by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from slate.adapters.dynamodb.calls import Item, Key
from slate.adapters.dynamodb.keys import (
    LIVING_FACT,
    PAST_FACT,
    ref_of,
    subject_attributes,
    subject_pk,
    timer_attributes,
)
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import WITHHELD, NotFound
from slate.domain.facts.model import Consents, Fact, FactState, Forgetting, Notice, Quarantined
from slate.domain.facts.slots import Slot
from slate.domain.facts.timeline import Observation, Timeline

FACT: Final = LIVING_FACT
PAST: Final = PAST_FACT
SLOT: Final = "SLOT#"
NOTICE: Final = "NOTICE#"
TOLD: Final = "TOLD#"
QUARANTINE: Final = "QUARANTINE#"
FORGOT: Final = "FORGOT#"
SAID: Final = "said"
_LIVES: Final = frozenset({FactState.ACTIVE, FactState.LIMBO})
_PLAIN: Final = ("fact_id", "state", "category", "version", "created_at", "updated_at")
_USE: Final = ("woken_at", "wakes")
"""What waking a fact writes: it stands in clear, so that it is one small update, and is no new version."""


def fact_key(tenant: str, ref: str, fact_id: str, state: FactState) -> Key:
    """Where a fact in this state stands."""
    return Key(subject_pk(tenant, ref), (FACT if state in _LIVES else PAST) + fact_id)


def both_places(tenant: str, ref: str, fact_id: str) -> tuple[Key, Key]:
    """Where a fact may stand."""
    pk = subject_pk(tenant, ref)
    return Key(pk, FACT + fact_id), Key(pk, PAST + fact_id)


def consent_key(tenant: str, ref: str) -> Key:
    """What the person consented to."""
    return Key(subject_pk(tenant, ref), "CONSENT")


def log_key(tenant: str, ref: str, at: int, log_id: str) -> Key:
    """An entry of the forgetting log."""
    return Key(subject_pk(tenant, ref), f"{FORGOT}{at:015d}#{log_id}")


def notice_key(tenant: str, ref: str, at: int, notice_id: str) -> Key:
    """A notice."""
    return Key(subject_pk(tenant, ref), f"{NOTICE}{at:015d}#{notice_id}")


def told_key(tenant: str, ref: str, session_id: str, notice_id: str) -> Key:
    """That a session was told."""
    return Key(subject_pk(tenant, ref), f"{TOLD}{session_id}#{notice_id}")


def quarantine_key(tenant: str, ref: str, quarantine_id: str) -> Key:
    """What is held back."""
    return Key(subject_pk(tenant, ref), QUARANTINE + quarantine_id)


class FactItems:
    """Seals what is known into items and opens them."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def slot_key(self, tenant: str, ref: str, slot: Slot) -> Key:
        """Where a slot stands: its name is content, and so is a digest here."""
        digest = self._storage.codec.digest(tenant, ref, ["slot", slot.name, list(slot.readers)])
        return Key(subject_pk(tenant, ref), SLOT + digest.hex())

    def quarantine_id(self, tenant: str, ref: str, held: Quarantined) -> str:
        """The same for the same statement of the same slot and value."""
        said = [held.statement, held.attribute, held.value, sorted(held.readers)]
        digest = self._storage.codec.digest(tenant, ref, ["quarantine", *said])
        return f"q-{digest.hex()}"

    # ---- slots

    def slot_item(
        self, tenant: str, ref: str, key: Key, timeline: Timeline, version: int, by: str, left: list[str]
    ) -> Item:
        """A slot at a version; ``left`` are facts that are in its timeline no more."""
        said = [list(each) for each in timeline]
        return self.sealed(tenant, ref, key, said, version=version, by=by, left=left or None)

    def timeline(self, tenant: str, item: Item | None) -> Timeline:
        """What was said of a slot."""
        if item is None:
            return ()
        return tuple(Observation(*each) for each in self.opened(tenant, item))

    # ---- facts

    def fact_item(self, tenant: str, ref: str, fact: Fact, slot: str, due: int | None) -> Item:
        """A fact; ``slot`` is the sort key of its slot, ``due`` when it is to be looked at by time alone."""
        key = fact_key(tenant, ref, fact.fact_id, fact.state)
        plain = {name: getattr(fact, name) for name in (*_PLAIN, *_USE) if name != "fact_id"}
        said = fact.model_dump(mode="json", exclude={*_PLAIN, *_USE})
        timed = {} if due is None else timer_attributes(key, due, "memory")
        return self.sealed(tenant, ref, key, said, **plain, slot=slot, **timed)

    def fact(self, tenant: str, item: Item) -> Fact:
        """A fact again."""
        said = self.opened(tenant, item)
        plain = {name: item[name] for name in _PLAIN if name != "fact_id"}
        use = {name: item[name] for name in _USE if name in item}
        return Fact.model_validate({**said, **plain, **use, "fact_id": str(item["sk"]).partition("#")[2]})

    def facts(self, tenant: str, items: Iterable[Item]) -> list[Fact]:
        """Facts, but for those whose key is gone."""
        found: list[Fact] = []
        for item in items:
            with suppress(*WITHHELD):
                found.append(self.fact(tenant, item))
        return found

    # ---- what stands beside

    def notice_item(self, tenant: str, ref: str, notice: Notice) -> Item:
        """A notice."""
        key = notice_key(tenant, ref, notice.at, notice.notice_id)
        said = notice.model_dump(mode="json", exclude={"notice_id", "at", "version"})
        about = sorted({notice.fact_id, *notice.superseded})
        return self.sealed(tenant, ref, key, said, at=notice.at, version=notice.version, about=about)

    def notice(self, tenant: str, item: Item) -> Notice:
        """A notice again."""
        plain = {"at": item["at"], "version": item["version"]}
        return Notice.model_validate({**self.opened(tenant, item), **plain, "notice_id": _last(item)})

    def log_item(self, tenant: str, ref: str, entry: Forgetting) -> Item:
        """An entry of the log."""
        key = log_key(tenant, ref, entry.at, entry.log_id)
        said = entry.model_dump(mode="json", exclude={"log_id", "at", "version"})
        return self.sealed(tenant, ref, key, said, at=entry.at, version=entry.version, fact=entry.fact_id)

    def log_entry(self, tenant: str, item: Item) -> Forgetting:
        """An entry again."""
        plain = {"at": item["at"], "version": item["version"]}
        return Forgetting.model_validate({**self.opened(tenant, item), **plain, "log_id": _last(item)})

    def held_item(self, tenant: str, ref: str, held: Quarantined) -> Item:
        """What is held back."""
        key = quarantine_key(tenant, ref, held.quarantine_id)
        plain = {"state": held.state.value, "at": held.at, "version": held.version}
        said = held.model_dump(mode="json", exclude={"quarantine_id", "state", "at", "version"})
        return self.sealed(tenant, ref, key, said, **plain)

    def held(self, tenant: str, item: Item) -> Quarantined:
        """What is held back again."""
        plain = {name: item[name] for name in ("state", "at", "version")}
        return Quarantined.model_validate({**self.opened(tenant, item), **plain, "quarantine_id": _last(item)})

    def consents_item(self, tenant: str, ref: str, consents: Consents) -> Item:
        """What the person consented to."""
        said = consents.model_dump(mode="json", exclude={"version"})
        return self.sealed(tenant, ref, consent_key(tenant, ref), said, version=consents.version)

    def consents(self, tenant: str, item: Item | None) -> Consents:
        """What the person consented to, again."""
        if item is None:
            return Consents()
        return Consents.model_validate({**self.opened(tenant, item), "version": item["version"]})

    # ---- sealing

    def sealed(self, tenant: str, ref: str, key: Key, value: Any, **plain: Any) -> Item:
        """An item with one sealed value."""
        sealed = self._storage.codec.seal(tenant, ref, key, SAID, value)
        clear = {name: each for name, each in plain.items() if each is not None}
        return {**key.attributes, **subject_attributes(tenant, ref), **clear, SAID: sealed}

    def opened(self, tenant: str, item: Item) -> Any:
        """That value again."""
        return self._storage.codec.open(tenant, ref_of(item), Key(item["pk"], item["sk"]), SAID, item[SAID])


def _last(item: Item) -> str:
    return str(item["sk"]).rpartition("#")[2]


def unknown_fact(fact_id: str) -> NotFound:
    """There is no such fact."""
    return NotFound(f"there is no fact {fact_id!r} of this subject")
