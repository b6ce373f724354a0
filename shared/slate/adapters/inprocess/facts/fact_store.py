"""Facts: each step takes a slot and the facts that hang on it, and leaves both as the rules say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from slate.adapters.inprocess.facts.people import People, Person
from slate.domain.errors import VersionMismatch
from slate.domain.facts import changing, deciding
from slate.domain.facts.changing import with_history
from slate.domain.facts.model import Decision, Fact, FactState
from slate.domain.facts.notices import notice_of, outdated
from slate.domain.facts.slots import Slot
from slate.domain.facts.standing import history
from slate.domain.facts.timeline import Timeline, blanked, fold
from slate.domain.forgetting.acts import Act
from slate.domain.forgetting.fading import is_over
from slate.ports.fact_store import ConsentMoved, Shelf, Stated
from slate.ports.graph_store import Page

Change = Callable[[Timeline, Fact, deciding.Fetch], changing.Changed]


class InProcessFactStore:
    """Keeps facts."""

    def __init__(self, people: People) -> None:
        self._people = people

    # ---- statements

    def state(self, tenant: str, ref: str, stated: Stated, act: Act) -> Decision:
        """The decision, and all of what follows from it."""
        with self._people.person(tenant, ref) as person:
            fresh = self._people.new_id()
            fact = stated.fact.model_copy(update={"fact_id": fresh})
            said = stated.said._replace(fact_id=fresh)
            timeline = person.timeline(stated.slot)
            plan = deciding.state(timeline, fact, said, person.known, self._people.new_id, act.at)
            if plan.writes and stated.consents is not None and person.consents.version != stated.consents:
                raise ConsentMoved
            if plan.writes and plan.shelves and plan.fact is not None:
                self._people.log(person, act, plan.fact)
            decision = self._decided(person, stated.slot, plan)
            if decision.reason == deciding.AGAIN and decision.fact_id is not None:
                person.note_restored(decision.fact_id, act.at)
            return decision

    def withdraw(self, tenant: str, ref: str, stated: Stated) -> Decision:
        """As ``state``."""
        with self._people.person(tenant, ref) as person:
            said, now = stated.said._replace(fact_id=self._people.new_id()), self._people.clock.now()
            timeline = person.timeline(stated.slot)
            plan = deciding.withdraw(timeline, said, person.known, self._people.new_id, now)
            return self._decided(person, stated.slot, plan)

    def _decided(self, person: Person, slot: Slot, plan: deciding.Plan) -> Decision:
        if not plan.writes:
            return plan.decision
        person.timelines[slot] = plan.timeline
        self._people.write(person, plan.changed, slot)
        if plan.replaced:
            notice = notice_of(plan.fact, plan.replaced, self._people.ids.new(), self._people.clock.now())
            person.notices[notice.notice_id] = notice
        return plan.decision

    # ---- reads

    def active(self, tenant: str, ref: str) -> list[Fact]:
        """Of what lives."""
        with self._people.person(tenant, ref) as person:
            return [fact for fact in person.living.values() if fact.state is FactState.ACTIVE]

    def page(
        self, tenant: str, ref: str, shelves: Sequence[Shelf], position: str | None, limit: int
    ) -> Page[tuple[str, Fact]]:
        """Shelf after shelf, each by id."""
        with self._people.person(tenant, ref) as person:
            kept = {Shelf.LIVING: person.living, Shelf.PAST: person.past}
            every = sorted((f"{shelf}#{each}", fact) for shelf in shelves for each, fact in kept[shelf].items())
        found = [each for each in every if position is None or each[0] > position]
        return Page(found[:limit], found[limit - 1][0] if len(found) > limit else None)

    def get(self, tenant: str, ref: str, fact_id: str) -> Fact:
        """Wherever it stands."""
        with self._people.person(tenant, ref) as person:
            return person.one(fact_id)

    def history(self, tenant: str, ref: str, fact_id: str) -> list[Fact]:
        """Of its slot."""
        with self._people.person(tenant, ref) as person:
            person.one(fact_id)
            timeline = person.timeline(person.slots[fact_id])
            return history(person.known(list(dict.fromkeys([*fold(timeline), fact_id]))).values(), fact_id)

    # ---- what is done to a fact

    def _on(
        self,
        tenant: str,
        ref: str,
        fact_id: str,
        change: Change,
        *,
        act: Act | None = None,
        consents: int | None = None,
        version: int | None = None,
    ) -> Fact:
        with self._people.person(tenant, ref) as person:
            fact = _at(person.one(fact_id), version)
            slot = person.slots[fact_id]
            changed = change(person.timeline(slot), fact, person.known)
            if not changed.changed:
                return fact
            if consents is not None and person.consents.version != consents:
                raise ConsentMoved
            person.timelines[slot] = changed.timeline
            self._people.write(person, changed.changed, slot)
            if act is not None:
                self._people.log(person, act, fact)
            return person.one(fact_id)

    def forget(self, tenant: str, ref: str, fact_id: str, act: Act, *, said: bool, version: int | None = None) -> Fact:
        """With its entry in the log, and without the notices about it."""

        def gone(timeline: Timeline, fact: Fact, fetch: deciding.Fetch) -> changing.Changed:
            if fact.state is FactState.FORGOTTEN:
                return changing.Changed(timeline, ())
            return changing.forget(timeline, fact, fetch, act.at, act.restorable_until, said=said)

        fact = self._on(tenant, ref, fact_id, gone, act=act, version=version)
        self._drop_notices(tenant, ref, fact_id)
        return fact

    def _drop_notices(self, tenant: str, ref: str, fact_id: str) -> None:
        with self._people.person(tenant, ref) as person:
            for notice in list(person.notices.values()):
                if fact_id in (notice.fact_id, *notice.superseded):
                    del person.notices[notice.notice_id]

    def forget_many(self, tenant: str, ref: str, fact_ids: Sequence[str], act: Act, *, said: bool) -> int:
        """One after the other."""
        for fact_id in fact_ids:
            self.forget(tenant, ref, fact_id, act, said=said)
        return len(fact_ids)

    def restore(self, tenant: str, ref: str, fact_id: str, at: int, *, consents: int | None = None) -> Fact:
        """And the log says so."""

        def back(timeline: Timeline, fact: Fact, fetch: deciding.Fetch) -> changing.Changed:
            return changing.restore(timeline, fact, fetch, self._people.new_id)

        fact = self._on(tenant, ref, fact_id, back, consents=consents)
        with self._people.person(tenant, ref) as person:
            person.note_restored(fact_id, at)
        return fact

    def keep(self, tenant: str, ref: str, fact_id: str, act: Act) -> Fact:
        """As ``forget``."""

        def limbo(timeline: Timeline, fact: Fact, fetch: deciding.Fetch) -> changing.Changed:
            if fact.state is FactState.LIMBO and fact.keep_maybe:
                return changing.Changed(timeline, ())
            return changing.keep_maybe(timeline, fact, fetch, self._people.new_id)

        return self._on(tenant, ref, fact_id, limbo, act=act)

    def confirm(self, tenant: str, ref: str, fact_id: str, at: int, at_least: float = 0.0) -> Fact:
        """As ``state``."""

        def holds(timeline: Timeline, fact: Fact, fetch: deciding.Fetch) -> changing.Changed:
            return changing.confirm(timeline, fact, fetch, self._people.new_id, at, at_least)

        return self._on(tenant, ref, fact_id, holds)

    def edit(self, tenant: str, ref: str, edited: Fact, slot: Slot, version: int | None) -> Fact:
        """In the slot that it leaves, and in the one that it comes to; without notices that are out of date by that."""
        with self._people.person(tenant, ref) as person:
            fact = _at(person.one(edited.fact_id), version or edited.version)
            left = person.slots[edited.fact_id]
            there = None if slot == left else person.timeline(slot)
            old = person.timeline(left)
            moved = changing.edit(old, there, fact, edited, person.known, self._people.new_id)
            person.timelines[left] = moved.old
            arrives = {edited.fact_id, *(each.fact_id for each in moved.new)} if there is not None else set[str]()
            if there is not None:
                person.timelines[slot] = moved.new
            self._people.write(person, [each for each in moved.changed if each.fact_id not in arrives], left)
            self._people.write(person, [each for each in moved.changed if each.fact_id in arrives], slot)
            done = person.one(edited.fact_id)
            if outdated(fact, done):
                self._drop_notices(tenant, ref, edited.fact_id)
            return done

    def purge(self, tenant: str, ref: str, fact_id: str) -> None:
        """The slot forgets its words too."""
        with self._people.person(tenant, ref) as person:
            fact = person.fact(fact_id)
            if fact is None or not is_over(fact, self._people.clock.now()):
                return
            slot = person.slots[fact_id]
            here = person.known([each for each, of in person.slots.items() if of == slot])
            gone = with_history(here.values(), fact_id)
            left = reduce(blanked, gone, person.timeline(slot))
            if left:
                person.timelines[slot] = left
            else:
                person.timelines.pop(slot, None)
            for each in gone:
                self._people.remove(person, each)


def _at(fact: Fact, version: int | None) -> Fact:
    if version is not None and fact.version != version:
        raise VersionMismatch(fact.model_dump(mode="json"))
    return fact
