"""What stands beside the facts: notices, what is held back, consent, the forgetting log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final, TypeVar

from slate.adapters.inprocess.facts.people import People
from slate.domain.errors import Conflict, NotFound, VersionMismatch
from slate.domain.facts.model import (
    Consent,
    Consents,
    Forgetting,
    Notice,
    Quarantined,
    QuarantineState,
    Sensitive,
)
from slate.ports.graph_store import Page

T = TypeVar("T")
TOLD_OF: Final = 50
"""Of the newest notices, so many are told to a session."""
TOLD_FOR_MS: Final = 30 * 86_400_000


class InProcessFactRecords:
    """Keeps them."""

    def __init__(self, people: People) -> None:
        self._people = people

    # ---- notices

    def notices(self, tenant: str, ref: str, position: str | None, limit: int) -> Page[Notice]:
        """The newest first."""
        with self._people.person(tenant, ref) as person:
            every = sorted(person.notices.values(), key=lambda each: (each.at, each.notice_id), reverse=True)
        return _page([(f"{each.at:015d}#{each.notice_id}", each) for each in every], position, limit)

    def undelivered(self, tenant: str, ref: str, session_id: str) -> list[Notice]:
        """Of the newest."""
        since = self._people.clock.now() - TOLD_FOR_MS
        replaced: set[str] = set()
        open_ones: list[Notice] = []
        with self._people.person(tenant, ref) as person:
            for notice in self.notices(tenant, ref, None, TOLD_OF).items:
                if notice.at < since:
                    break
                if (session_id, notice.notice_id) not in person.told and notice.fact_id not in replaced:
                    open_ones.append(notice)
                replaced.update(notice.superseded)
        return open_ones[::-1]

    def deliver(self, tenant: str, ref: str, session_id: str, notice_ids: Collection[str], by: str = "") -> set[str]:
        """Each once."""
        with self._people.person(tenant, ref) as person:
            mine = {each for each in notice_ids if person.told.get((session_id, each), by) == by}
            mine = {each for each in mine if by or (session_id, each) not in person.told}
            person.told |= {(session_id, each): by for each in mine}
        return mine

    # ---- quarantine

    def hold_back(self, tenant: str, ref: str, held: Quarantined) -> Quarantined:
        """The same statement of the same slot and value is the one that is there."""
        with self._people.person(tenant, ref) as person:
            for there in person.quarantine.values():
                if _said(there) == _said(held):
                    return there
            kept = held.model_copy(update={"quarantine_id": f"q-{self._people.ids.new()}"})
            person.quarantine[kept.quarantine_id] = kept
            return kept

    def quarantine(self, tenant: str, ref: str, position: str | None, limit: int) -> Page[Quarantined]:
        """By id."""
        with self._people.person(tenant, ref) as person:
            return _page(sorted(person.quarantine.items(), reverse=True), position, limit)

    def drop(self, tenant: str, ref: str, which: Callable[[Quarantined], bool]) -> None:
        """Those are no more."""
        with self._people.person(tenant, ref) as person:
            for quarantine_id in [each for each, held in person.quarantine.items() if which(held)]:
                del person.quarantine[quarantine_id]

    def quarantined(self, tenant: str, ref: str, quarantine_id: str) -> Quarantined:
        """One of these."""
        with self._people.person(tenant, ref) as person:
            if quarantine_id not in person.quarantine:
                raise NotFound(f"nothing is held back under {quarantine_id!r}")
            return person.quarantine[quarantine_id]

    def review(self, tenant: str, ref: str, quarantine_id: str, state: QuarantineState) -> Quarantined:
        """Once decided it stays so."""
        with self._people.person(tenant, ref) as person:
            held = self.quarantined(tenant, ref, quarantine_id)
            if held.state is state:
                return held
            if held.state is not QuarantineState.PENDING:
                raise Conflict(f"this was {held.state} before", quarantine_state=held.state.value)
            reviewed = held.model_copy(update={"state": state, "version": held.version + 1})
            person.quarantine[quarantine_id] = reviewed
            return reviewed

    # ---- consent and the log

    def consents(self, tenant: str, ref: str) -> Consents:
        """What the person consented to."""
        with self._people.person(tenant, ref) as person:
            return person.consents

    def put_consents(self, tenant: str, ref: str, given: dict[Sensitive, Consent], version: int | None) -> Consents:
        """The same again is no new version."""
        with self._people.person(tenant, ref) as person:
            before = person.consents
            if version is not None and version != before.version:
                raise VersionMismatch(before.model_dump(mode="json"))
            person.consents = before.after(given)
            return person.consents

    def note(self, tenant: str, ref: str, entry: Forgetting) -> None:
        """One that is there stays."""
        with self._people.person(tenant, ref) as person:
            person.note(entry)

    def log(self, tenant: str, ref: str, position: str | None, limit: int) -> Page[Forgetting]:
        """The newest first."""
        with self._people.person(tenant, ref) as person:
            return _page([(f"{each.at:015d}#{each.log_id}", each) for each in reversed(person.log)], position, limit)


def _said(held: Quarantined) -> tuple[object, ...]:
    return held.statement, held.attribute, held.value, set(held.readers)


def _page(newest_first: Sequence[tuple[str, T]], position: str | None, limit: int) -> Page[T]:
    found = [each for each in newest_first if position is None or each[0] < position]
    return Page([each for _, each in found[:limit]], found[limit - 1][0] if len(found) > limit else None)
