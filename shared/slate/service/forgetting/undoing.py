"""The forgetting log: what went, by which rule and numbers; and the way back, for one act or for many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from slate.contract.facts import ForgettingPage
from slate.contract.forgetting import MAX_UNDONE, RestoredMany, RestoreMany, Undone
from slate.domain.access import Principal
from slate.domain.errors import Conflict, Invalid, NotFound
from slate.domain.facts.model import FactState, Forgetting
from slate.domain.forgetting.fading import BY_ITSELF, IMPORTANCE, RETENTION
from slate.ports.clock import Clock
from slate.ports.fact_records import FactRecords
from slate.ports.keyring import Keyring
from slate.service.facts.reaching import reached
from slate.service.facts.remembering import Facts
from slate.service.paging import Cursors

NOTHING_TO_UNDO: Final = "there is no such act on it that can be undone: none is in the log, or its time is over"
BY_TIME_ALONE: Final = BY_ITSELF | {RETENTION, IMPORTANCE}
"""Rules by which nobody put a fact away."""
_AT_ONCE: Final = 200


class LogFilter:
    """Which entries of the log are meant. Steps of importance are no forgetting: they are told when asked for."""

    def __init__(
        self,
        *,
        rule: str | None = None,
        reason: str | None = None,
        fact_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> None:
        self._rule = rule
        self._reason = None if reason is None else reason.casefold()
        self._fact_id = fact_id
        self._since = since
        self._until = until
        self.named = f"{rule}|{reason}|{fact_id}|{since}|{until}"

    def means(self, entry: Forgetting) -> bool:
        """Whether this one is."""
        if entry.rule != self._rule if self._rule is not None else entry.rule == IMPORTANCE:
            return False
        if self._reason is not None and self._reason not in entry.reason.casefold():
            return False
        if self._fact_id is not None and entry.fact_id != self._fact_id:
            return False
        return not self.before(entry) and (self._until is None or entry.at <= self._until)

    def before(self, entry: Forgetting) -> bool:
        """Whether it is older than all that are meant; so is what follows it."""
        return self._since is not None and entry.at < self._since


class Undoing:
    """Shows the log, and undoes what it tells of."""

    def __init__(self, records: FactRecords, facts: Facts, keyring: Keyring, cursors: Cursors, clock: Clock) -> None:
        self._records = records
        self._facts = facts
        self._keyring = keyring
        self._cursors = cursors
        self._clock = clock

    def log(
        self, principal: Principal, subject: str, wanted: LogFilter, limit: int, cursor: str | None
    ) -> ForgettingPage:
        """Those entries that are meant and that this caller may read, the newest first."""
        tenant, ref = principal.tenant, reached(self._keyring, principal, subject)
        of = f"forgetting log {ref} {wanted.named}"
        position = self._cursors.position(tenant, of, cursor)
        found: list[Forgetting] = []
        # As many at a time as are still missing: so the position after a page is that of the answer.
        while len(found) < limit:
            page = self._records.log(tenant, ref, position, limit - len(found))
            found += [entry for entry in page.items if principal.may_read(entry.readers) and wanted.means(entry)]
            position = page.position
            if position is None or any(wanted.before(entry) for entry in page.items[-1:]):
                position = None
                break
        return ForgettingPage(items=tuple(found), next_cursor=self._cursors.next(tenant, of, position))

    def restore(self, principal: Principal, subject: str, body: RestoreMany) -> RestoredMany:
        """Undo every act that is meant and can be undone; one that cannot says why, and keeps no other from it.

        Raises:
            Invalid: nothing is named.
        """
        ref = reached(self._keyring, principal, subject)
        if body.fact_ids is None and body.rule is None and body.since is None and body.until is None:
            raise Invalid.field("rule", "name a `rule`, `fact_ids`, or a time by `since` and `until`")
        ids = list(dict.fromkeys(self._undoable(principal, ref, body)))
        done = [self._undone(principal, subject, each) for each in ids[:MAX_UNDONE]]
        others = [each for each in dict.fromkeys(body.fact_ids or ()) if each not in set(ids)]
        left = (Undone(fact_id=each, restored=False, reason=NOTHING_TO_UNDO) for each in others)
        return RestoredMany(items=(*done, *left), more=len(ids) > MAX_UNDONE)

    def _undoable(self, principal: Principal, ref: str, body: RestoreMany) -> Iterator[str]:
        """The newest act first. What somebody put away since is not brought back by undoing what was done before."""
        wanted = LogFilter(rule=body.rule, since=body.since, until=body.until)
        named, now, position = body.fact_ids, self._clock.now(), None
        since: set[str] = set()
        while True:
            page = self._records.log(principal.tenant, ref, position, _AT_ONCE)
            for entry in page.items:
                if entry.fact_id is None or not principal.may_read(entry.readers) or entry.restored_at is not None:
                    continue
                if wanted.means(entry):
                    is_named = named is None or entry.fact_id in named
                    if is_named and entry.fact_id not in since and entry.restorable_until >= now:
                        yield entry.fact_id
                elif entry.rule not in BY_TIME_ALONE:
                    since.add(entry.fact_id)
            position = page.position
            if position is None or any(wanted.before(entry) for entry in page.items[-1:]):
                return

    def _undone(self, principal: Principal, subject: str, fact_id: str) -> Undone:
        try:
            fact = self._facts.restore(principal, subject, fact_id)
        except (Conflict, NotFound) as error:
            return Undone(fact_id=fact_id, restored=False, reason=error.detail)
        back = fact.state is FactState.ACTIVE
        reason = None if back else "something newer was said of its slot: it is history"
        return Undone(fact_id=fact_id, restored=back, reason=reason)
